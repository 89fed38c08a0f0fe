"""Packs as objects, and words scored over several collections as if they were one."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from rearview.domain.bm25 import Bm25, Words, joint_scores
from rearview.domain.tokens import tokenise
from rearview.usecases.packs import Entry, Loose, from_bytes, to_bytes

TEXTS = [
    "The ferry to Bergen was late.",
    "去卑尔根的渡轮晚点了。",
    "Late again: the tram, not the ferry.",
    "",
    "渡轮上的咖啡很好喝，下次还坐这班。",
]


def unit(*rows: list[float]) -> np.ndarray:
    vectors = np.array(rows, np.float32)
    unit_rows: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit_rows


def entries() -> list[Loose]:
    vectors = [unit([1, 0, 0]), unit([0, 1, 0], [0, 1, 1]), None, unit([1, 1, 1]), unit([0, 0, 1])]
    return [
        Loose(Entry(f"id{number}", f"digest{number}", text, [["user", "way"]]), Counter(tokenise(text)), rows)
        for number, (text, rows) in enumerate(zip(TEXTS, vectors, strict=True))
    ]


def test_a_pack_comes_back_as_it_was_written() -> None:
    pack = from_bytes("p", to_bytes("model", entries()))

    assert (pack.id, pack.fingerprint) == ("p", "model")
    for before, after in zip(entries(), pack.loose(), strict=True):
        assert after.entry == before.entry
        assert after.words == before.words
        if before.vectors is None:
            assert after.vectors is None
        else:
            assert after.vectors is not None
            np.testing.assert_allclose(after.vectors, before.vectors, atol=1e-3)


def test_a_pack_written_again_is_the_same_object() -> None:
    raw = to_bytes("model", entries())

    assert to_bytes("model", from_bytes("p", raw).loose()) == raw


def test_the_best_chunk_counts() -> None:
    pack = from_bytes("p", to_bytes("model", entries()))

    scores = pack.cosines(unit([0, 0, 1])[0])

    assert scores.keys() == {0, 1, 3, 4}
    assert scores[1] == pytest.approx(1 / np.sqrt(2), abs=1e-3)
    assert scores[4] == pytest.approx(1)


def test_a_query_of_another_size_has_no_cosines() -> None:
    pack = from_bytes("p", to_bytes("model", entries()))

    assert pack.cosines(unit([1, 0])[0]) == {}


def test_a_pack_without_vectors_is_one_too() -> None:
    worded = [Loose(one.entry, one.words, None) for one in entries()]
    pack = from_bytes("p", to_bytes("model", worded))

    assert pack.cosines(unit([1, 0, 0])[0]) == {}
    assert [one.vectors for one in pack.loose()] == [None] * 5


@pytest.mark.parametrize("raw", [b"", b"rearview pack 1 3\nabc", b"rearview pack 2 0\n", b"\x00" * 50])
def test_what_is_no_pack_is_refused(raw: bytes) -> None:
    with pytest.raises(Exception) as refusal:
        from_bytes("p", raw)
    assert type(refusal.value).__name__ in ("ValueError", "error")


def test_scores_over_parts_are_those_of_one_collection() -> None:
    generator = random.Random(7)
    alphabet = [f"w{number}" for number in range(30)]
    docs = [generator.choices(alphabet, k=generator.randint(0, 25)) for _ in range(40)]
    query = ["w1", "w2", "w2", "w9", "unheard"]
    whole = Bm25(docs).scores(query)

    parts = [Words.of(map(Counter, some)) for some in (docs[:7], docs[7:7], docs[7:30], docs[30:])]
    joint = joint_scores(parts, query)

    flat = [
        scores.get(number, 0.0)
        for part, scores in zip(parts, joint, strict=True)
        for number in range(len(part.lengths))
    ]
    assert flat == pytest.approx(whole)


def test_words_can_be_taken_apart_again() -> None:
    docs = [Counter(tokenise(text)) for text in TEXTS]

    assert Words.of(docs).counts() == docs
