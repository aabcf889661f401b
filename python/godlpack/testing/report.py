"""Reports, and how checks are written.

A check is a function that returns if its rule holds, raises Broken if not, and NotApplicable if it cannot decide. Any
other exception also means that the rule is broken: a check makes only calls that must succeed. A check has three texts:
the number of the rule, what is wanted, and the remedy.

    checks = Checks()

    @checks.rule("R13", "the deleter is not NULL", "set a function that does nothing")
    def deleter(managed):
        if not managed.deleter:
            raise Broken("NULL")
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from . import isolation

REHEARSAL = 10.0  # seconds for a call that any subject that works in a forked child can do


class Outcome(Enum):
    """Outcome of a check."""

    PASSED = "passed"
    FAILED = "FAILED"
    NOT_APPLICABLE = "n/a"


class Broken(Exception):  # noqa: N818
    """A rule does not hold; the text is what was observed."""


class NotApplicable(Exception):  # noqa: N818
    """A check cannot decide; the text gives the reason."""


class ConformanceError(AssertionError):
    """A report differs from what was expected."""


@dataclass(frozen=True)
class Finding:
    """Outcome of one check.

    Attributes
    ----------
    rule : str
        The rule, such as "R13"; see docs/conformance.md.
    check : str
        Name of the check.
    outcome : Outcome
        Passed, failed or not applicable.
    wanted : str
        What the rule wants.
    got : str
        What came, or why the check could not tell.
    remedy : str
        What to do if the check failed.
    """

    rule: str
    check: str
    outcome: Outcome
    wanted: str
    got: str = ""
    remedy: str = ""

    @property
    def name(self) -> str:
        """Rule and check, such as "R13 deleter"; `known` has these names."""
        return f"{self.rule} {self.check}"

    def __str__(self) -> str:
        got = f"; got {self.got}" if self.got else ""
        line = f"{self.name:<28} {self.outcome.value:<7} {self.wanted}{got}"
        return f"{line}\n{'':<28} to do:  {self.remedy}" if self.outcome is Outcome.FAILED and self.remedy else line


@dataclass(frozen=True)
class Report:
    """Findings of all checks about one subject.

    ``str(report)`` is a table.

    Attributes
    ----------
    subject : str
        Name of the subject.
    findings : tuple of Finding
        The findings, in the order of the rules.
    """

    subject: str
    findings: tuple[Finding, ...]

    def _of(self, outcome: Outcome) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.outcome is outcome)

    @property
    def passed(self) -> tuple[Finding, ...]:
        """Findings of the checks that passed."""
        return self._of(Outcome.PASSED)

    @property
    def failed(self) -> tuple[Finding, ...]:
        """Findings of the checks that failed."""
        return self._of(Outcome.FAILED)

    @property
    def not_applicable(self) -> tuple[Finding, ...]:
        """Findings of the checks that could not tell."""
        return self._of(Outcome.NOT_APPLICABLE)

    @property
    def ok(self) -> bool:
        """True if no check failed."""
        return not self.failed

    def raise_if_failed(self, known: Collection[str] = ()) -> None:
        """Raise unless exactly the known checks failed.

        Parameters
        ----------
        known : collection of str, optional
            Names of the checks that are known to fail, such as "R13
            deleter".

        Raises
        ------
        ConformanceError
            Another check failed, or a known one did not: remove that one
            from the list.
        """
        failed = {f.name for f in self.failed}
        lines = [str(f) for f in self.failed if f.name not in known]
        lines += [f"{name:<28} is known to fail, but did not" for name in sorted(set(known) - failed)]
        if lines:
            raise ConformanceError("\n".join([f"{self.subject}:", *lines]))

    @property
    def headline(self) -> str:
        """Subject, and the numbers of checks that passed and failed."""
        counts = f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.not_applicable)} not applicable"
        return f"{self.subject}: {counts}"

    def __str__(self) -> str:
        return "\n".join([self.headline, *map(str, self.findings)])


@dataclass(frozen=True)
class Check:
    """A function that checks a rule, with the rule's texts."""

    rule: str
    wanted: str
    remedy: str
    function: Callable[..., None]
    dangerous: bool = False
    once: bool = False

    @property
    def name(self) -> str:
        """Rule and check, such as "R13 deleter"."""
        return f"{self.rule} {self.function.__name__}"

    def run(self, *arguments: Any) -> Finding:
        """Runs the function and returns its finding."""
        try:
            self.function(*arguments)
        except NotApplicable as reason:
            return self.found(Outcome.NOT_APPLICABLE, str(reason))
        except Broken as reason:
            return self.found(Outcome.FAILED, str(reason))
        except Exception as error:
            return self.found(Outcome.FAILED, told(error))
        return self.found(Outcome.PASSED)

    def found(self, outcome: Outcome, got: str = "") -> Finding:
        """A finding of this check."""
        return Finding(self.rule, self.function.__name__, outcome, self.wanted, got, self.remedy)

    def run_here(self, *arguments: Any) -> Finding:
        """Runs the function in this process, unless it is known to end the process of some libraries."""
        if self.dangerous:
            return self.found(Outcome.NOT_APPLICABLE, "may end the process: runs in a forked child only")
        return self.run(*arguments)


