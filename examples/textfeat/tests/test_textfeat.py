"""Features are scikit-learn's, bit for bit."""
# ruff: noqa: RUF001  # letters of all scripts are what this is about

import inspect
import unicodedata

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer

import textfeat

LANGUAGES = [
    "Ça va? Oui -- l'été, naïve façade; ŒUVRE",
    "Straße GROẞE Füße ÄÖÜ",
    "ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ, Σ ΑΣ' ΑΣ.Α ΑΣ\u0301 ς",
    "İSTANBUL ISPARTA ığdır",
    "Война и мир. ЁЛКА",
    "東京都 1234 ひらがな カタカナ 한국어",
    "हिन्दी भाषा ไทย العربية ٣٤٥ עברית",
    "ǅungla Ǆ ﬁne x² Ⅷ ½ ①② \u200b zero\u200dwidth",
    "😀 emoji👩‍👧 \U0001d400\U00010400x",
    "tab\tand\nlines\r\n\n \x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000end",
    "snake_case __init__ a_b x1 2y _ __ ___",
    "NUL\x00in\x00side",
    "",
    " ",
    "a",
]


ENGLISH = sorted({text for o in vars(np).values() if isinstance(text := getattr(o, "__doc__", None), str)}, key=len)[
    -200:
]


def assert_equal(texts, **options):
    """The three arrays are equal in every bit."""
    indptr, indices, values = textfeat.hash_ngrams(texts, like=np.ndarray, **options)
    if options.get("norm") == "none":
        options["norm"] = None
    want = HashingVectorizer(dtype=np.float32, **options).transform(texts)
    np.testing.assert_array_equal(indptr, want.indptr)
    np.testing.assert_array_equal(indices, want.indices)
    np.testing.assert_array_equal(values, want.data)


RANGES = [
    ("word", (1, 1)),
    ("word", (1, 3)),
    ("word", (2, 2)),
    ("char", (1, 1)),
    ("char", (1, 4)),
    ("char", (3, 5)),
    ("char_wb", (1, 3)),
    ("char_wb", (5, 7)),
]


@pytest.mark.parametrize("texts", [ENGLISH, LANGUAGES], ids=["English", "languages"])
@pytest.mark.parametrize(("analyzer", "ngram_range"), RANGES)
def test_all_analyzers(texts, analyzer, ngram_range):
    assert_equal(texts, analyzer=analyzer, ngram_range=ngram_range)


@pytest.mark.parametrize("n_features", [1, 2, 10, 1000, 2**20, 2**31 - 1])
@pytest.mark.parametrize("norm", ["l1", "l2", "none"])
@pytest.mark.parametrize("alternate_sign", [True, False])
@pytest.mark.parametrize("lowercase", [True, False])
def test_all_options(n_features, norm, alternate_sign, lowercase):
    texts = [*ENGLISH[:30], *LANGUAGES]
    assert_equal(texts, n_features=n_features, norm=norm, alternate_sign=alternate_sign, lowercase=lowercase)


# Go 1.26 knows Unicode 15.0, and Python 3.13 also the letters that 15.1 added.
NEWER = range(0x2EBF0, 0x2EE5E)


def test_all_code_points():
    """Each in a word, which it parts unless it is of one, and in upper case."""
    known = [chr(i) for i in range(0x110000) if unicodedata.category(chr(i)) not in ("Cs", "Cn") and i not in NEWER]
    words = [f"a{c}b" for c in known]
    texts = [" ".join(words[i : i + 500]) for i in range(0, len(words), 500)]
    assert_equal(texts, norm="none")
    assert_equal(texts, norm="none", analyzer="char_wb", ngram_range=(3, 3))


letters = st.characters(exclude_categories=["Cs", "Cn"], exclude_characters=map(chr, NEWER))
mixed = st.text(letters | st.sampled_from("aA1_ '.\tΣσςİ\u0301"))


@settings(deadline=None)
@given(st.lists(mixed, min_size=1), st.sampled_from(RANGES))
def test_any_text(texts, analyzer_and_range):
    analyzer, ngram_range = analyzer_and_range
    assert_equal(texts, analyzer=analyzer, ngram_range=ngram_range)


def test_a_sparse_tensor():
    indptr, indices, values = textfeat.hash_ngrams(ENGLISH, 1000, like=torch.Tensor)
    rows = torch.sparse_csr_tensor(indptr, indices, values, (len(ENGLISH), 1000), check_invariants=True)
    weights = torch.rand(1000, 3)
    torch.testing.assert_close(rows @ weights, rows.to_dense() @ weights)
    torch.testing.assert_close(rows.to_dense().norm(dim=1), torch.ones(len(ENGLISH)))


def test_no_texts():
    indptr, indices, values = textfeat.hash_ngrams([], like=np.ndarray)
    assert indptr.tolist() == [0] and indices.size == values.size == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"analyzer": "letters"}, 'analyzer: want "word", "char" or "char_wb", got "letters"'),
        ({"norm": "max"}, 'norm: want "l1", "l2" or "none", got "max"'),
        ({"n_features": 0}, "n_features: want 1 to 2147483647, got 0"),
        ({"ngram_range": (2, 1)}, r"ngram_range: want \[shortest, longest\], from 1 on, got \[2 1\]"),
    ],
)
def test_bad_options(options, why):
    with pytest.raises(ValueError, match=rf"^hash_ngrams\(\): {why}"):
        textfeat.hash_ngrams(["text"], **options)


def test_bad_texts():
    with pytest.raises(TypeError, match=r"'texts'.*element 1: want str, got int"):
        textfeat.hash_ngrams(["text", 1])
    with pytest.raises(TypeError, match=r"'texts'.*want list of str"):
        textfeat.hash_ngrams("text")
    with pytest.raises(UnicodeEncodeError, match="surrogates"):
        textfeat.hash_ngrams(["\ud800"])


def test_it_is_a_function_like_others():
    parameters = inspect.signature(textfeat.hash_ngrams).parameters
    assert list(parameters)[:4] == ["texts", "n_features", "analyzer", "ngram_range"]
    assert parameters["n_features"].default == 2**20 and parameters["ngram_range"].default == (1, 1)
    assert "HashingVectorizer" in textfeat.hash_ngrams.__doc__
