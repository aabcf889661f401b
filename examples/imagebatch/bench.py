"""Pictures per second, of imagebatch and of Pillow in threads: python -P bench.py [--files 64] [--rounds 7]

Photographs of 500 x 375 pixels (as most of ImageNet are) go from memory into a uint8 batch tensor of torch, 224 x 224. All
take turns in each round; what counts is each one's best round. Besides the time on the clock there is that of all
processors together, which other work on the machine disturbs less.
"""

import argparse
import io
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import PIL
import torch
from PIL import Image, features

import godlpack
import imagebatch

sys.path.insert(0, str(Path(__file__).with_name("tests")))
from pictures import encoded, picture

SIDE = 224
THREADS = len(os.sched_getaffinity(0))
Files = list[bytes]


def ours(files: Files) -> torch.Tensor:
    return imagebatch.decode_bytes(files, SIDE, SIDE, like=torch.Tensor)


def pillow(file: bytes, place: np.ndarray, *, draft: bool = False) -> None:
    image = Image.open(io.BytesIO(file))
    if draft:
        image.draft("RGB", (SIDE, SIDE))
    place[:] = np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)).transpose(2, 0, 1)


def in_threads(pool: ThreadPoolExecutor, **options: bool) -> Callable[[Files], torch.Tensor]:
    """Pillow lets other threads run while it decodes and scales."""

    def decode(files: Files) -> torch.Tensor:
        batch = torch.empty(len(files), 3, SIDE, SIDE, dtype=torch.uint8)
        list(pool.map(lambda file, place: pillow(file, place, **options), files, batch.numpy()))
        return batch

    return decode


def measure(
    ways: dict[str, Callable[[Files], torch.Tensor]], files: Files, rounds: int
) -> dict[str, tuple[float, float]]:
    """Each way's least seconds, on the clock and of the processors."""
    best = {name: (float("inf"), float("inf")) for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            clock, processors = time.perf_counter(), time.process_time()
            way(files)
            spent = time.perf_counter() - clock, time.process_time() - processors
            best[name] = tuple(map(min, best[name], spent))
    return best


def report(format: str, files: Files, rounds: int) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        ways = {"imagebatch": ours, "Pillow in threads": in_threads(pool)}
        if format == "JPEG":
            ways["Pillow in threads, with draft()"] = in_threads(pool, draft=True)
        best = measure(ways, files, rounds)
        difference = np.abs(ours(files).numpy() - in_threads(pool)(files).numpy().astype(np.int16)).mean()
    least = best["imagebatch"]
    for name, (clock, processors) in best.items():
        print(
            f"| {format} | {name} | {len(files) / clock:,.0f} | {clock / least[0]:.2f} | "
            f"{1e3 * processors / len(files):.2f} | {processors / least[1]:.2f} |"
        )
    print(f"<!-- {format}: pictures differ from Pillow's by {difference:.2f} of 255 on average -->")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    build = godlpack.get_build_info()
    print(
        f"{THREADS} processors, {platform.machine()}; Python {platform.python_version()}, {build['go']}, "
        f"torch {torch.__version__}, Pillow {PIL.__version__} with libjpeg-turbo {features.version('libjpeg_turbo')}\n"
    )
    print("| files | decoder | pictures/s | time / ours | ms of processors each | the same / ours |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    pictures = [picture(500, 375, seed) for seed in range(min(options.files, 16))]
    for format, settings in (("JPEG", {"quality": 90}), ("PNG", {})):
        files = [encoded(image, format, **settings) for image in pictures]
        report(format, [files[i % len(files)] for i in range(options.files)], options.rounds)


if __name__ == "__main__":
    main()