class Checks(list[Check]):
    """Checks of one kind, in the order of their definition."""

    def rule(
        self, rule: str, wanted: str, remedy: str, *, dangerous: bool = False, once: bool = False
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Adds the decorated function. dangerous: known to end the process of some libraries. once: takes long and does
        not depend on the sample, so it runs on the first sample only."""

        def add(function: Callable[..., None]) -> Callable[..., None]:
            self.append(Check(rule, wanted, remedy, function, dangerous, once))
            return function

        return add

    def run(
        self,
        subject: str,
        samples: Iterable[tuple[Any, ...]],
        isolated: bool | None = None,
        rehearsal: Callable[..., object] = lambda *_: None,
    ) -> Report:
        """Runs each check on each sample. A rule holds if it is tried on a sample and no sample breaks it.

        isolated: run in a forked child. None: yes if forks are available and the rehearsal returns from one.
        """
        samples = list(samples)
        checks = sorted(self, key=lambda check: int(check.rule[1:]))
        found: dict[str, list[Finding]] = {check.name: [] for check in checks}
        for number, sample in enumerate(samples):
            due = [check for check in checks if number == 0 or not check.once]
            for finding in _found(due, sample, isolated, rehearsal):
                found[finding.name].append(finding)
        return Report(subject, tuple(map(_worst, found.values())))


def _found(
    checks: list[Check], sample: tuple[Any, ...], isolated: bool | None, rehearsal: Callable[..., object]
) -> Iterator[Finding]:
    if isolated is None:
        isolated = isolation.AVAILABLE and _can_be_forked(sample, rehearsal)
    if not isolated:
        gc.freeze()  # checks collect garbage, which takes long with the objects of other modules
        yield from (check.run_here(*sample) for check in checks)
        gc.unfreeze()
        return
    results = isolation.results([lambda check=check: check.run(*sample) for check in checks])  # type: ignore[misc]
    for check, result in zip(checks, results, strict=True):
        yield check.found(Outcome.FAILED, result.how) if isinstance(result, isolation.Death) else result


def _can_be_forked(sample: tuple[Any, ...], rehearsal: Callable[..., object]) -> bool:
    """Whether the rehearsal returns in a forked child: a subject may wait there for threads that do not exist."""

    def rehearse() -> None:
        with contextlib.suppress(Exception):  # the checks report it
            rehearsal(*sample)

    (result,) = isolation.results([rehearse], REHEARSAL)
    return not (isinstance(result, isolation.Death) and result.hung)


def _worst(findings: list[Finding]) -> Finding:
    order = (Outcome.FAILED, Outcome.PASSED, Outcome.NOT_APPLICABLE)
    number, worst = min(enumerate(findings, 1), key=lambda pair: order.index(pair[1].outcome))
    if worst.outcome is Outcome.FAILED and len(findings) > 1:
        return replace(worst, got=f"{worst.got} (sample {number} of {len(findings)})")
    return worst


def told(error: BaseException) -> str:
    """An exception in one line.

    >>> told(ValueError("no"))
    'ValueError: no'
    """
    lines = str(error).splitlines()
    text = f"{type(error).__name__}: {lines[0] if lines else ''}".removesuffix(": ")
    return f"{text}, from {told(error.__cause__)}" if error.__cause__ else text


def demand(holds: object, got: object) -> None:
    """Raises Broken with what was observed, unless the condition holds."""
    if not holds:
        raise Broken(str(got))
