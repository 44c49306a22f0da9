"""Split lines of separated values, each line on its own: a broken quote spoils one row.

7,c1,"a, quoted, note" -> ["7", "c1", "a, quoted, note"];  7,c1,"never closed -> None
"""

import csv

# A pre-matched trip is one field of any length. The limit is the process's: this module is the
# only one that reads CSV row by row.
csv.field_size_limit(2**31 - 1)


def split_row(text: str, delimiter: str) -> list[str] | None:
    """Return the fields of a line; None where its quotes make it no row of its own."""
    if text.count('"') % 2:  # the end of a field begun lines before would read as a row
        return None
    try:
        return next(csv.reader([text], strict=True, delimiter=delimiter), None)
    except csv.Error:
        return None
