"""Tokens are those of HuggingFace's tokenizers."""

import json
import pickle
import random
import threading

import corpus
import numpy as np
import pytest
import tokenizers
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors, trainers

import bpe

TEXTS = corpus.texts(3_000_000)
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())  # what stands for bytes


def byte_level(model: models.BPE, **options) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = pre_tokenizers.ByteLevel(**{"add_prefix_space": False, **options})
    made.decoder = decoders.ByteLevel()
    return made


@pytest.fixture(scope="module")
def theirs() -> tokenizers.Tokenizer:
    """A tokenizer that was trained on every third text."""
    made = byte_level(models.BPE())
    made.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=6000, special_tokens=["<|endoftext|>"], initial_alphabet=BYTES, show_progress=False
    )
    made.train_from_iterator(TEXTS[::3], trainer)
    return made


@pytest.fixture(scope="module")
def ours(theirs, tmp_path_factory) -> bpe.Tokenizer:
    path = str(tmp_path_factory.mktemp("bpe") / "tokenizer.json")
    theirs.save(path)
    return bpe.Tokenizer.from_file(path)


def same(theirs: tokenizers.Tokenizer) -> bpe.Tokenizer:
    return bpe.Tokenizer.from_str(theirs.to_str())


def assert_same(ours: bpe.Tokenizer, theirs: tokenizers.Tokenizer, texts: list[str]) -> None:
    ids, offsets = ours.encode_batch(texts)
    assert ids.dtype == offsets.dtype == np.int64 and offsets[0] == 0 and len(offsets) == len(texts) + 1
    for i, want in enumerate(theirs.encode_batch_fast(texts)):
        got = ids[offsets[i] : offsets[i + 1]].tolist()
        assert got == want.ids, f"{texts[i][:200]!r}"
    for text in texts[:50]:
        np.testing.assert_array_equal(ours.encode(text), theirs.encode(text).ids)


def test_real_text(ours, theirs):
    assert_same(ours, theirs, TEXTS)
    for text in TEXTS:
        ids = ours.encode(text)
        assert ours.decode(ids) == text and ours.decode_bytes(ids) == text.encode()


def test_all_code_points():
    """Each after a letter, a digit, a sign and a blank. The tokens show with which of them it is in one piece."""
    first_bytes = [letters_of_bytes()[b] for b in [*range(128), *range(0xC2, 0xF5)]]
    pairs = [(x, b) for x in ("a", "1", "!", "Ġ") for b in first_bytes]
    vocab = {token: i for i, token in enumerate([*BYTES, *dict.fromkeys(x + b for x, b in pairs)])}
    theirs = byte_level(models.BPE(vocab, pairs))
    known = [
        chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000 and (i < 0x33480 or (i >= 0xE0000 and i < 0xE0400))
    ]
    texts = ["".join(f"a{c}1{c}!{c} {c}" for c in known[i : i + 1000]) for i in range(0, len(known), 1000)]
    assert_same(same(theirs), theirs, texts)


def letters_of_bytes() -> list[str]:
    """GPT-2's: bytes that print stand for themselves, and the others begin at U+0100."""
    prints = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = iter(range(256, 512))
    return [chr(b) if b in prints else chr(next(rest)) for b in range(256)]


characters = st.characters(exclude_categories=["Cs"])
blanks = st.sampled_from(list(" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000\u200b\u180e"))
parts = st.sampled_from(
    ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'", "''", "  ", " ", "\n\n", "the", "12", "½", "!?", "e\u0301"]
)
texts_of_any_kind = st.lists(st.one_of(characters, blanks, parts)).map("".join)


@settings(deadline=None, max_examples=300)
@given(st.lists(texts_of_any_kind, max_size=5))
def test_any_text(texts):
    for theirs, ours in made():
        assert_same(ours, theirs, texts)


def made() -> list[tuple[tokenizers.Tokenizer, bpe.Tokenizer]]:
    """Tokenizers whose merges join what is often in one piece, made once."""
    if not CACHE:
        for options in ({}, {"add_prefix_space": True}, {"use_regex": False}):
            theirs = byte_level(models.BPE(), **options)
            trainer = trainers.BpeTrainer(vocab_size=900, initial_alphabet=BYTES, show_progress=False)
            theirs.train_from_iterator([text[:3000] for text in TEXTS], trainer)
            theirs.add_tokens(["the", AddedToken("'s", normalized=False), "12"])
            theirs.add_special_tokens(["\n\n"])
            CACHE.append((theirs, same(theirs)))
    return CACHE


CACHE: list = []


@st.composite
def vocabularies(draw):
    """A few merges, in any order of ranks."""
    tokens, merges = list("abc'Ġ"), []
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        merges.append((left, right))
        tokens.append(left + right)
    vocab = {token: i for i, token in enumerate(dict.fromkeys([*BYTES, *tokens]))}
    return vocab, draw(st.permutations(merges)), draw(st.booleans())


