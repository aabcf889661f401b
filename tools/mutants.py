"""Small mistakes in C and Go: another operator, an inverted condition, a number that is one more, a statement left out.

One build of a package contains all its mutants. Each is active if the variable GODLPACK_MUTANT has its number. The file
that GODLPACK_MUTANTS_REACHED names has a byte for each mutant, which records that the mutant was reached.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SWAPS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "&": "|", "|": "&",
}  # fmt: skip
OPERATOR = re.compile(r"(?<= )(?:[=!<>]=|[<>]|&&|\|\||[+\-&|])(?= )")
NUMBER = re.compile(r"(?<![\w.\"'])\d+(?![\w.\"'])")

C_CONDITION = re.compile(r"^(\s*(?:\} )?(?:else )?(?:if|while) )(\(.*)$")
C_RETURN = re.compile(r"^(\s*return )([^;{}]+)(;.*)$")
C_DECLARATION = re.compile(r"^(\s*(?:const )?\w+(?: \w+)* \**\w+ = )([^;{},]+(?:\([^;{}]*\)[^;{},]*)*)(;.*)$")
C_CALL = re.compile(r"^(\s*)(\w[\w>.\-]*\([^;{}]*\);)(\s*(?:/\*.*)?)$")

GO_CONDITION = re.compile(r"^(\t+(?:\} else )?(?:if|for) (?:[^{}]*; )?)([^;{}]+?)((?:; [^;{}]*)? \{)$")
GO_CASE = re.compile(r"^(\t+case )([^:{}\"]+)(:)$")
GO_VALUE = re.compile(r"^(\t+(?:return |[\w.]+ :?= ))([^,{}]+?)((?:, nil)?)$")
GO_STATEMENT = re.compile(
    r"^(\t+)((?:defer |go )?[\w.\[\]]+\(.*\)|[\w.\[\]*]+ [+\-|&]?= .*[^{(,&|+]|continue|break|[\w.\[\]]+(?:\+\+|--))$"
)
GO_LOOP = re.compile(r"^\t+for (?:[^{}]* := )?range ")

C_HEADER = "int gd_mutant(int);\n#line 1\n"
C_FILE = "zz_mutant.c"
C_SOURCE = """\
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
static int chosen;
static char *reached;
__attribute__((constructor)) static void choose(void) {
  const char *wanted = getenv("GODLPACK_MUTANT"), *file = getenv("GODLPACK_MUTANTS_REACHED");
  chosen = wanted == NULL ? 0 : atoi(wanted);
  int fd = file == NULL ? -1 : open(file, O_RDWR | O_CLOEXEC);
  void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  reached = p == MAP_FAILED ? NULL : p;
}
int gd_mutant(int n) {
  if (reached != NULL) reached[n] = 1;
  return chosen == n;
}
"""
GO_FILE = "zz_mutant.go"
GO_SOURCE = """\
package %s

// #include <stdlib.h>
import "C"

import (
	"os"
	"strconv"
	"syscall"
)

// What Python puts into its environment is in C's alone, not in os.Getenv's.
var chosenMutant, _ = strconv.Atoi(C.GoString(C.getenv(C.CString("GODLPACK_MUTANT"))))

