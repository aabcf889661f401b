"""``python -m godlpack.testing numpy torch`` prints how frameworks conform to DLPack; of all that it knows, if none is named."""

from __future__ import annotations

import argparse

from .frameworks import FRAMEWORKS


def main(argv: list[str] | None = None) -> int:
    """Prints reports. The exit status is 0 whatever they say: they are facts about others."""
    parser = argparse.ArgumentParser(prog="python -m godlpack.testing", description="How frameworks conform to DLPack.")
    parser.add_argument("framework", nargs="*", help=f"one of {', '.join(FRAMEWORKS)} (default: all)")
    parser.add_argument("-f", "--failed", action="store_true", help="print only what failed")
    args = parser.parse_args(argv)
    unknown = [name for name in args.framework if name not in FRAMEWORKS]
    if unknown:
        parser.error(f"unknown framework {', '.join(map(repr, unknown))}: want {', '.join(FRAMEWORKS)}")
    for name in args.framework or FRAMEWORKS:
        try:
            for report in FRAMEWORKS[name]():
                lines = str(report).splitlines()
                print(
                    "\n".join([lines[0], *map(str, report.failed)]) if args.failed else "\n".join(lines),
                    "\n",
                    flush=True,
                )
        except ImportError as error:
            print(f"{name}: not here ({error})\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
