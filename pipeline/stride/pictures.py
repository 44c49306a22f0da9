"""Pictures of a map and of a crowd on it, as PNG.

    draw_map(crowd_map).save("preview.png")          obstacles, walkable ground, anchors
    draw_walk(crowd_map, positions, present)         the same, faint, with everybody's path on it

Map pictures use flat colours (PALETTE): `image_maps` can read them back.
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
