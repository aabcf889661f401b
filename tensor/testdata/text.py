"""Writes text.json: arrays, and how numpy writes them.

    python text.py > text.json

The floats are numpy's floatmode "unique": the shortest decimal that reads back. `data` is the memory in
hexadecimal; instead, `arange` fills the shape with 0, 1, 2, ... An `indent` stands for numpy's prefix.
`scalars` are single numbers.
"""

import json

import numpy as np

nan, inf = np.nan, np.inf
ARRAYS = [
    ("float64", [[0, 1], [2, 3]]),
    ("float32", [[0, 1], [2, 3]]),
    ("float64", [1.5, nan, inf]),
    ("float64", [nan, -inf]),
    ("float64", [nan, nan]),
    ("float64", [inf, 1e-5, -2]),
    ("float64", [-0.0, 0.0]),
    ("float64", [0.1, 1 / 3, -100]),
    ("float64", [1e16, 1]),
    ("float64", [1e-5, 1]),
    ("float64", [12345.678, 1e-4, 1]),
    ("float64", [1e100, 1.5e-7, 2]),
    ("float64", [1e300, 1e-300, nan]),
    ("float64", [99999999, 1000000]),
    ("float64", [100000000]),
    ("float64", [0.0001, 0.1]),
    ("float64", [0.00009]),
    ("float64", [1001, 1]),
    ("float64", [1000, 1]),
    ("float64", [5e-324, 1.7976931348623157e308]),
    ("float64", 5),
    ("float64", 1e20),
    ("float64", nan),
    ("float64", []),
    ("float64", [[[1.25]]]),
    ("float32", [0.1, 1 / 3, 16777216]),
    ("float32", [999999, 1000]),
    ("float32", [1000000]),
    ("float32", [3.4028235e38, 1e-45]),
    ("float16", [0.1, 3.14, -2]),
    ("float16", [65504, 6e-8]),
    ("float16", [999, 1]),
    ("float16", [1000]),
    ("float16", 0.015625),
    ("complex64", [1 + 2j, 1.5 - 3.25j]),
    ("complex128", [1 + 2j, 1.5 - 3.25j, complex(nan, inf)]),
    ("complex128", [[1e-10 + 1j, 100 - 2.5j]]),
    ("complex128", [1e20 + 1j, -1j]),
    ("complex128", 1 + 2j),
    ("bool", [True, False]),
    ("bool", [[True], [True]]),
    ("bool", True),
    ("int8", [-128, 127, 0]),
    ("int32", [[1, -20], [300, 4]]),
    ("int64", [-(2**63), 0]),
    ("uint64", [2**64 - 1, 0]),
    ("uint8", 7),
]
RANGES = [
    ("float64", (40,), 0), ("float32", (3, 30), 0), ("float32", (3, 30), 7), ("int64", (100,), 0), ("int64", (1000,), 0),
    ("int64", (1001,), 0), ("float64", (2, 1000), 0), ("int32", (10, 10, 12), 0), ("int32", (2, 2, 2, 2), 7),
    ("int32", (7, 1000), 7), ("int32", (6, 1000), 0), ("complex64", (2, 12), 0), ("int16", (1500, 1, 2), 0),
]  # fmt: skip
SCALARS = [
    ("float64", 1.0), ("float64", 1e15), ("float64", 1e16), ("float64", 0.0001), ("float64", 0.00001), ("float64", -1.5e-7),
    ("float64", nan), ("float64", -inf), ("float64", -0.0), ("float64", 1e100), ("float32", 0.1), ("float32", 999999),
    ("float32", 1e6), ("float32", 16777216), ("float16", 0.1), ("float16", 65504), ("float16", 999), ("int8", -5),
    ("uint64", 2**64 - 1), ("bool", True), ("bool", False), ("complex128", 1 + 2j), ("complex128", 1.5), ("complex64", -1j),
    ("complex128", complex(nan, -inf)), ("complex128", 1e20 + 1e-7j),
]  # fmt: skip


def memory(array):
    return array.tobytes().hex()


def main():
    np.set_printoptions(floatmode="unique")
    arrays = []
    for dtype, values in ARRAYS:
        array = np.array(values, dtype)
        case = {"dtype": dtype, "shape": array.shape, "data": memory(array)}
        arrays.append(case | {"text": np.array2string(array, separator=", ")})
    for dtype, shape, indent in RANGES:
        array = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
        text = np.array2string(array, separator=", ", prefix=" " * indent)
        arrays.append({"dtype": dtype, "shape": shape, "arange": True, "indent": indent, "text": text})
    scalars = []
    for dtype, value in SCALARS:
        scalar = np.dtype(dtype).type(value)
        scalars.append({"dtype": dtype, "data": memory(np.array(scalar)), "text": str(scalar)})
    print(json.dumps({"arrays": arrays, "scalars": scalars}, indent=1))


main()
