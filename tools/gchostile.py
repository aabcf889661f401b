"""Runs tests against a module in which Go's memory is as unsafe as it may be: `tox -e gc`, or `tox -e gc -- -k threads`.

Each entry into Go moves the stack and collects garbage (internal/cpython/hostile.go), what is collected is
overwritten, and Go checks each pointer that it stores for C (cgocheck2). What C kept against cgo's rules is found.
"""

import sys

import extension

# Not those that fill much memory, start other processes, or ask the wheel.
TESTS = ["buffer", "device", "dlpack_method", "dtype", "from_dlpack", "hostile", "jax", "lifetime", "no_memory"]
TESTS += ["numpy", "pickle", "points", "rules", "table", "tensor", "threads", "torch", "tvm_ffi"]


def main() -> int:
    arguments = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    with extension.built("-tags=gchostile", GOEXPERIMENT="cgocheck2") as folder:
        return extension.test(folder, *arguments, GODEBUG="clobberfree=1", GOGC="1", GODLPACK_FUZZ="5000")


if __name__ == "__main__":
    sys.exit(main())
