"""Self-check: exchange real tensors with every framework that is installed.

``python -m godlpack`` sends a tensor through each route in each direction.
It checks that both sides share the memory, that each side reads what the
other writes, that the memory outlives the side that releases it first, and
that it is freed exactly once. The exit status is 0 only if all checks pass.

``python -m godlpack COMMAND`` is the authors' tool, as ``godlpack COMMAND``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import _tool, get_build_info
from ._selfcheck import FRAMEWORKS, Result, check

COLUMNS = f"{'framework':<11} {'way':<4} {'route':<34} {'shared':<7} {'writes':<7} {'released':<9} {'ns':>8}"


def line(r: Result) -> str:
    ns = "" if r.ns is None else f"{r.ns:8.0f}"
    return f"{r.framework:<11} {r.way:<4} {r.route:<34} {r.shared:<7} {r.writes:<7} {r.released:<9} {ns:>8}"


def main(argv: list[str] | None = None) -> int:
    if argv is None and sys.argv[1:2] and sys.argv[1] in _tool.COMMANDS:
        _tool.main(f"{Path(sys.executable).name} -m godlpack")
    commands = (
        f"With one of {', '.join(_tool.COMMANDS)} as its first argument, this is the tool for Go libraries instead."
    )
    parser = argparse.ArgumentParser(
        prog="python -m godlpack", description=__doc__.splitlines()[0], epilog=f"{commands} Try `help`."
    )
    parser.add_argument("framework", nargs="*", help=f"check only these: {', '.join(FRAMEWORKS)} (default: all)")
    parser.add_argument("--no-timing", action="store_true", help="leave out the ns column")
    args = parser.parse_args(argv)
    unknown = [name for name in args.framework if name not in FRAMEWORKS]
    if unknown:
        parser.error(
            f"unknown framework {', '.join(map(repr, unknown))}: want {', '.join(FRAMEWORKS)}, or a command: {', '.join(_tool.COMMANDS)}"
        )

    info = get_build_info()
    print(f"godlpack {info['godlpack']} ({info['go']}, DLPack {info['dlpack']}) on Python {sys.version.split()[0]}\n")
    print(f"{COLUMNS}\n{'-' * len(COLUMNS)}")
    failures: list[Result] = []
    routes = 0
    for name in args.framework or FRAMEWORKS:
        for result in check(name, timing=not args.no_timing):
            print(line(result) if result.route else f"{name:<11} {result.note}", flush=True)
            routes += bool(result.route)
            if not result.ok:
                failures.append(result)

    print("\nway: in = to godlpack, out = from it. ns: one exchange and its release, with the calling overhead.")
    for r in failures:
        print(f"FAILED  {r.framework} {r.way} {r.route}: {r.note}", file=sys.stderr)
    print(f"{routes - len(failures)} of {routes} routes hold" if failures else f"all {routes} routes hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
