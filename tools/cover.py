"""Reports the branches of the C code that no test takes: `tox -e cover`, or `tox -e cover -- tests/test_table.py`.

The tests run against an extension module, and libraries of Go functions, whose C code is instrumented for gcov; forked
children and processes that crash on purpose are counted, too. docs/reliability-coverage.md must name each branch that
no test takes, with the reason, and these must be at most 5 % of all branches. Otherwise this tool fails.

`--write` updates that page with the branches that are uncovered now; you fill in the reasons of new ones.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import extension
from extension import ROOT

PAGE = ROOT / "docs" / "reliability-coverage.md"
FOLDERS = ["internal/cpython", "library", "tvmffi"]
LEAST = 95  # percent
# Without the tests of the wheel, the tool and documents, and without benchmarks.
ELSEWHERE = ["bench", "docs", "examples", "gpu", "guide", "packaging", "readme", "stubs", "tool", "abi"]

# A C compiler for cgo. Its own options come last and override those of the packages: -O0, so that branches are those of
# the source. Tests compile some files again with other options: notes and counts of each compilation go to their own
# folder.
COMPILER = """\
#!/bin/sh
cd -P .
real={compiler}
name=
compiles=
for argument; do
  case "$argument" in
    -c) compiles=1 ;;
    [a-z]*.c) name=$argument ;;
  esac
done
if [ -z "$compiles" ]; then
  exec $real "$@" -x none {folder}/flush.o --coverage
