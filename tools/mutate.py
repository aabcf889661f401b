"""Mutation test of internal/cpython's C: `python tools/mutate.py --count 100`, or `--file table.c`.

A mutant is a copy of the C code with one small mistake: another operator, a condition turned round, a number that is one
more, a call left out. All of them are built into one module, which the variable GODLPACK_MUTANT makes behave like one. A
mutant is killed if a test of TESTS fails, or hangs. What lives on is printed: it wants a test, or a reason why no test can
see it.

Mutants are drawn by a seed, and what was found is kept in a file (--results): the next run goes on from there.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import extension
from extension import ROOT

FOLDER = Path("internal", "cpython")
KILLERS = [
    "table",
    "from_dlpack",
    "dlpack_method",
    "buffer",
    "numpy",
    "device",
    "functions",
    "no_memory",
    "hostile",
    "tensor",
]
SLOW = {
    "signals.c": ["signals", "workers"],
    "runtime.c": ["fork", "runtime"],
    "copy.c": ["fork"],
    "module.c": ["import"],
    "table.c": ["launch"],
}
TIMEOUT = 300
SWAPS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "&": "|", "|": "&",
}  # fmt: skip
OPERATOR = re.compile(r"(?<= )(?:[=!<>]=|[<>]|&&|\|\||[+\-&|])(?= )")
NUMBER = re.compile(r"(?<![\w.\"'])\d+(?![\w.\"'])")
CONDITION = re.compile(r"^(\s*(?:\} )?(?:else )?(?:if|while) )(\(.*)$")
RETURN = re.compile(r"^(\s*return )([^;{}]+)(;.*)$")
DECLARATION = re.compile(r"^(\s*(?:const )?\w+(?: \w+)* \**\w+ = )([^;{},]+(?:\([^;{}]*\)[^;{},]*)*)(;.*)$")
CALL = re.compile(r"^(\s*)(\w[\w>.\-]*\([^;{}]*\);)(\s*(?:/\*.*)?)$")
SELECTOR = """\
#include <stdlib.h>
int gd_mutant;
__attribute__((constructor)) static void select_mutant(void) {
  const char *wanted = getenv("GODLPACK_MUTANT");
  gd_mutant = wanted == NULL ? 0 : atoi(wanted);
}
"""


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 0
    what: str  # the mistake, for people
    before: str  # the line is before + an expression, one of two + after
    wrong: str
    right: str
    after: str

    def text(self, number: int) -> str:
        if not self.right:
            return f"{self.before}if (gd_mutant != {number}) {self.wrong}{self.after}"
        return f"{self.before}(gd_mutant == {number} ? ({self.wrong}) : ({self.right})){self.after}"


def closing(text: str) -> int:
    """Where the parenthesis ends that the text begins with; -1 if it goes on in the next line."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i
    return -1


def mistakes(expression: str) -> Iterator[tuple[str, str]]:
    for match in OPERATOR.finditer(expression):
        to = SWAPS[match[0]]
        yield f"{match[0]} is {to}", expression[: match.start()] + to + expression[match.end() :]
    for match in NUMBER.finditer(expression):
        more = str(int(match[0]) + 1)
        yield f"{match[0]} is {more}", expression[: match.start()] + more + expression[match.end() :]


def mutants_of(file: str, number: int, line: str) -> Iterator[Mutant]:
    condition, found = CONDITION.match(line), RETURN.match(line) or DECLARATION.match(line)
    if condition and (end := closing(condition[2])) > 0:
        before, inner, after = f"{condition[1]}(", condition[2][1:end], condition[2][end:]
        yield Mutant(file, number, "the condition is turned round", before, f"!({inner})", inner, after)
    elif found:
        before, inner, after = found[1], found[2], found[3]
    elif call := CALL.match(line):
        if call[2].split("(")[0] not in ("return", "sizeof", "while", "if", "for", "switch"):
            yield Mutant(file, number, "the call is left out", call[1], call[2], "", call[3])
        return
    else:
        return
    for what, wrong in mistakes(inner):
        yield Mutant(file, number, what, before, wrong, inner, after)


