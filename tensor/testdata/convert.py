"""Writes convert.txt, what numpy and ml_dtypes do when they convert arrays from one type to another.

    python convert.py > convert.txt

A line `SOURCE TARGET SHA256` is the hash of the converted bytes, little-endian, sub-byte types one to a byte with
their unused bits zero. The sources of up to 16 bits are all their codes; complex32 has every code as its real part
and code * 40503 as its imaginary part; wider ones are the probes below, which convert_test.go makes in the same way.
`-` stands for a pair that ml_dtypes does not offer, and for complex32 to bool.

Left out are the floats for which the libraries have no rule:

- beyond the range of uint32 numpy's result depends on the length of the array and the place in it;
- float64 between 2147483647 and 2147483648 becomes 0 in ml_dtypes' integers, others are truncated;
- complex32 to bool is false in ml_dtypes where the real part, made a uint8, is 0.
"""

import hashlib
import sys
import warnings

import ml_dtypes
import numpy as np

NUMPY = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ML_DTYPES = [
    "int1",
    "int2",
    "int4",
    "uint1",
    "uint2",
    "uint4",
    "bfloat16",
    "complex32",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
]
BITS = {
    "int1": 1,
    "uint1": 1,
    "int2": 2,
    "uint2": 2,
    "int4": 4,
    "uint4": 4,
    "float4_e2m1fn": 4,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
    "bool": 1,
}
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name) if name in ML_DTYPES else name)


def probes32():
    """float32 bits: every exponent with mantissas around where formats round, and many without a pattern."""
    mantissas = [0, 1, 0x7FFFFF] + [
        m for k in range(23) for m in ((1 << k) - 1, 1 << k, (1 << k) + 1, 3 << k & 0x7FFFFF, 5 << k & 0x7FFFFF)
    ]
    edges = (np.arange(512, dtype=np.uint64)[:, None] << np.uint64(23) | np.array(mantissas, np.uint64)).ravel()
    some = np.arange(1 << 17, dtype=np.uint64) * GOLDEN >> np.uint64(32)
    return np.concatenate([edges, some]).astype(np.uint32)


def probes64():
    """float64 bits: those of the float32 probes with three tails each, and many without a pattern."""
    value = probes32()
    value = value[value >> 23 & 255 != 255].view(np.float32).astype(np.float64).view(np.uint64)
    some = np.arange(1 << 17, dtype=np.uint64) * GOLDEN
    special = np.array(
        [
            0,
            1,
            1 << 63,
            0x7FF << 52,
            0xFFF << 52,
            0x7FF8 << 48,
            0xFFF8 << 48,
            (0x7FF << 52) + 1,
            (0x7FF << 52) + (1 << 41),
        ],
        np.uint64,
    )
    return np.concatenate([value, value + np.uint64(1), value - np.uint64(1), some, special])


def integers():
    """64 random bits, shifted right by 0 to 63."""
    at = np.arange(1 << 17, dtype=np.uint64)
    return at * GOLDEN >> at % np.uint64(64)


def source(name):
    if name == "complex32":
        code = np.arange(1 << 16, dtype=np.uint32)
        return (code | (code * np.uint32(40503) << np.uint32(16))).view(dtype(name))
    if name in ("complex64", "complex128"):
        part = probes32() if name == "complex64" else probes64()
        return np.stack([part, part[::-1]], axis=1).copy().view(dtype(name)).ravel()
    if name in ("float32", "float64"):
        return (probes32() if name == "float32" else probes64()).view(dtype(name))
    if name[-2:] in ("32", "64"):
        return integers().astype(dtype(name))
    bits = BITS.get(name, 8 * dtype(name).itemsize)
    return np.arange(1 << bits).astype(np.uint8 if bits <= 8 else np.uint16).view(dtype(name))


def convert(values, target):
    """The conversion of all elements but those that the docstring leaves out."""
    if values.dtype.name in ("float32", "float64", "complex64", "complex128"):
        real = values.real.astype(np.float64)
        if target == "uint32":
            values = values[(real > -2147483649) & (real < 4294967296)]
        elif target in BITS and "int" in target:
            values = values[~((real > 2147483647) & (real < 2147483648))]
    got = values.astype(dtype(target))
    got = np.frombuffer(got.tobytes(), np.uint8)
    return got & np.uint8((1 << BITS[target]) - 1) if target in BITS else got


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if len(sys.argv) == 3:  # SOURCE TARGET: the converted bytes themselves, to look for a difference
        sys.stdout.buffer.write(convert(source(sys.argv[1]), sys.argv[2]).tobytes())
        return
    print("# numpy", np.__version__, "ml_dtypes", ml_dtypes.__version__)
    for s in NUMPY + ML_DTYPES:
        values = source(s)
        for d in NUMPY + ML_DTYPES:
            try:
                if (s, d) == ("complex32", "bool"):
                    raise TypeError
                print(s, d, hashlib.sha256(convert(values, d).tobytes()).hexdigest())
            except TypeError:
                print(s, d, "-")


main()
