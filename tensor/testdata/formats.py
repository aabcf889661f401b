"""Writes formats.txt, what ml_dtypes and numpy say about the small float formats.

    python formats.py > formats.txt

Lines: `format NAME`, then `decode CODE=VALUE ...` and `encode VALUE=CODE ...`. A value is the bits of a
float32 in hexadecimal. Codes of 16-bit formats are sampled here; `sha256` covers all of their decodings
(float32, little-endian, every NaN written as 7fc00000).

The encoded values are float32 on purpose: ml_dtypes converts a float64 by way of float32 and so rounds
twice. For values that float32 holds both routes meet.
"""

import hashlib

import ml_dtypes
import numpy as np

NAMES = [
    "float16",
    "bfloat16",
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
EDGES = [0.0, 1.0, 3.0, 1e-45, 1e-40, 1e-30, 2.0**-127, 2.0**-128, 1e10, 3.4e38, np.inf, np.nan]


def values(dtype, bits):
    unsigned = np.uint8 if dtype.itemsize == 1 else np.uint16
    value = np.arange(2**bits).astype(unsigned).view(dtype).astype(np.float32)
    value[np.isnan(value)] = np.uint32(0x7FC00000).view(np.float32)
    return value


def probes(value, step):
    """Midpoints between neighbours, one float32 below and above each, the overflow edge and a few more."""
    finite = np.unique(value[np.isfinite(value)]).astype(np.float64)
    overflow = finite[-1] + (finite[-1] - finite[-2]) * np.array([0.5, 1])
    middle = (finite[1:] + finite[:-1]) / 2
    middle = np.concatenate([middle[::step], middle[-3:], overflow, -overflow, finite[:: max(step, 8)]]).astype(
        np.float32
    )
    around = [np.nextafter(middle, np.float32(s * np.inf)) for s in (-1, 1)]
    edges = np.array(EDGES, np.float32)
    return np.concatenate([middle, *around, edges, -edges])


def main():
    np.seterr(all="ignore")
    for name in NAMES:
        dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
        bits = {"float6": 6, "float4": 4}.get(name[:6], 8 * dtype.itemsize)
        step = 331 if bits == 16 else 1
        value = values(dtype, bits)
        print("format", name)
        print("sha256", hashlib.sha256(value.astype("<f4").tobytes()).hexdigest())
        print("decode", *(f"{c:x}={v:x}" for c, v in list(enumerate(value.view(np.uint32)))[::step]))
        point = np.unique(probes(value, step).view(np.uint32)).view(np.float32)
        if name == "float8_e8m0fnu":  # there ml_dtypes rounds subnormals of float32 away from the nearest
            point = point[~((point > 2.0**-127) & (point < 1.5 * 2.0**-127))]
        code = point.astype(dtype).view(np.uint8 if dtype.itemsize == 1 else np.uint16)
        print("encode", *(f"{v:x}={c:x}" for v, c in zip(point.view(np.uint32), code, strict=True)))


main()
