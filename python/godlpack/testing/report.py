"""What a check found, and how checks are written.

A check is a function that returns if its rule holds, raises Broken if not, and NotApplicable if it cannot tell. Any
other exception means that the rule was broken, too: a check asks for nothing that a rule allows to fail.

    checks = Checks()

    @checks.rule("R13", "the deleter is not NULL")
    def deleter(managed):
        if not managed.deleter:
            raise Broken("NULL")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Outcome(Enum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "FAILED"
    NOT_APPLICABLE = "n/a"


class Broken(Exception):  # noqa: N818
    """A rule does not hold; the text is what was seen."""


class NotApplicable(Exception):  # noqa: N818
    """A check cannot tell; the text is why."""


class ConformanceError(AssertionError):
    """A report is not as it was expected."""


@dataclass(frozen=True)
class Finding:
    """The outcome of one check: of which rule, what was wanted, what came."""

    rule: str
    check: str
    outcome: Outcome
    wanted: str
    got: str = ""

    @property
    def name(self) -> str:
        """The rule and the check, such as "R13 deleter": what raise_if_failed calls it."""
        return f"{self.rule} {self.check}"

    def __str__(self) -> str:
        got = f"; got {self.got}" if self.got else ""
        return f"{self.name:<28} {self.outcome.value:<7} {self.wanted}{got}"


@dataclass(frozen=True)
class Report:
    """What the checks found about a subject, in the order of the rules. str(report) is a table."""

    subject: str
    findings: tuple[Finding, ...]

    def _of(self, outcome: Outcome) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.outcome is outcome)

    @property
    def passed(self) -> tuple[Finding, ...]:
        """What holds."""
        return self._of(Outcome.PASSED)

    @property
    def failed(self) -> tuple[Finding, ...]:
        """What does not hold."""
        return self._of(Outcome.FAILED)

    @property
    def not_applicable(self) -> tuple[Finding, ...]:
        """What could not be told."""
        return self._of(Outcome.NOT_APPLICABLE)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    def raise_if_failed(self, known: Collection[str] = ()) -> None:
        """Raises ConformanceError unless exactly the known checks failed, such as "R13 deleter": a known failure that is
        gone is to be struck from the list."""
        failed = {f.name for f in self.failed}
        lines = [str(f) for f in self.failed if f.name not in known]
        lines += [f"{name:<28} is known to fail, and did not" for name in sorted(set(known) - failed)]
        if lines:
            raise ConformanceError("\n".join([f"{self.subject}:", *lines]))

    def __str__(self) -> str:
        counts = f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.not_applicable)} not applicable"
        return "\n".join([f"{self.subject}: {counts}", *map(str, self.findings)])


@dataclass(frozen=True)
class Check:
    """A function that checks a rule, and the rule in words."""

    rule: str
    wanted: str
    function: Callable[..., None]
    dangerous: bool = False

    def run(self, *arguments: Any) -> Finding:
        """What the function finds."""
        outcome, got = Outcome.PASSED, ""
        try:
            self.function(*arguments)
        except NotApplicable as reason:
            outcome, got = Outcome.NOT_APPLICABLE, str(reason)
        except Broken as reason:
            outcome, got = Outcome.FAILED, str(reason)
        except Exception as error:
            outcome, got = Outcome.FAILED, told(error)
        return Finding(self.rule, self.function.__name__, outcome, self.wanted, got)


class Checks(list[Check]):
    """Checks of one kind, as they were written down."""

    def rule(
        self, rule: str, wanted: str, dangerous: bool = False
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Adds the decorated function. A dangerous check is known to end the process of some."""

        def add(function: Callable[..., None]) -> Callable[..., None]:
            self.append(Check(rule, wanted, function, dangerous))
            return function

        return add

    def run(self, subject: str, samples: Iterable[tuple[Any, ...]], dangerous: bool = False) -> Report:
        """Runs each check on each sample. A rule holds if it is broken by no sample, and tried on one."""
        samples = list(samples)
        checks = sorted((c for c in self if dangerous or not c.dangerous), key=lambda c: int(c.rule[1:]))
        return Report(subject, tuple(_worst([check.run(*sample) for sample in samples]) for check in checks))


def _worst(findings: list[Finding]) -> Finding:
    order = (Outcome.FAILED, Outcome.PASSED, Outcome.NOT_APPLICABLE)
    return min(findings, key=lambda f: order.index(f.outcome))


def told(error: BaseException) -> str:
    """An exception in one line.

    >>> told(ValueError("no"))
    'ValueError: no'
    """
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".removesuffix(": ")


def demand(holds: object, got: object) -> None:
    """Raises Broken with what came, unless it holds."""
    if not holds:
        raise Broken(str(got))