@settings(deadline=None, max_examples=300)
@given(vocabularies(), st.lists(st.text("abc' ", max_size=150), max_size=4))
def test_any_merges(vocabulary, texts):
    vocab, merges, ignore_merges = vocabulary
    theirs = byte_level(models.BPE(vocab, merges, ignore_merges=ignore_merges), use_regex=False)
    assert_same(same(theirs), theirs, texts)


def test_long_pieces(ours, theirs):
    rng = random.Random(1)
    words = ["a" * 100_000, "-" * 99_999, " " * 50_000, "\n" * 5000 + "x", "é" * 10_000, "漢字" * 5000]
    words += ["".join(rng.choices("abcdefstr", k=n)) for n in (47, 48, 49, 1000, 30_000)]
    assert_same(ours, theirs, words)


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
def test_added_tokens(special, normalized, prefix):
    vocab = {b: i for i, b in enumerate(BYTES)}
    theirs = byte_level(models.BPE(vocab, []), add_prefix_space=prefix)
    theirs.add_tokens(
        [AddedToken(t, normalized=normalized, special=special) for t in ("<a>", "<a><b>", "ab", "b", "é", "  ")]
    )
    theirs.add_tokens([AddedToken(t, normalized=not normalized) for t in ("<a><b><c>", "aba", " <")])
    ours = same(theirs)
    assert len(ours) == theirs.get_vocab_size(with_added_tokens=True)
    assert ours.vocab_size == theirs.get_vocab_size(with_added_tokens=False) == 256
    rng = random.Random(2)
    texts = [
        "".join(rng.choices(["<a>", "<b>", "<c>", "a", "b", " ", "é", "<", "x"], k=rng.randrange(12)))
        for _ in range(2000)
    ]
    assert_same(ours, theirs, texts)
    for text in texts[:200]:
        ids = ours.encode(text)
        whole = ours.decode(ids, skip_special_tokens=False)
        assert whole == text if not prefix else whole.replace(" ", "") == text.replace(" ", "")
        if "é" not in text:  # which tokenizers decodes as a byte of the alphabet
            assert ours.decode(ids) == theirs.decode(ids.tolist())


@settings(deadline=None)
@given(st.binary())
def test_bytes_that_are_no_text(data):
    ours = made()[0][1]
    letters = letters_of_bytes()
    ids = np.array([ours.token_to_id(letters[b]) for b in data], "i8")
    assert ours.decode_bytes(ids) == data
    assert ours.decode(ids) == data.decode(errors="replace") == made()[0][0].decode(ids.tolist())


def test_parts_of_characters(ours, theirs):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 100, 1000):
        ids = rng.integers(0, len(ours), n)
        assert ours.decode(ids) == theirs.decode(ids.tolist())
        assert ours.decode(ids, skip_special_tokens=False) == theirs.decode(ids.tolist(), skip_special_tokens=False)


def test_special_tokens(ours):
    ids = ours.encode("one<|endoftext|>two")
    assert (ids == ours.token_to_id("<|endoftext|>")).sum() == 1
    assert ours.decode(ids) == "onetwo" and ours.decode(ids, skip_special_tokens=False) == "one<|endoftext|>two"
    assert ours.decode_bytes(ids) == b"onetwo"


def test_the_vocabulary(ours, theirs):
    assert len(ours) == ours.vocab_size == theirs.get_vocab_size() == 6000
    assert repr(ours) == "<Tokenizer: 6000 tokens>"
    for token, i in theirs.get_vocab().items():
        assert ours.token_to_id(token) == i and ours.id_to_token(i) == token
    assert ours.token_to_id("no such token") is None


@pytest.mark.parametrize("i", [-1, 6000, 2**40, -(2**63)])
def test_numbers_without_a_token(ours, i):
    for call in (ours.id_to_token, lambda i: ours.decode(np.array([5, i])), lambda i: ours.decode_bytes(np.array([i]))):
        with pytest.raises(bpe.UnknownTokenError, match=f"^{i}: want the number of a token") as caught:
            call(i)
        assert caught.value.id == i and isinstance(caught.value, IndexError)


def test_frameworks_and_layouts(ours):
    ids = ours.encode("hello, hello", like=torch.Tensor)
    assert isinstance(ids, torch.Tensor) and ids.dtype == torch.int64
    assert ours.decode(ids) == "hello, hello"
    assert ours.decode(ids.numpy().repeat(3)[::3]) == "hello, hello"
    assert ours.decode(np.ascontiguousarray(ids.numpy()[::-1])[::-1]) == "hello, hello"
    assert ours.decode(ids[:0]) == "" and ours.decode_bytes(ids[:0]) == b""
    for wrong in (ids.double(), ids[None], ids.numpy().astype("u8"), "hello"):
        with pytest.raises(TypeError, match=r"argument 'ids': want int64\[\*\]"):
            ours.decode(wrong)


