"""What `python -m pipeline show CITY TRIP_ID` does: screen, JSON, or a page with a map.

show(root, "monaco", "17", page=None, as_json=False, all_rows=False)  ->  the screen of trip 17
"""

import sys
from pathlib import Path

import msgspec

from pipeline.show.gather import life_of
from pipeline.show.life import TripLife
from pipeline.show.page import write_page
from pipeline.show.screen import print_life
from pipeline.show.survey import ground_of


def show(
    root: Path, city: str, trip_id: str, *, page: Path | None, as_json: bool, all_rows: bool
) -> None:
    """Show one trip's whole life on standard output, and write its page where one is asked for.

    Args:
        root: Root of the project, where params.yaml lies.
        city: Key of the city under `cities:`.
        trip_id: Id of the raw trip, a cleaned trip or a matched drive.
        page: HTML file to write, or None.
        as_json: Print the life as one JSON record (`TripLife`) instead of the screen.
        all_rows: Print every row of long lists.

    Raises:
        PipelineError: Unknown city or trip, or an artifact is missing; the message names the next
            command.
    """
    life = life_of(root, city, trip_id)
    if as_json:
        sys.stdout.write(life_json(life) + "\n")
    else:
        print_life(life, all_rows=all_rows)
    if page is not None:
        write_page(life, ground_of(root, city, life), page)
        sys.stderr.write(f"wrote {page}\n")


def life_json(life: TripLife) -> str:
    """Return a life as indented JSON; `msgspec.json.decode(text, type=TripLife)` reads it back."""
    return msgspec.json.format(msgspec.json.encode(life), indent=2).decode()
