"""python loading.py fork|spawn: makes features in the workers of a DataLoader, and here, and compares."""

import sys

import torch
from torch.utils.data import DataLoader

import textfeat

TEXTS = [f"text number {i} of {i % 7} kinds, naïve ΣΟΦΟΣ" for i in range(40)]


def collate(texts: list[str]) -> torch.Tensor:
    indptr, indices, values = textfeat.hash_ngrams(texts, 500, ngram_range=(1, 2), like=torch.Tensor)
    return torch.sparse_csr_tensor(indptr, indices, values, (len(texts), 500)).to_dense()


if __name__ == "__main__":
    method = sys.argv[1]
    here = collate(TEXTS)  # so that Go runs before there are workers
    loader = DataLoader(TEXTS, 16, num_workers=2, collate_fn=collate, multiprocessing_context=method, timeout=240)
    assert torch.equal(torch.cat(list(loader)), here)
    assert torch.equal(collate(TEXTS), here)
    print("equal")
