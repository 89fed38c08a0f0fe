"""Abstaining: which words and which meanings are enough to answer."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rearview.domain.profiles import get_profile, with_weights
from rearview.domain.rank import Candidate, coverage, rank, should_abstain
from rearview.domain.tokens import query_terms, tokenise

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLAIN = with_weights(get_profile("assistant"), {"vector": 0.5, "keyword": 0.5})
NOISE = (0.0, 0.09)


def memory(name: str, **fields: object) -> Candidate:
    base = Candidate(id=name, vector=0.8, keyword=None, valid_from=NOW)
    return replace(base, **fields)  # type: ignore[arg-type]


def judge(
    items: list[Candidate], noise: tuple[float, float] | None = NOISE, best_coverage: float | None = None
) -> tuple[bool, str | None]:
    hits = rank(items, profile=PLAIN, now=NOW)
    return should_abstain(hits, items, noise=noise, best_coverage=best_coverage)


def test_it_abstains_where_nothing_is_stored() -> None:
    assert judge([]) == (True, "nothing_stored")


@pytest.mark.parametrize(("cosine", "abstained"), [(0.4, False), (0.1, True), (None, True)])
def test_a_meaning_is_judged_by_the_noise_of_the_embedder(cosine: float | None, abstained: bool) -> None:
    assert judge([memory("a", vector=cosine)])[0] is abstained


@pytest.mark.parametrize(("found", "abstained"), [(1.0, False), (0.5, False), (0.2, True), (0.0, True)])
def test_most_of_the_words_convince_and_a_few_do_not(found: float, abstained: bool) -> None:
    items = [memory("a", vector=0.1, keyword=3.0)]
    assert judge(items, best_coverage=found) == (abstained, "nothing_stands_out" if abstained else None)


def test_without_a_known_coverage_any_shared_word_convinces() -> None:
    assert judge([memory("a", vector=0.1, keyword=0.2)]) == (False, None)
    assert judge([memory("a", vector=0.1, keyword=0.0)])[0] is True


def test_a_pending_memory_convinces_by_its_words() -> None:
    assert judge([memory("p", vector=None, pending=True, coverage=0.6)])[0] is False
    assert judge([memory("p", vector=None, pending=True, coverage=0.1)])[0] is True


def test_an_embedder_of_unknown_noise_is_judged_by_its_candidates() -> None:
    crowd = [memory(f"{n:02}", vector=0.80 + 0.001 * (n % 10)) for n in range(50)]
    assert judge([*crowd, memory("z", vector=0.85)], noise=None)[0] is False
    assert judge([*crowd, memory("z", vector=0.809)], noise=None)[0] is True
    assert judge([memory("z", vector=0.99)], noise=None)[0] is True


def test_single_chinese_characters_do_not_make_coverage() -> None:
    terms = query_terms("我的血型是什么")
    assert coverage(terms, tokenise("我的猫是什么都吃的")) < 0.5
    assert coverage(terms, tokenise("我的血型是 A 型")) >= 0.5
    assert coverage(query_terms("茶"), tokenise("喝绿茶")) == 1
    assert coverage(query_terms("blood type"), tokenise("my type of tea")) == 0.5
    assert coverage([], ["tea"]) == 0