fi
case "$PWD/$name" in
{cases}
esac
exec $real "$@"
"""
CASE = """\
  {root}/{source})
    notes=$(mktemp -d {folder}/XXXXXX)
    exec $real "$@" --coverage -O0 -fprofile-update=atomic -fprofile-prefix-map={root}={root} \\
      -dumpdir "$notes/" -dumpbase {dump} ;;"""


@dataclass(frozen=True, order=True)
class Place:
    """A line of C, identified by its text, since line numbers change."""

    file: str
    function: str
    text: str


@dataclass
class Branches:
    """The number of branches at a place, and the number of those that no test takes."""

    all: int = 0
    missed: int = 0


Counts = dict[Place, Branches]


def sources() -> list[str]:
    return sorted(str(file.relative_to(ROOT)) for folder in FOLDERS for file in (ROOT / folder).glob("*.c"))


def prepare(folder: Path) -> dict[str, str]:
    """The environment of builds and tests that are counted; the counts are written to the folder."""
    compiler = os.environ.get("CC", "cc")
    source = str(ROOT / "tools" / "flush.c")
    preload = folder / "before_the_end.so"
    build = [*shlex.split(compiler), "-O2", "-fPIC", source]
    subprocess.run([*build, "-c", "-o", str(folder / "flush.o")], check=True)
    subprocess.run([*build, "-DBEFORE_THE_END", "-shared", "-o", str(preload)], check=True)
    names = {name: name.replace("/", "_") for name in sources()}
    cases = [CASE.format(root=ROOT, source=name, folder=folder, dump=dump) for name, dump in names.items()]
    wrapper = folder / "cc"
    wrapper.write_text(COMPILER.format(compiler=compiler, folder=folder, cases="\n".join(cases)))
    wrapper.chmod(0o755)
    # The folder's name in the flags changes the key of the build cache, so everything is built again.
    flags = f"{os.environ.get('CGO_CFLAGS', '-O2 -g')} -DGODLPACK_COVER={folder.name}"
    return {
        "CC": str(wrapper),
        "CGO_CFLAGS": flags,
        "LD_PRELOAD": str(preload),
        "GCOV_ERROR_FILE": str(folder / "errors"),
        "GODLPACK_FRAMEWORKS": "numpy,torch,jax",  # for tests/test_no_memory.py
    }


def lines_of(folder: Path) -> Iterator[tuple[str, str, int, list[int]]]:
    """File, function and number of each line with branches, and how often each branch was taken. A line is yielded once
    for each time it was compiled."""
    for name, notes in ((s, n) for s in sources() for n in folder.glob(f"*/{s.replace('/', '_')}.gcno")):
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", notes.name]
        done = subprocess.run(command, cwd=notes.parent, check=True, capture_output=True, text=True)
        for file in json.loads(done.stdout)["files"]:
            where = Path(name).parent / Path(file["file"]).name
            if (where.suffix == ".c" and str(where) != name) or not (ROOT / where).exists():
                continue
            for line in file["lines"]:
                if line["branches"]:
                    taken = [branch["count"] for branch in line["branches"]]
                    yield str(where), line.get("function_name", ""), line["line_number"], taken


def count(folder: Path) -> Counts:
    """The counts of gcov for each line of godlpack that has branches."""
    sums: dict[tuple[str, str, int], list[int]] = {}
    for file, function, number, taken in lines_of(folder):
        before = sums.setdefault((file, function, number), [0] * len(taken))
        sums[file, function, number] = [a + b for a, b in zip(before, taken, strict=True)]
    found: Counts = defaultdict(Branches)
    for (file, function, number), taken in sums.items():
        text = (ROOT / file).read_text().splitlines()[number - 1].strip()
        branches = found[Place(file, function, text)]
        branches.all += len(taken)
        branches.missed += taken.count(0)
    return found


# ---- the page ----

ROW = re.compile(r"^\| (\S+) \| `(\w+)` \| `` (.*) `` \| (\d+) of \d+ \| (.*) \|$", re.MULTILINE)


def listed() -> dict[Place, tuple[int, str]]:
    """The rows of the page: the number of branches at each place, and the reason."""
    rows = ROW.findall(PAGE.read_text()) if PAGE.exists() else []
    return {Place(f, function, text.replace("\\|", "|")): (int(n), why) for f, function, text, n, why in rows}


def row(place: Place, branches: Branches, why: str) -> str:
    text = place.text.replace("|", "\\|")
    return f"| {place.file} | `{place.function}` | `` {text} `` | {branches.missed} of {branches.all} | {why} |"


def write(counts: Counts) -> None:
    """Replaces the table at the end of the page by what is uncovered now. Rows that depend on luck stay."""
    known = listed()
    text = PAGE.read_text()
    head = text[: text.index("| file |")]
    table = ["| file | function | line | branches not taken | why |", "| --- | --- | --- | --- | --- |"]
    for place, b in counts.items():
        allowed, why = known.get(place, (0, "?"))
        missed = max(b.missed, allowed) if "luck" in why else b.missed
        if missed:
            table.append(row(place, Branches(b.all, missed), why))
    PAGE.write_text(head + "\n".join(table) + "\n")


# ---- the verdict ----


def percent(counts: Counts, file: str = "") -> str:
    of = [b for place, b in counts.items() if place.file.startswith(file)]
    everything, missed = sum(b.all for b in of), sum(b.missed for b in of)
    return f"{100 * (everything - missed) / (everything or 1):5.1f} % of {everything} branches"


def judge(counts: Counts) -> bool:
    """Prints the figures. Returns whether they are good enough."""
    for file in dict.fromkeys(place.file for place in counts):
        print(f"{file:32}{percent(counts, file)}")
    print(f"{'C, all of it':32}{percent(counts)}")
    known, good = listed(), True
    for place, b in counts.items():
        allowed, why = known.get(place, (0, "?"))
        if b.missed > allowed or (b.missed and why == "?"):
            print(
                f"{place.file}: {place.function}: no test takes {b.missed} of {b.all} branches, {PAGE.name} names {allowed}: {place.text}"
            )
            good = False
    for place in known.keys() - {place for place, b in counts.items() if b.missed}:
        print(f"{place.file}: {place.function}: is covered, or gone, and need not be in {PAGE.name}: {place.text}")
    everything, missed = sum(b.all for b in counts.values()), sum(b.missed for b in counts.values())
    return good and 100 * (everything - missed) >= LEAST * everything


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put what is uncovered into the page")
    parser.add_argument(
        "--keep", metavar="FOLDER", type=Path, help="keep the counts there, and add to those that are there"
    )
    parser.add_argument("tests", nargs="*", help="arguments of pytest")
    options = parser.parse_args()
    tests = options.tests or [
        str(file) for file in sorted((ROOT / "tests").glob("test_*.py")) if file.stem[5:] not in ELSEWHERE
    ]
    with TemporaryDirectory(prefix="godlpack-cover-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        environment = prepare(folder)
        preload = environment.pop("LD_PRELOAD")
        with extension.built(**environment) as package:
            status = extension.test(package, *tests, **environment, LD_PRELOAD=preload)
        if not options.tests:  # a host in C, which can misuse a library in ways that Python cannot
            command = ["go", "test", "-count=1", "-run=HostInC/plain", "./library"]
            counted = os.environ | environment | {"LD_PRELOAD": preload}
            status = subprocess.run(command, cwd=ROOT, env=counted).returncode or status
        counts = count(folder)
    if options.write:
        write(counts)
    return status or not judge(counts)


if __name__ == "__main__":
    sys.exit(main())
