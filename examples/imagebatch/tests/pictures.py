"""Pictures for tests: smooth as a photograph's, with something at every scale."""

import io

import numpy as np
from PIL import Image


def picture(width: int, height: int, seed: int = 0, mode: str = "RGB") -> Image.Image:
    """Noise in few pixels, enlarged, under a little noise in all."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
    pixels = np.asarray(coarse) + rng.normal(0, 4, (height, width, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).convert(mode)


def encoded(image: Image.Image, format: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def by_pillow(file: bytes, height: int, width: int) -> np.ndarray:
    """What Pillow makes of a file: RGB, scaled, channels first."""
    image = Image.open(io.BytesIO(file)).convert("RGB").resize((width, height), Image.BILINEAR)
    return np.asarray(image).transpose(2, 0, 1)