def all_mutants(wanted: str) -> list[Mutant]:
    """Those of all functions: lines outside of any stand at the left margin."""
    found = []
    for path in sorted((ROOT / FOLDER).glob(wanted)):
        comment = False
        for number, line in enumerate(path.read_text().splitlines()):
            comment = (
                (comment or "/*" in line) and "*/" not in line[line.rfind("/*") + 1 :]
                if "/*" in line or comment
                else False
            )
            plain = (
                line.startswith("  ") and not line.lstrip().startswith(("/*", "{", "static", "#")) and "\\" not in line
            )
            if plain and not comment:
                found += mutants_of(path.name, number, line)
    return found


def lay_out(sources: Path, chosen: dict[int, Mutant]) -> None:
    """Writes the C code with all mutants into a copy. Of several in a line, one is inside the other."""
    for name in {m.file for m in chosen.values()}:
        path = sources / FOLDER / name
        lines = (ROOT / FOLDER / name).read_text().splitlines()
        by_line: dict[int, list[tuple[int, Mutant]]] = {}
        for number, mutant in chosen.items():
            if mutant.file == name:
                by_line.setdefault(mutant.line, []).append((number, mutant))
        for line, several in by_line.items():
            lines[line] = nest(several)
        path.write_text("extern int gd_mutant;\n#line 1\n" + "\n".join(lines) + "\n")
    (sources / FOLDER / "zz_selector.c").write_text(SELECTOR)


def nest(several: list[tuple[int, Mutant]]) -> str:
    number, first = several[0]
    if not first.right:
        return first.text(number)
    choice = first.right
    for n, mutant in several:
        choice = f"gd_mutant == {n} ? ({mutant.wrong}) : ({choice})"
    return f"{first.before}({choice}){first.after}"


def compilable(sources: Path, chosen: dict[int, Mutant], build: list[str], module: Path) -> dict[int, Mutant]:
    """Builds the module, without the mutants that are not C."""
    while True:
        lay_out(sources, chosen)
        done = subprocess.run([*build, "-o", str(module), "./pyext/core"], cwd=sources, capture_output=True, text=True)
        if done.returncode == 0:
            return chosen
        wrong = {(m[1], int(m[2]) - 1) for m in re.finditer(r"(\w+\.c):(\d+):\d+: (?:fatal )?error", done.stderr)}
        left = {n: m for n, m in chosen.items() if (m.file, m.line) not in wrong}
        if len(left) == len(chosen):
            raise SystemExit(done.stderr)
        chosen = left


def killed(folder: Path, number: int, file: str) -> str:
    """What killed it: the name of a test, a time-out, or nothing."""
    tests = [f"tests/test_{name}.py" for name in [*KILLERS, *SLOW.get(file, [])]]
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    env = os.environ | {"PYTHONPATH": str(folder), "GODLPACK_MUTANT": str(number), "GODLPACK_FUZZ": "300"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "a time-out"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "" if done.returncode == 0 else failed[1] if failed else f"exit status {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default="*.c")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("mutants.jsonl"))
    options = parser.parse_args()
    known = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    numbered = dict(enumerate(all_mutants(options.file), 1))
    drawn = random.Random(options.seed).sample(sorted(numbered), min(options.count, len(numbered)))
    chosen = {n: numbered[n] for n in drawn}
    with TemporaryDirectory(prefix="godlpack-mutants-") as temporary, extension.built() as folder:
        sources = Path(temporary, "sources")
        shutil.copytree(ROOT, sources, ignore=shutil.ignore_patterns(".*", "*.so", "bin", "shared"))
        build = ["go", "build", "-buildmode=c-shared", "-buildvcs=false"]
        chosen = compilable(sources, chosen, build, folder / "godlpack" / "_core.abi3.so")
        if by := killed(folder, 0, ""):
            raise SystemExit(f"without a mistake {by} fails")
        for number, mutant in chosen.items():
            text = mutant.right or mutant.wrong
            if any((k["file"], k["text"], k["what"]) == (mutant.file, text, mutant.what) for k in known):
                continue
            by = killed(folder, number, mutant.file)
            known.append({"file": mutant.file, "line": mutant.line + 1, "what": mutant.what, "text": text, "by": by})
            with options.results.open("a") as results:
                results.write(json.dumps(known[-1]) + "\n")
            if not by:
                print(f"{mutant.file}:{mutant.line + 1}: lives: {mutant.what}: {text}", flush=True)
    dead = sum(bool(k["by"]) for k in known)
    print(f"{dead} of {len(known)} mutants killed, of {len(numbered)} that there are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
