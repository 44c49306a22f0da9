"""Map matching: GPS fixes in, connected road paths with times and reasons out.

A trace of 40 fixes, one each 15 s, becomes a path of 58 road ids with entry times, one row for each
fix (road, offset, distance or the reason it has none) and one row for the trace.
"""
