"""python loading.py fork|spawn FILE...: decodes the files in the workers of a DataLoader, and here, and compares."""

import sys

import torch
from torch.utils.data import DataLoader

import imagebatch


def collate(paths: list[str]) -> torch.Tensor:
    return imagebatch.decode(paths, 32, 40, like=torch.Tensor)


if __name__ == "__main__":
    method, *paths = sys.argv[1:]
    here = collate(paths)  # so that Go runs before there are workers
    loader = DataLoader(paths, 3, num_workers=2, collate_fn=collate, multiprocessing_context=method, timeout=240)
    assert torch.equal(torch.cat(list(loader)), here)
    assert torch.equal(collate(paths), here)
    print("equal")
