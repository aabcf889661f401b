"""Whether a library keeps the rules of DLPack: its producers, its from_dlpack, its exchange table.

    from godlpack.testing import check_consumer, check_producer, check_table

    print(check_producer(lambda: np.arange(6.0), lambda: np.zeros(0)))
    check_consumer(torch.from_dlpack).raise_if_failed(known=["R43 read_only"])
    check_table(torch.Tensor)

Each takes the thing to check and returns a Report: for each check its rule (docs/conformance.md has them by number), what
was wanted and what came. Fake peers, forged with ctypes, break every rule that can be broken towards the subject, and
count what becomes of them. Nothing is tried that is known to end the process of a peer, unless dangerous=True.

``python -m godlpack.testing`` prints the reports of the frameworks that are installed.
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
