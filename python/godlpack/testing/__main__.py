"""Print reports of how frameworks, or a library of your own, conform to DLPack.

``python -m godlpack.testing numpy torch`` checks these frameworks; without
a name, all that it knows. ``python -m godlpack.testing --producer
mylib:make_array --consumer mylib:from_dlpack`` checks a library of your own.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .consumer import check_consumer
from .frameworks import FRAMEWORKS
from .producer import check_producer
from .report import Report
from .table import check_table

EPILOG = """\
Of a library of your own:
  python -m godlpack.testing --producer mylib:make_array --consumer mylib:from_dlpack
MODULE is looked for where you are, too. A producer's NAME is an object with __dlpack__, or a function without arguments
that makes one; give --producer more than once for empty, 0-dimensional or strided samples. The exit status is 1 if a
check of your library failed. Rules: docs/conformance.md."""

KINDS: dict[str, Callable[[str, Any], Report]] = {
    "producer": lambda spec, x: check_producer(x, name=f"producer {spec}"),
    "read-only": lambda spec, x: check_producer(read_only=[x], name=f"producer {spec}"),
    "consumer": lambda spec, x: check_consumer(x, name=f"consumer {spec}"),
    "table": lambda spec, x: check_table(x, name=f"table of {spec}"),
}
WHAT = {
    "producer": "an object with __dlpack__, or a function that makes one",
    "read-only": "the same, with read-only memory",
    "consumer": "a function like from_dlpack",
    "table": "a type that publishes an exchange table",
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m godlpack.testing",
        description="How frameworks, or a library of your own, conform to DLPack.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("framework", nargs="*", help=f"one of {', '.join(FRAMEWORKS)} (default: all)")
    parser.add_argument("-f", "--failed", action="store_true", help="print only what failed")
    for kind, what in WHAT.items():
        parser.add_argument(f"--{kind}", metavar="MODULE:NAME", action="append", default=[], help=what)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Prints reports. The exit status is 1 if a check of the user's own library failed; frameworks do not count."""
    line = parser()
    args = line.parse_args(argv)
    unknown = [name for name in args.framework if name not in FRAMEWORKS]
    if unknown:
        line.error(f"unknown framework {', '.join(map(repr, unknown))}: want {', '.join(FRAMEWORKS)}")
    try:
        own = [(kind, spec, found(spec)) for kind in KINDS for spec in getattr(args, kind.replace("-", "_"))]
    except LookupError as error:
        line.error(str(error.args[0]))
    failed = False
    for kind, spec, x in own:
        try:
            report = KINDS[kind](spec, x)
        except TypeError as error:
            line.error(f"{spec}: {error}")
        show(report, args.failed)
        failed |= not report.ok
    for name in args.framework or ([] if own else FRAMEWORKS):
        try:
            for report in FRAMEWORKS[name]():
                show(report, args.failed)
        except ImportError as error:
            print(f"{name}: not available ({error})\n")
    return int(failed)


def found(spec: str) -> Any:
    """The object that MODULE:NAME names."""
    module_name, colon, name = spec.partition(":")
    if not (module_name and colon and name):
        raise LookupError(f"want MODULE:NAME, such as mylib:make_array, got {spec!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        x: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise LookupError(f"cannot import {module_name}: {error}") from error
    for part in name.split("."):
        if not hasattr(x, part):
            raise LookupError(f"{module_name} has no {name}")
        x = getattr(x, part)
    return x


def show(report: Report, failed_only: bool) -> None:
    print("\n".join(shown(report, failed_only)), "\n", flush=True)


def shown(report: Report, failed_only: bool) -> Iterator[str]:
    yield report.headline
    yield from map(str, report.failed if failed_only else report.findings)


if __name__ == "__main__":
    raise SystemExit(main())
