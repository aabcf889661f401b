"""Work in a forked child: a crash or a hang there does not end the checking process."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import IO, Any

AVAILABLE = hasattr(os, "fork")
PATIENCE = 60.0  # seconds until work counts as hung


@dataclass(frozen=True)
class Death:
    """How a child ended during its work; `hung` if it had to be killed."""

    how: str
    hung: bool = False


def results(tasks: Sequence[Callable[[], Any]], patience: float | None = None) -> Iterator[Any]:
    """Each task's result, pickled, or the Death of the child that ran it. A new child then runs the remaining tasks."""
    done = 0
    while done < len(tasks):
        with tempfile.TemporaryFile() as words, _Child(tasks[done:], words) as child:
            result: Any = None
            while done < len(tasks) and not isinstance(result, Death):
                result = child.result(PATIENCE if patience is None else patience)
                done += 1
                yield result


class _Child:
    def __init__(self, tasks: Sequence[Callable[[], Any]], words: IO[bytes]) -> None:
        self._reader, writer = connection.Pipe(duplex=False)
        self._words = words
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about forks in a process with threads: intended here
            self._pid = os.fork()
        if self._pid == 0:
            _work(tasks, writer, words)
        writer.close()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            self._wait()

    def _wait(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def result(self, patience: float) -> Any:
        if not self._reader.poll(patience):
            return Death(f"no end within {patience:g} s", hung=True)
        try:
            return self._reader.recv()
        except EOFError:
            status = self._wait()
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        self._words.seek(0)
        words = self._words.read(4096).decode(errors="replace").split("\n")
        said = next((line.strip() for line in words if line.strip()), "")
        return Death(f"the end of the process by {how}" + (f": {said}" if said else ""))


def _work(tasks: Sequence[Callable[[], Any]], writer: connection.Connection, words: IO[bytes]) -> None:
    """Runs the tasks in the child."""
    try:
        faulthandler.disable()
        os.dup2(words.fileno(), 1)
        os.dup2(words.fileno(), 2)
        _leave_no_core()
        gc.freeze()
        for task in tasks:
            writer.send(task())
    finally:
        os._exit(0)  # without running the parent's exit handlers


def _leave_no_core() -> None:
    import resource  # Unix only, like fork

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
