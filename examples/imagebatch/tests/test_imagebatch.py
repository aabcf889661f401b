"""Pictures are Pillow's: those of PNG files but for the last bit, those of JPEG files nearly, since decoders differ."""

import inspect
import pickle

import numpy as np
import pytest
import torch
from pictures import by_pillow, encoded, picture
from PIL import Image

import godlpack
import imagebatch

SIZES = [(31, 17), (200, 150), (333, 251), (1, 1), (7, 300)]


def distances(file: bytes, height: int, width: int) -> np.ndarray:
    """How far each number is from Pillow's."""
    ours, theirs = decode([file], height, width)[0], by_pillow(file, height, width)
    return np.abs(ours - theirs.astype(np.int16))


def decode(files: list[bytes], height: int, width: int) -> np.ndarray:
    return imagebatch.decode_bytes(files, height, width, like=np.ndarray)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("to", [(17, 31), (64, 48), (500, 5)])
def test_png_is_as_in_pillow(size, to):
    """Only, some versions of Pillow filter down before across where that is less work, and so round otherwise."""
    assert distances(encoded(picture(*size), "png"), *to).max() <= 1


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "1"])
def test_modes_of_png_are_as_in_pillow(mode):
    image = picture(90, 70, mode=mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(picture(90, 70, seed=1, mode="L"))
    assert distances(encoded(image, "png"), 40, 50).max() <= 1


@pytest.mark.parametrize("options", [{}, {"progressive": True}], ids=["baseline", "progressive"])
@pytest.mark.parametrize("subsampling", [0, 1, 2], ids=["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("size", [(200, 150), (333, 251), (97, 121), (1, 1)])
def test_jpeg_is_nearly_as_in_pillow(size, subsampling, options):
    """Where colours change from pixel to pixel, they differ more: subsampled, they are scaled once here, and twice there."""
    file = encoded(picture(*size), "jpeg", quality=90, subsampling=subsampling, **options)
    for part in (1, 2, 3):
        assert distances(file, -(-size[1] // part), -(-size[0] // part)).mean() < 1


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_modes_of_jpeg(mode):
    file = encoded(picture(64, 48, mode=mode), "jpeg", quality=95)
    assert distances(file, 48, 64).mean() < {"L": 1, "CMYK": 3}[mode]


def test_paths(tmp_path):
    files = [encoded(picture(100 + i, 80, seed=i), "png" if i % 2 else "jpeg") for i in range(30)]
    paths = [tmp_path / f"{i}.picture" for i in range(30)]
    for path, file in zip(paths, files, strict=True):
        path.write_bytes(file)
    batch = imagebatch.decode([str(path) for path in paths], like=torch.Tensor)
    assert batch.shape == (30, 3, 224, 224) and batch.dtype == torch.uint8
    np.testing.assert_array_equal(batch.numpy(), decode(files, 224, 224))


@pytest.mark.parametrize("files", [lambda f: (f,), lambda f: [memoryview(f)], lambda f: [np.frombuffer(f, np.uint8)]])
def test_files_in_memory(files):
    file = encoded(picture(20, 20), "png")
    np.testing.assert_array_equal(
        imagebatch.decode_bytes(files(file), 20, 20, like=np.ndarray)[0], by_pillow(file, 20, 20)
    )


@pytest.mark.parametrize("like", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_files_with_gaps(like):
    """What is decoded are the bytes one behind the other: of others the error says how to get them so."""
    file = np.frombuffer(encoded(picture(20, 20), "png"), np.uint8)
    want = by_pillow(file.tobytes(), 20, 20)
    frame = np.stack([file, file], 1).copy()
    with pytest.raises(BufferError, match=r"np\.ascontiguousarray\(x\) or x\.contiguous\(\)"):
        imagebatch.decode_bytes([like(frame[:, 0])], 20, 20)
    if like is np.asarray:
        with pytest.raises(BufferError, match=r"np\.ascontiguousarray"):
            imagebatch.decode_bytes([frame[::-1, 0]], 20, 20)
    with pytest.raises(TypeError, match=r"want uint8\[\*\]"):
        imagebatch.decode_bytes([like(frame)], 20, 20)
    with pytest.raises(ValueError, match="neither JPEG nor PNG"):
        imagebatch.decode_bytes([like(frame[:0, 0])], 20, 20)
    whole = like(np.ascontiguousarray(frame[:, 0]))
    np.testing.assert_array_equal(imagebatch.decode_bytes([whole], 20, 20, like=np.ndarray)[0], want)
    out = np.zeros((1, 3, 20, 40), np.uint8)[..., ::-2]
    assert imagebatch.decode_bytes([whole], 20, 20, out=out) is out
    np.testing.assert_array_equal(out[0], want)


def test_the_caller_says_where_it_goes():
    file = encoded(picture(20, 20), "png")
    assert isinstance(imagebatch.decode_bytes([file], 4, 4), godlpack.Tensor)
    assert isinstance(imagebatch.decode_bytes([file], 4, 4, like=torch.zeros(1)), torch.Tensor)
    out = torch.zeros(1, 3, 4, 4, dtype=torch.uint8)
    assert imagebatch.decode_bytes([file], 4, 4, out=out) is out
    np.testing.assert_array_equal(out.numpy()[0], by_pillow(file, 4, 4))


def test_no_files():
    assert imagebatch.decode([], 5, 6, like=np.ndarray).shape == (0, 3, 5, 6)


def test_bad_files(tmp_path):
    good = encoded(picture(50, 50), "jpeg")
    for bad, why in [(b"GIF89a...", "neither JPEG nor PNG"), (b"", "neither JPEG nor PNG"), (good[:300], "EOF")]:
        with pytest.raises(ValueError, match=rf"^decode_bytes\(\): files\[1\]: .*{why}"):
            imagebatch.decode_bytes([good, bad, good], 8, 8)
    path = tmp_path / "notes.txt"
    path.write_text("no picture")
    with pytest.raises(ValueError, match=r"^decode\(\): paths\[0\], .*notes\.txt: neither JPEG nor PNG"):
        imagebatch.decode([str(path)])
    with pytest.raises(ValueError, match=r"paths\[0\], .*missing\.jpg: .*no such file"):
        imagebatch.decode([str(tmp_path / "missing.jpg")])


def test_the_first_bad_file_is_named(tmp_path):
    good = encoded(picture(50, 50), "png")
    files = [good] * 100
    files[40] = files[41] = files[99] = b"bad"
    for _ in range(10):
        with pytest.raises(ValueError, match=r"files\[40\]"):
            imagebatch.decode_bytes(files, 8, 8)


def test_bad_arguments():
    with pytest.raises(ValueError, match="height and a width of 1 to 65535, got 0 and 5"):
        imagebatch.decode([], 0, 5)
    with pytest.raises(TypeError, match=r"'paths'.*want list of str"):
        imagebatch.decode("photo.jpg")
    with pytest.raises(TypeError, match=r"'files'.*got float32"):
        imagebatch.decode_bytes([np.zeros(5, np.float32)])


def test_it_is_a_function_like_others():
    assert str(inspect.signature(imagebatch.decode)) == "(paths, height=224, width=224, *, like=None, out=None)"
    assert imagebatch.decode.__doc__ and "Pillow" in imagebatch.decode.__doc__
    assert pickle.loads(pickle.dumps(imagebatch.decode)) is imagebatch.decode


def test_a_large_file_is_refused_before_it_is_decoded():
    image = Image.new("1", (20000, 20000))
    with pytest.raises(ValueError, match="want at most 178956970 pixels, got 20000 x 20000"):
        imagebatch.decode_bytes([encoded(image, "png")])
