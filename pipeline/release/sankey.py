"""Draw what became of a city's trips as a stream that loses what each stage refuses.

data/<city>/plots/outcome.svg   raw trips flow in at the left, released trips out at the right; the
                                width of the stream is their number, reasons stand below

The file is complete in itself: no script, no font, no network.
"""

from typing import Any
from xml.sax.saxutils import escape

LEFT, COLUMN, TOP, STREAM, FALL = 96, 128, 78, 110, 46
LINE, _BEND = 15, 14
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.n{font-weight:600}.s{fill:#555;font-size:11px}"
    "path.k{fill:#3b6ea5}path.l{fill:#c8553d}path.g{fill:#7da7cf}rect.b{fill:#fff}"
)


def sankey(figures: dict[str, Any], *, title: str) -> str:
    """Return an SVG of a city's losses.

    Args:
        figures: Record of `loss_metrics`.
        title: Line above the drawing.
    """
    flow = figures["flow"]
    arrived = figures["raw_trips"]["arrived"]
    most = max(1, arrived, *(step["arrived"] + step["gained"] for step in flow.values()))
    deepest = max((len(step["reasons"]) for step in flow.values()), default=0)
    width = LEFT + COLUMN * len(flow) + LEFT + 24
    height = TOP + STREAM + FALL + LINE * (deepest + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<rect class="b" width="{width}" height="{height}"/>',
        _words(8, 22, title, "n"),
        _words(8, TOP + 14, f"{arrived:,}", "n"),
        _words(8, TOP + 30, "raw trips"),
        _band(64, LEFT, STREAM * arrived / most, "k"),
    ]
    for number, (stage, step) in enumerate(flow.items()):
        parts += _stage(LEFT + COLUMN * number, stage, step, STREAM / most)
    end = LEFT + COLUMN * len(flow)
    parts += [
        _words(end + 8, TOP + 14, f"{figures['released']['trips']:,}", "n"),
        _words(end + 8, TOP + 30, "released trips"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _stage(x: int, stage: str, step: dict[str, Any], scale: float) -> list[str]:
    """Draw one stage: its name, what it gains and refuses, and what flows on."""
    whole = (step["arrived"] + step["gained"]) * scale
    passed, refused = step["passed"] * scale, step["rejected"] * scale
    parts = [
        _words(x, TOP - 24, stage, "n"),
        _band(x, x + COLUMN, passed, "k"),
    ]
    if step["gained"]:
        parts.append(_words(x, TOP - 9, f"+ {step['gained']:,} came apart", "s"))
        parts.append(_band(x, x + 8, whole, "g"))
    if step["rejected"]:
        parts.append(_fall(x, passed, max(refused, 1.0)))
        below = TOP + STREAM + FALL
        parts.append(_words(x, below + LINE, f"- {step['rejected']:,}", "n"))
        parts += [
            _words(x, below + LINE * (row + 2), f"{count:,} {reason}", "s")
            for row, (reason, count) in enumerate(step["reasons"].items())
        ]
    return parts


def _band(left: float, right: float, thick: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{left} {TOP}H{right}v{thick:.2f}H{left}z"/>'


def _fall(x: float, start: float, thick: float) -> str:
    """Draw what is refused: it leaves the lower edge of the stream and falls."""
    upper, foot = TOP + start, TOP + STREAM + FALL
    right, inner = x + thick + _BEND, x + _BEND
    turned = upper + thick + _BEND
    return (
        f'<path class="l" d="M{x} {upper:.2f}Q{right:.2f} {upper:.2f} {right:.2f} {turned:.2f}'
        f"V{foot}H{inner:.2f}V{turned:.2f}"
        f'Q{inner:.2f} {upper + thick:.2f} {x} {upper + thick:.2f}z"/>'
    )


def _words(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'
