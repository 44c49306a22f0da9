"""Pictures of a map and of a crowd on it, as PNG.

    draw_map(crowd_map)                              obstacles, walkable ground, anchors
    draw_walk(crowd_map, positions, present)         the same, faint, with everybody's path on it
    with_legend(image, signs_of(crowd_map))          either, with scale bar and legend below it

Map pictures use flat colours (PALETTE): `image_maps` can read them back, without the legend.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.maps import AnchorKind, CrowdMap, ObstacleKind

if TYPE_CHECKING:
    from PIL import Image

Colour = tuple[int, int, int]
Ground = Literal["walkable", "unreachable"]
PALETTE: dict[ObstacleKind | Ground, Colour] = {
    "walkable": (247, 244, 238),
    "unreachable": (226, 222, 214),
    "building": (150, 146, 141),
    "water": (148, 190, 219),
    "barrier": (92, 84, 74),
    "rail": (196, 176, 190),
    "closed": (193, 206, 169),
    "roadway": (222, 198, 160),
}
_ANCHORS: dict[AnchorKind, Colour] = {
    "exit": (208, 62, 48),
    "entrance": (40, 110, 180),
    "stop": (126, 70, 160),
    "centre": (30, 140, 80),
}
_INK: Colour = (40, 38, 36)
_PX_PER_M = 4
_LABEL_PX, _DOT_PX = 15, 6
_PAPER: Colour = (255, 255, 255)
_PANEL_PX, _PANEL_LETTERS, _PANEL_LETTER_PX, _MARGIN_PX = 620, 72, 17, 18
_SIGN_PX, _SIGN_GAP_PX, _ROW_PX = 14, 18, 24  # of the legend
_GROUND_WORDS: dict[ObstacleKind | Ground, str] = {
    "walkable": "walkable ground",
    "unreachable": "out of reach",
    "closed": "closed ground",
    "roadway": "carriageway with traffic",
}
_FINER = 2  # drawn so many times larger, then made smaller: soft edges
# From the beginning of a path to its end.
_EARLY, _LATE = np.array([250.0, 190.0, 60.0]), np.array([110.0, 20.0, 120.0])


def draw_map(crowd_map: CrowdMap) -> "Image.Image":
    """Return the picture of a map: exits red, entrances blue, stops purple, centres green."""
    sheet = _Sheet(crowd_map)
    sheet.ground()
    for anchor in crowd_map.record.anchors:
        sheet.dot(anchor.x_m, anchor.y_m, _ANCHORS[anchor.kind], _DOT_PX)
    image = sheet.finished()
    _label(image, sheet, crowd_map)
    return image


def draw_walk(
    crowd_map: CrowdMap, positions: Floats, present: Bools, *, event: tuple[float, float] | None
) -> "Image.Image":
    """Return the picture of a crowd's paths, from light (begin) to dark (end).

    Args:
        crowd_map: Where they walk.
        positions: (T, N, 2), metres.
        present: (T, N).
        event: A point to be marked, metres.
    """
    sheet = _Sheet(crowd_map)
    sheet.ground()
    frames = len(positions)
    for frame in range(frames - 1):
        share = frame / max(frames - 2, 1)
        colour = _mixed(share)
        for agent in np.flatnonzero(present[frame] & present[frame + 1]):
            sheet.line(positions[frame, agent], positions[frame + 1, agent], colour, 2)
    for agent in range(positions.shape[1]):
        there = np.flatnonzero(present[:, agent])
        if len(there):
            x, y = positions[there[-1], agent].tolist()
            sheet.dot(x, y, _mixed(1.0), 4)
    if event is not None:
        sheet.dot(*event, _ANCHORS["exit"], 9)
    return sheet.finished()


class Sign(NamedTuple):
    """One entry of a legend: a round sign, or a square one of one colour or of two that blend."""

    words: str
    colours: tuple[Colour, ...]
    dot: bool = False


def signs_of(crowd_map: CrowdMap) -> list[Sign]:
    """Return the legend of a map's picture: the kinds of ground, obstacle and anchor it has."""
    record = crowd_map.record
    kinds = {"walkable", "unreachable", *(obstacle.kind for obstacle in record.obstacles)}
    anchors = [anchor.kind for anchor in record.anchors]
    ground = [
        Sign(_GROUND_WORDS.get(kind, kind), (colour,))
        for kind, colour in PALETTE.items()
        if kind in kinds
    ]
    return ground + [
        Sign(f"{kind}_1" + (f" to {kind}_{n}" if n > 1 else ""), (colour,), dot=True)
        for kind, colour in _ANCHORS.items()
        if (n := anchors.count(kind))
    ]


