"""A map by one hash: what a request's key holds of a place that a prompt shows in part.

map_hash(place)  ->  "9f3c..."
"""

import hashlib

import msgspec

from pipeline.stride.maps import StrideMap


def map_hash(place: StrideMap) -> str:
    """Return a hash of all that a map is: obstacles, mask, anchors and names."""
    content = msgspec.json.encode(msgspec.to_builtins(place))
    return hashlib.sha256(content).hexdigest()
