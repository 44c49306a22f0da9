"""Put style, script and data into one HTML file that opens from disk without a network.

Sheet(html=page_html, styles=[...], scripts=[...], title="Trip 17", data={...}).write(path)

All data goes through one JSON block whose `<` are escaped, so no name in it can become markup.
"""

import html
import json
from collections.abc import Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from pipeline.replacing import replace_text


class Sheet(NamedTuple):
    """A page and what goes into it.

    Attributes:
        html: Template with $title, $style, $data and $script.
        styles: CSS files; later ones have the last word.
        scripts: JavaScript files, in the order they run.
        title: Plain text.
        data: Plain JSON values; the page reads them as `document.getElementById("data")`.
    """

    html: Traversable
    styles: Sequence[Traversable]
    scripts: Sequence[Traversable]
    title: str
    data: dict[str, Any]

    def text(self) -> str:
        """Return the page: the same data give the same text."""
        data = json.dumps(self.data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        page = Template(self.html.read_text("utf-8")).substitute(
            title=html.escape(self.title),
            style=_joined(self.styles),
            script=_joined(self.scripts),
            data=data.replace("<", "\\u003c"),
        )
        # Half of a surrogate pair, which JSON allows, has no form in UTF-8.
        return page.encode("utf-8", "replace").decode("utf-8")

    def write(self, path: Path) -> None:
        """Write the page; its folder is made, a file of that name is replaced.

        Raises:
            SourceError: A folder lies there, or a file where its folder should be.
        """
        replace_text(path, self.text())


def _joined(parts: Sequence[Traversable]) -> str:
    return "\n".join(part.read_text("utf-8") for part in parts)