def walk_signs(crowd_map: CrowdMap, *, event: bool) -> list[Sign]:
    """Return the legend of a picture of paths."""
    ground = [sign for sign in signs_of(crowd_map) if not sign.dot]
    paths = [
        Sign("path, from first to last moment", (_mixed(0.0), _mixed(1.0))),
        Sign("last place of a person", (_mixed(1.0),), dot=True),
    ]
    return [*ground, *paths, *([Sign("event", (_ANCHORS["exit"],), dot=True)] if event else [])]


def with_legend(image: "Image.Image", signs: Sequence[Sign]) -> "Image.Image":
    """Return a picture of a map with a scale bar and its legend below it."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    width, height = image.size
    font = ImageFont.load_default(_LABEL_PX)
    pen = ImageDraw.Draw(image)
    bar_m = _bar_metres(width)
    left, row = 2 * _MARGIN_PX + bar_m * _PX_PER_M + round(pen.textlength(f"{bar_m} m", font)), 0
    places = []
    for sign in signs:
        wide = _SIGN_PX + 6 + round(pen.textlength(sign.words, font))
        if left + wide + _MARGIN_PX > width and left > _MARGIN_PX:
            left, row = _MARGIN_PX, row + 1
        places.append((left, row))
        left += wide + _SIGN_GAP_PX
    whole = Image.new("RGB", (width, height + (row + 1) * _ROW_PX + _MARGIN_PX), _PAPER)
    whole.paste(image)
    pen = ImageDraw.Draw(whole)
    _draw_bar(pen, height, bar_m, font)
    for sign, (left, row) in zip(signs, places, strict=True):
        _draw_sign(pen, sign, left, height + _MARGIN_PX // 2 + row * _ROW_PX, font)
    return whole


def _bar_metres(width_px: int) -> int:
    """Return the longest round number of metres that is at most a fifth of a picture's width."""
    most = width_px / _PX_PER_M / 5
    return max(m for m in (1, 2, 5, 10, 20, 50, 100) if m <= most or m == 1)


def _draw_bar(pen: Any, top: int, metres: int, font: Any) -> None:
    bottom, right = top + _MARGIN_PX // 2 + _SIGN_PX, _MARGIN_PX + metres * _PX_PER_M
    corners = [
        (_MARGIN_PX, bottom - 6), (_MARGIN_PX, bottom), (right, bottom), (right, bottom - 6),
    ]  # fmt: skip
    pen.line(corners, fill=_INK, width=2)
    pen.text((right + 6, bottom - _LABEL_PX), f"{metres} m", fill=_INK, font=font)


def _draw_sign(pen: Any, sign: Sign, left: int, top: int, font: Any) -> None:
    box = (left, top, left + _SIGN_PX, top + _SIGN_PX)
    first, last = np.array(sign.colours[0]), np.array(sign.colours[-1])
    if sign.dot:
        pen.ellipse(box, fill=sign.colours[0])
    else:
        for step in range(_SIGN_PX):
            colour = tuple((first + (last - first) * step / (_SIGN_PX - 1)).astype(int).tolist())
            pen.line((left + step, top, left + step, top + _SIGN_PX), fill=colour)
        pen.rectangle(box, outline=PALETTE["barrier"])
    pen.text((left + _SIGN_PX + 6, top - 2), sign.words, fill=_INK, font=font)


class Line(NamedTuple):
    """One paragraph beside a picture; `passed` colours it: green, red, or None for plain ink."""

    text: str
    passed: bool | None = None


