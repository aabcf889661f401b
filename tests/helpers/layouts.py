"""Layouts of elements, as indices of an array of shape (4, 6, 2)."""

BASE = (4, 6, 2)

KEYS = {
    "compact": ...,
    "rows": slice(1, 3),
    "sliced": (slice(1, None), slice(None, None, 2)),
    "column": (slice(None), slice(3, 4)),
    "one": (slice(1, 2), slice(2, 3), slice(1, 2)),
    "flat": (1, slice(None), 1),
    "new axes": (None, slice(None), None, slice(1, 4)),
    "none": slice(0),
    "none within": (slice(None), slice(3, 3)),
    "scalar": (1, 2, 1, ...),
}

REVERSED = {
    "reversed": slice(None, None, -1),
    "reversed rows": (slice(None, None, -2), slice(None, None, -1)),
    "reversed within": (..., slice(None, None, -1)),
}