def test_no_texts(ours):
    ids, offsets = ours.encode_batch([])
    assert ids.tolist() == [] and offsets.tolist() == [0]
    ids, offsets = ours.encode_batch(["", "a", ""])
    assert len(ids) == 1 and offsets.tolist() == [0, 0, 1, 1]
    assert ours.encode("").shape == (0,)


def test_bad_texts(ours):
    with pytest.raises(TypeError, match=r"'texts'.*element 1: want str, got bytes"):
        ours.encode_batch(["text", b"text"])
    with pytest.raises(TypeError, match=r"'texts'.*want list of str"):
        ours.encode_batch("text")
    for call in (ours.encode, lambda text: ours.encode_batch([text])):
        with pytest.raises(UnicodeEncodeError, match="surrogates"):
            call("\ud800")


def test_pickle(ours):
    copy = pickle.loads(pickle.dumps(ours))
    assert copy.encode(TEXTS[0]).tolist() == ours.encode(TEXTS[0]).tolist()


def test_older_files(ours, theirs):
    """Until 2024 merges were texts."""
    description = json.loads(theirs.to_str())
    description["model"]["merges"] = [" ".join(pair) for pair in description["model"]["merges"]]
    old = bpe.Tokenizer.from_str(json.dumps(description))
    np.testing.assert_array_equal(old.encode_batch(TEXTS)[0], ours.encode_batch(TEXTS)[0])


NORMALIZER = {"type": "NFC"}


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (["normalizer"], NORMALIZER, "normalizer: want none"),
        (["truncation"], {"max_length": 5}, "truncation: want none"),
        (["pre_tokenizer", "type"], "Whitespace", "pre_tokenizer.type: want ByteLevel, got Whitespace"),
        (["pre_tokenizer"], None, "pre_tokenizer.type: want ByteLevel, got "),
        (["post_processor"], {"type": "TemplateProcessing"}, "post_processor: want none, or ByteLevel"),
        (["decoder"], None, "decoder: want ByteLevel"),
        (["model", "type"], "WordPiece", "model.type: want BPE, got WordPiece"),
        (["model", "dropout"], 0.1, "model.dropout: want none"),
        (["model", "byte_fallback"], True, "model.byte_fallback: want false"),
        (["model", "end_of_word_suffix"], "</w>", "model.end_of_word_suffix: want none"),
        (["model", "vocab"], None, "model.vocab: want tokens with numbers"),
        (["model", "vocab", "Ġ"], None, "model.vocab: want a token for each byte"),
        (["model", "vocab", "Ġ"], 3, "3 is the number of two tokens"),
        (["model", "vocab", "Ġ"], -3, "want a number from 0 to .*got -3"),
        (["model", "vocab", "Ġ"], 2**31 - 1, "want a number from 0 to .*got 2147483647"),
        (["model", "vocab", "Ġ"], 2**31, "want the JSON that tokenizers saves: .*2147483648"),
        (["model", "merges"], [["Ġ", "nothing"]], 'model.merges: "Ġ" and "nothing": there is no token "nothing"'),
        (["model", "merges"], [["Ġ"]], r'model.merges: want two tokens, got \["Ġ"\]'),
        (["model", "merges"], [3], "cannot unmarshal number"),
        (["added_tokens", 0, "lstrip"], True, "want false for single_word, lstrip and rstrip"),
        (["added_tokens", 0, "id"], 7, "want the number 0 of the vocabulary, got 7"),
    ],
)
def test_other_tokenizers_are_refused(theirs, path, value, why):
    description = json.loads(theirs.to_str())
    place = description
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    if value is None and path[-1] == "Ġ":
        del place["Ġ"]
        description["model"]["merges"] = []
    with pytest.raises(bpe.FormatError, match=why):
        bpe.Tokenizer.from_str(json.dumps(description))


def test_files_that_cannot_be_read(theirs, tmp_path):
    path = tmp_path / "tokenizer.json"
    with pytest.raises(FileNotFoundError) as missing:
        bpe.Tokenizer.from_file(str(path))
    assert missing.value.filename == str(path)
    whole = theirs.to_str().encode()
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(bpe.FormatError, match="want the JSON that tokenizers saves") as caught:
            bpe.Tokenizer.from_file(str(path))
        assert str(path) in str(caught.value)
    with pytest.raises(TypeError, match="no constructor"):
        bpe.Tokenizer()


def test_threads_at_a_time(ours):
    want = ours.encode_batch(TEXTS[:40])[0].tolist()
    got = []
    threads = [threading.Thread(target=lambda: got.append(ours.encode_batch(TEXTS[:40])[0].tolist())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [want] * 8
