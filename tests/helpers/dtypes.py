"""The dtypes with a name, by DLPack's code, bits and lanes, and the libraries that have them."""

DTYPES = {
    "bool": (6, 8, 1),
    "int4": (0, 4, 1),
    "int8": (0, 8, 1),
    "int16": (0, 16, 1),
    "int32": (0, 32, 1),
    "int64": (0, 64, 1),
    "int128": (0, 128, 1),
    "uint1": (1, 1, 1),
    "uint4": (1, 4, 1),
    "uint8": (1, 8, 1),
    "uint16": (1, 16, 1),
    "uint32": (1, 32, 1),
    "uint64": (1, 64, 1),
    "uint128": (1, 128, 1),
    "float16": (2, 16, 1),
    "float32": (2, 32, 1),
    "float64": (2, 64, 1),
    "float128": (2, 128, 1),
    "handle": (3, 64, 1),
    "bfloat16": (4, 16, 1),
    "complex32": (5, 32, 1),
    "complex64": (5, 64, 1),
    "complex128": (5, 128, 1),
    "float8_e3m4": (7, 8, 1),
    "float8_e4m3": (8, 8, 1),
    "float8_e4m3b11fnuz": (9, 8, 1),
    "float8_e4m3fn": (10, 8, 1),
    "float8_e4m3fnuz": (11, 8, 1),
    "float8_e5m2": (12, 8, 1),
    "float8_e5m2fnuz": (13, 8, 1),
    "float8_e8m0fnu": (14, 8, 1),
    "float6_e2m3fn": (15, 6, 1),
    "float6_e3m2fn": (16, 6, 1),
    "float4_e2m1fn": (17, 4, 1),
    "bcomplex32": (18, 32, 1),
    "float32x4": (2, 32, 4),
    "float16x2": (2, 16, 2),
    "uint8x3": (1, 8, 3),
    "bfloat16x2": (4, 16, 2),
    "float4_e2m1fnx2": (17, 4, 2),
    "int4x8": (0, 4, 8),
}

NUMPY = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

ML_DTYPES = ["bfloat16", *(name for name in DTYPES if name.startswith("float8_"))]

TORCH = [
    *NUMPY, "bfloat16", "complex32",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip

JAX = [*NUMPY, *ML_DTYPES]

FORMATS = {  # of module struct
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "complex64": "Zf",
    "complex128": "Zd",
}


def nbytes(name: str, count: int) -> int:
    """Size of count elements without gaps in bytes; elements below 8 bits are packed (R22)."""
    _, bits, lanes = DTYPES[name]
    return (count * bits * lanes + 7) // 8
