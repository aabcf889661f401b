"""Batches of samples from tar shards, JSON lines, Parquet files and pictures, for NumPy, torch and asyncio."""

from godlpack import load_module

load_module(f"{__path__[0]}/_shards.so", package=__name__)
from ._loader import Loader, Ragged  # noqa: E402
from ._shards import jpeg_decoder  # noqa: E402

__all__ = ["Loader", "Ragged", "TorchDataset", "jpeg_decoder"]


def __getattr__(name: str) -> object:
    if name == "TorchDataset":  # needs torch
        from ._torch import TorchDataset

        return TorchDataset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