def with_panel(image: "Image.Image", lines: Sequence[Line]) -> "Image.Image":
    """Return a picture with paragraphs to its right, as many as it is high."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    whole = Image.new("RGB", (image.size[0] + _PANEL_PX, image.size[1]), _PAPER)
    whole.paste(image)
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(_PANEL_LETTER_PX)
    top = _MARGIN_PX
    for line in lines:
        colour = {True: _ANCHORS["centre"], False: _ANCHORS["exit"], None: _INK}[line.passed]
        for row in textwrap.wrap(line.text, _PANEL_LETTERS) or [""]:
            pen.text((image.size[0] + _MARGIN_PX, top), row, fill=colour, font=font)
            top += round(1.35 * _PANEL_LETTER_PX)
        top += _PANEL_LETTER_PX // 3
    return whole


class _Sheet:
    """A picture under way, in metres from the map's south-west corner."""

    def __init__(self, crowd_map: CrowdMap) -> None:
        from PIL import Image, ImageDraw  # noqa: PLC0415 - needed for pictures alone

        record = crowd_map.record
        self._map = crowd_map
        self._scale = _PX_PER_M * _FINER
        size = (round(record.width_m * self._scale), round(record.height_m * self._scale))
        self._image = Image.new("RGB", size, PALETTE["unreachable"])
        self._pen = ImageDraw.Draw(self._image)

    def ground(self) -> None:
        """Paint walkable ground and obstacles."""
        from PIL import Image  # noqa: PLC0415

        mask = np.flipud(self._map.walkable)
        stencil = Image.fromarray(mask.astype(np.uint8) * 255).resize(self._image.size)
        self._image.paste(PALETTE["walkable"], mask=stencil)
        for obstacle in self._map.record.obstacles:
            outer, *holes = obstacle.rings
            self._pen.polygon(self._places(outer), fill=PALETTE[obstacle.kind])
            for hole in holes:
                self._pen.polygon(self._places(hole), fill=PALETTE["unreachable"])

    def dot(self, x: float, y: float, colour: Colour, radius_px: int) -> None:
        """Paint a round dot with a light rim."""
        east, north = self.place(x, y)
        radius = radius_px * _FINER
        box = (east - radius, north - radius, east + radius, north + radius)
        self._pen.ellipse(box, fill=colour, outline=PALETTE["walkable"], width=_FINER)

    def line(self, begin: Floats, end: Floats, colour: Colour, width_px: int) -> None:
        """Paint a straight line."""
        self._pen.line(self._places([begin, end]), fill=colour, width=width_px * _FINER)

    def finished(self) -> "Image.Image":
        """Return the picture at its final size."""
        from PIL import Image  # noqa: PLC0415

        width, height = self._image.size
        return self._image.resize((width // _FINER, height // _FINER), Image.Resampling.BOX)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies in the picture, whose y runs down."""
        return x * self._scale, self._image.size[1] - y * self._scale

    def _places(self, points: Any) -> list[tuple[float, float]]:
        return [self.place(float(x), float(y)) for x, y in points]


def _label(image: "Image.Image", sheet: _Sheet, crowd_map: CrowdMap) -> None:
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415

    pen, font = ImageDraw.Draw(image), ImageFont.load_default(_LABEL_PX)
    for anchor in crowd_map.record.anchors:
        x, y = (side / _FINER for side in sheet.place(anchor.x_m, anchor.y_m))
        words = anchor.id.rpartition("_")[2]
        width = pen.textlength(words, font=font)
        left = x + _DOT_PX + 3 if x + width + 12 < image.size[0] else x - width - _DOT_PX - 3
        top = min(max(y - _LABEL_PX / 2 - 2, 0), image.size[1] - _LABEL_PX - 4)
        pen.text((left, top), words, fill=_INK, font=font, stroke_width=2,
                 stroke_fill=PALETTE["walkable"])  # fmt: skip


def _mixed(share: float) -> Colour:
    red, green, blue = (_EARLY + (_LATE - _EARLY) * share).astype(int).tolist()
    return red, green, blue
