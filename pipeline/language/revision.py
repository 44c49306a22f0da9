"""The prompts and parameters of a git revision, as files; and what changed between two texts.

with files_at(root, "HEAD~3") as before:
    AnnotationPrompt(before / "prompts", shots=2)
changed_lines(old, new)  ->  "@@ -3 +3 @@ ..."
"""

import difflib
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import SourceError

# What decides a prompt and stands in git.
_PATHS = ("prompts", "params.yaml", "configs")
_LONGEST_LINE = 240


@contextmanager
def files_at(root: Path, revision: str) -> Iterator[Path]:
    """Write prompts, params.yaml and configs of a revision to a folder that lives in the block.

    What the revision has not is not in the folder.

    Raises:
        SourceError: There is no git repository, or no such revision.
    """
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        raise SourceError(
            f"--against {revision}: expected a revision of the git repository at {root}, found"
            " none; name one that `git log` shows"
        )
    name = commit.decode().strip()
    with tempfile.TemporaryDirectory(prefix="revision-") as folder:
        listed = _git(root, "ls-tree", "-r", "-z", "--name-only", name, "--", *_PATHS) or b""
        for path in filter(None, listed.decode().split("\0")):
            content = _git(root, "show", f"{name}:./{path}")
            if content is not None:
                target = Path(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        yield Path(folder)


def _git(root: Path, *arguments: str) -> bytes | None:
    """Return what git prints; None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def changed_lines(old: str, new: str, *, most: int) -> str:
    """Return the difference of two texts as `diff -u` without context shows it.

    Args:
        old: A text.
        new: Another.
        most: Most lines; what is left out is counted.
    """
    lines = list(difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0))[2:]
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..." for line in lines]
    left_out = [f"... {len(lines) - most} more lines"] if len(lines) > most else []
    return "\n".join([*shown[:most], *left_out])
