"""Checks whether a library keeps the rules of DLPack.

`check_producer` checks objects with ``__dlpack__``, `check_consumer` a
function such as ``from_dlpack``, `check_table` the exchange table of a
type. Each returns a `Report` that has, for each check, its rule (see
docs/conformance.md), what was wanted and what came.

The consumer's checks use fake producers, made with ctypes, that break
one rule at a time and count the calls of their deleters. A check that is
known to end the process of some libraries runs in a forked child only.

``python -m godlpack.testing`` prints the reports of the frameworks that
are installed.

Examples
--------
>>> import godlpack as gd
>>> from godlpack.testing import check_consumer, check_producer
>>> report = check_producer(gd.zeros((2, 3)).T, lambda: gd.zeros(0))
>>> print(report.headline)
producer Tensor: ... passed, 0 failed, ... not applicable
>>> check_consumer(gd.from_dlpack).raise_if_failed(known=["R41 dangling"])
"""

from .consumer import check_consumer
from .peers import Managed, Producer, published
from .producer import check_producer
from .report import ConformanceError, Finding, Outcome, Report
from .table import check_table

__all__ = [
    "ConformanceError",
    "Finding",
    "Managed",
    "Outcome",
    "Producer",
    "Report",
    "check_consumer",
    "check_producer",
    "check_table",
    "published",
]