var reachedMutants = func() []byte {
	f, err := os.OpenFile(C.GoString(C.getenv(C.CString("GODLPACK_MUTANTS_REACHED"))), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := syscall.Mmap(int(f.Fd()), 0, 1<<16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return b
}()

func isMutant(n int) bool {
	if reachedMutants != nil {
		reachedMutants[n] = 1
	}
	return chosenMutant == n
}

func pickMutant[T any](n int, wrong, right T) T {
	if isMutant(n) {
		return wrong
	}
	return right
}
"""


@dataclass(frozen=True)
class Mutant:
    file: str  # relative to the root
    line: int  # from 0
    what: str  # the mistake, in words
    before: str  # the line is before + (right or wrong) + after; or the statement in wrong is left out
    wrong: str
    right: str  # empty: the statement in wrong is left out
    after: str

    @property
    def text(self) -> str:
        return self.right or self.wrong


def mutants_of(root: Path, files: Iterable[Path]) -> dict[str, Mutant]:
    """All mutants by name. Lines that are added or removed elsewhere in the file do not change a name."""
    found: dict[str, Mutant] = {}
    for path in files:
        lines, of_line = (go_lines, of_go) if path.suffix == ".go" else (c_lines, of_c)
        same: Counter[str] = Counter()
        for number, line in lines(path.read_text()):
            for mutant in of_line(str(path.relative_to(root)), number, line):
                name = f"{mutant.file}: {mutant.what}: {mutant.text} -> {mutant.wrong}"
                same[name] += 1
                found[f"{name} ({same[name]})"] = mutant
    return found


def c_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines within functions, which are indented."""
    comment = False
    for number, line in enumerate(text.splitlines()):
        if "/*" in line or comment:
            comment = "*/" not in line[line.rfind("/*") + 1 :]
        plain = line.startswith("  ") and not line.lstrip().startswith(("/*", "{", "static", "#")) and "\\" not in line
        if plain and not comment:
            yield number, line


def go_lines(text: str) -> Iterator[tuple[int, str]]:
    """The indented lines without comments, including constants and variables, whose mutants do not compile."""
    for number, line in enumerate(text.splitlines()):
        if line.startswith("\t"):
            yield number, re.sub(r"\s*// [^\"`]*$", "", line)


def of_c(file: str, number: int, line: str) -> Iterator[Mutant]:
    condition, found = C_CONDITION.match(line), C_RETURN.match(line) or C_DECLARATION.match(line)
    if condition and (end := closing(condition[2])) > 0:
        before, inner, after = f"{condition[1]}(", condition[2][1:end], condition[2][end:]
        yield Mutant(file, number, "the condition is turned round", before, f"!({inner})", inner, after)
    elif found:
        before, inner, after = found[1], found[2], found[3]
    elif call := C_CALL.match(line):
        if call[2].split("(")[0] not in ("return", "sizeof", "while", "if", "for", "switch"):
            yield Mutant(file, number, "the call is left out", call[1], call[2], "", call[3])
        return
    else:
        return
    for what, wrong in mistakes(inner, bool(condition)):
        yield Mutant(file, number, what, before, wrong, inner, after)


def of_go(file: str, number: int, line: str) -> Iterator[Mutant]:
    condition = None if GO_LOOP.match(line) else GO_CONDITION.match(line) or GO_CASE.match(line)
    if condition:
        inner = condition[2].replace(", ", " || ") if GO_CASE.match(line) else condition[2]
        yield Mutant(file, number, "the condition is turned round", condition[1], f"!({inner})", inner, condition[3])
        for what, wrong in mistakes(inner, True):
            yield Mutant(file, number, what, condition[1], wrong, inner, condition[3])
        return
    value, statement = GO_VALUE.match(line), GO_STATEMENT.match(line)
    mistaken = (
        list(mistakes(value[2])) if value and (is_boolean(value[2]) or not re.search(r"[(\[*/%\"]", value[2])) else []
    )
    if value and mistaken:
        for what, wrong in mistaken:
            yield Mutant(file, number, what, value[1], wrong, value[2], value[3])
    elif statement:
        yield Mutant(file, number, "the statement is left out", statement[1], statement[2], "", "")


def closing(text: str) -> int:
    """Index of the parenthesis that closes the first character; -1 if it is not in this line."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i
    return -1


def mistakes(expression: str, turned: bool = False) -> Iterator[tuple[str, str]]:
    """turned: there is also a mutant that inverts the whole, so a single == or != needs none of its own."""
    single = turned and len(OPERATOR.findall(expression)) == 1
    for match in OPERATOR.finditer(expression):
        to = SWAPS[match[0]]
        if single and match[0] in ("==", "!="):
            continue
        yield f"{match[0]} is {to}", expression[: match.start()] + to + expression[match.end() :]
    for match in NUMBER.finditer(expression):
        more = str(int(match[0]) + 1)
        yield f"{match[0]} is {more}", expression[: match.start()] + more + expression[match.end() :]


def is_boolean(expression: str) -> bool:
    return bool(re.search(r" (?:[=!<>]=|[<>]|&&|\|\|) |^!", expression))


def lay_out(root: Path, sources: Path, chosen: dict[int, Mutant]) -> None:
    """Writes the code with the mutants into a copy of the tree. Several mutants of a line are nested."""
    for file in {m.file for m in chosen.values()}:
        lines = (root / file).read_text().splitlines()
        by_line: dict[int, list[tuple[int, Mutant]]] = {}
        for number, mutant in chosen.items():
            if mutant.file == file:
                by_line.setdefault(mutant.line, []).append((number, mutant))
        go = file.endswith(".go")
        for line, several in by_line.items():
            lines[line] = nest(several, go)
        path = sources / file
        path.write_text(("" if go else C_HEADER) + "\n".join(lines) + "\n")
        path.with_name(GO_FILE if go else C_FILE).write_text(GO_SOURCE % path.parent.name if go else C_SOURCE)


def nest(several: list[tuple[int, Mutant]], go: bool) -> str:
    number, first = several[0]
    if not first.right:
        left_out = (
            f"if !isMutant({number}) {{ {first.wrong} }}" if go else f"{{ if (!gd_mutant({number})) {first.wrong} }}"
        )
        return f"{first.before}{left_out}{first.after}"
    boolean = re.match(r"\s*(?:\} else )?(?:if|for|case) ", first.before) or is_boolean(first.right)
    choice = first.right
    for n, mutant in several:
        if not go:
            choice = f"(gd_mutant({n}) ? ({mutant.wrong}) : ({choice}))"
        elif boolean:
            choice = f"(isMutant({n}) && ({mutant.wrong}) || !isMutant({n}) && ({choice}))"
        else:
            choice = f"pickMutant({n}, {mutant.wrong}, {choice})"
    return f"{first.before}{choice}{first.after}"
