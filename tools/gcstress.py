"""Runs tests against a module that exposes errors in the use of Go's memory: `tox -e gc`, `tox -e gc -- -k threads`.

Each entry into Go, and each call of a Go function, moves the stack and collects garbage (internal/gcstress). Collected
memory is overwritten, and Go checks each pointer that it stores for C (cgocheck2). This finds pointers that C keeps
against cgo's rules and pointers that Go hides from its collector.
"""

import os
import subprocess
import sys

import extension

# Without tests that use much memory, start other processes, or check the wheel.
TESTS = ["buffer", "device", "dlpack_method", "dtype", "from_dlpack", "malformed_input", "jax", "lifetime"]
TESTS += ["numpy", "pickle", "parity", "rules", "table", "tensor", "threads", "torch", "torch_op", "tvm_ffi"]
TESTS += [
    "functions",
    "go_library",
    "classes",
    "values",
    "options",
    "attributes",
    "shared_results",
    "iterators",
    "sequences",
    "tasks",
    "context",
    "progress",
]
PACKAGES = ["./packed", "./kernel", "./internal/elementwise", "./library", "./tvmffi"]  # those with pointers in values

LONG = [  # up to 300,000 crossings, each with a garbage collection
    "tests/test_lifetime.py::test_long_chain",
    "tests/test_classes.py::test_random_use",
    "tests/test_classes.py::test_returned_while_it_is_dropped",
    "tests/test_iterators.py::test_many_ends",
    "tests/test_tasks.py::test_cancelled_at_random",
    "tests/test_tasks.py::test_no_thread_for_each_call",
]

TAG = "-tags=gcstress"
HOSTILE = {"GODEBUG": "clobberfree=1", "GOGC": "1"}


def go_tests() -> int:
    """The exit status of these packages' Go tests."""
    command = ["go", "test", TAG, "-count=1", *PACKAGES]
    return subprocess.run(command, cwd=extension.ROOT, env=os.environ | HOSTILE).returncode


def main() -> int:
    arguments = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    with extension.built(TAG, GOEXPERIMENT="cgocheck2") as folder:
        # Tests build libraries of Go functions with these flags, too.
        unwanted = [f"--deselect={test}" for test in LONG]
        status = extension.test(
            folder,
            *arguments,
            *unwanted,
            "--numprocesses=2",
            "--dist=worksteal",
            **HOSTILE,
            GOFLAGS=TAG,
            GODLPACK_FUZZ="5000",
        )
    if not sys.argv[1:]:
        status = status or go_tests()
    return status


if __name__ == "__main__":
    sys.exit(main())
