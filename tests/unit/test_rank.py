"""The ranker: section 7 of the design, part by part."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.bm25 import Bm25
from rearview.domain.profiles import PROFILES, get_profile, with_weights
from rearview.domain.rank import Candidate, Ranked, rank

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLAIN = with_weights(get_profile("assistant"), {"vector": 0.5, "keyword": 0.5})


def memory(name: str, **fields: object) -> Candidate:
    base = Candidate(id=name, vector=0.8, keyword=None, valid_from=NOW)
    return replace(base, **fields)  # type: ignore[arg-type]


def order(hits: list[Ranked]) -> list[str]:
    return [hit.id for hit in hits]


def test_vector_scores_are_spread_over_the_candidates() -> None:
    hits = rank(
        [memory("a", vector=0.80), memory("b", vector=0.84), memory("c", vector=0.88)], profile=PLAIN, now=NOW
    )
    assert [hit.parts["vector"] for hit in hits] == pytest.approx([1.0, 0.5, 0.0])
    assert [hit.parts["raw_vector"] for hit in hits] == [0.88, 0.84, 0.80]


def test_a_missing_keyword_score_is_zero_and_takes_part_in_the_spread() -> None:
    hits = rank([memory("a", keyword=4.0), memory("b", keyword=8.0), memory("c")], profile=PLAIN, now=NOW)
    assert {hit.id: hit.parts["keyword"] for hit in hits} == {"a": 0.5, "b": 1.0, "c": 0.0}
    assert "raw_keyword" not in next(hit for hit in hits if hit.id == "c").parts


def test_a_constant_becomes_one() -> None:
    hits = rank([memory("a", keyword=3.0), memory("b", keyword=3.0)], profile=PLAIN, now=NOW)
    assert [(hit.parts["vector"], hit.parts["keyword"], hit.score) for hit in hits] == [(1, 1, 1), (1, 1, 1)]


@pytest.mark.parametrize("cosines", [(0.0, 0.0, 0.0), (0.0, -0.2, 0.0)])
def test_vectors_that_all_say_nothing_do_not_outrank_what_is_found_by_its_words_alone(
    cosines: tuple[float, ...],
) -> None:
    strangers = [memory(name, vector=cosine) for name, cosine in zip("xyz", cosines, strict=True)]
    hits = rank([*strangers, memory("a", vector=None, keyword=3.0)], profile=PLAIN, now=NOW)
    assert hits[0].id == "a"
    assert [hit.parts["vector"] for hit in hits] == [0, 0, 0, 0]


def test_without_any_keyword_match_the_keyword_part_is_zero() -> None:
    assert rank([memory("a"), memory("b")], profile=PLAIN, now=NOW)[0].parts["keyword"] == 0


def test_of_equals_the_greater_id_is_first_whatever_order_they_come_in() -> None:
    items = [memory(name) for name in "bdac"]
    assert order(rank(items, profile=PLAIN, now=NOW)) == ["d", "c", "b", "a"]


def test_without_an_embedder_keyword_alone_still_spans_zero_to_one() -> None:
    items = [memory("a", vector=None, keyword=9.0), memory("b", vector=None, keyword=1.0)]
    assert [hit.score for hit in rank(items, profile=PLAIN, now=NOW)] == [1.0, 0.0]


def test_recency_halves_by_its_decay_and_runs_from_the_last_confirmation() -> None:
    hindsight = with_weights(get_profile("hindsight"), {"recency": 1})
    old = NOW - timedelta(hours=69.3147)
    hits = rank(
        [memory("old", valid_from=old), memory("confirmed", valid_from=old, last_confirmed_at=NOW)],
        profile=hindsight,
        now=NOW,
    )
    assert [(hit.id, round(hit.score, 4)) for hit in hits] == [("confirmed", 1.0), ("old", 0.5)]


def test_a_confirmation_before_the_fact_began_does_not_make_it_older() -> None:
    hit = rank([memory("a", last_confirmed_at=NOW - timedelta(days=900))], profile=PLAIN, now=NOW)[0]
    assert hit.parts["recency"] == 1


def test_what_begins_in_the_future_is_as_recent_as_now() -> None:
    hit = rank([memory("a", valid_from=NOW + timedelta(days=9))], profile=PLAIN, now=NOW)[0]
    assert hit.parts["recency"] == hit.parts["time"] == 1


def test_the_time_part_halves_in_a_day() -> None:
    hit = rank([memory("a", valid_from=NOW - timedelta(days=1))], profile=get_profile("episodic"), now=NOW)[0]
    assert hit.parts["time"] == pytest.approx(0.5)


def test_experience_multiplies_relevance_age_and_importance() -> None:
    item = memory("a", keyword=1.0, importance=0.5, valid_from=NOW - timedelta(days=14))
    hit = rank([item], profile=get_profile("experience"), now=NOW)[0]
    assert hit.score == pytest.approx(0.5 * 2.718281828**-0.7, rel=1e-6)


def test_what_the_agent_inferred_weighs_seven_tenths() -> None:
    said, inferred = rank([memory("b"), memory("a", origin="agent")], profile=PLAIN, now=NOW)
    assert inferred.score == pytest.approx(0.7 * said.score)
    assert (said.parts["origin_factor"], inferred.parts["origin_factor"]) == (1.0, 0.7)


@pytest.mark.parametrize(
    ("fields", "factor"),
    [
        ({"status": "tentative"}, "status_factor"),
        ({"in_conflict": True}, "conflict_factor"),
        ({"status": "superseded"}, "status_factor"),
    ],
)
def test_doubtful_memories_rank_below_and_say_why(fields: dict[str, object], factor: str) -> None:
    hits = rank([memory("z", **fields), memory("a")], profile=PLAIN, now=NOW)
    assert order(hits) == ["a", "z"]
    assert hits[1].parts[factor] < 1


def test_a_pending_memory_is_scored_by_the_share_of_terms_it_holds() -> None:
    items = [
        memory("a", vector=0.9, keyword=5.0),
        memory("b", vector=0.7),
        memory("p", vector=None, pending=True, coverage=0.8),
    ]
    hits = rank(items, profile=PLAIN, now=NOW)
    assert order(hits) == ["a", "p", "b"]
    assert (hits[1].parts["vector"], hits[1].parts["keyword"]) == (0.8, 0.8)
    assert hits[0].parts["vector"] == 1  # the pending one has no say in the spread


def test_only_pending_memories_rank_too() -> None:
    hits = rank([memory("p", vector=None, pending=True, coverage=0.4)], profile=PLAIN, now=NOW)
    assert hits[0].score == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("query", "speakers", "first"),
    [
        ("What does Ana like?", ("Ana Ruiz", "Bo"), "a"),
        ("What is Bo's plan?", ("Ana Ruiz", "Bo"), "b"),
        ("小林喜欢什么？", ("小林", "阿明"), "a"),
        ("阿明去了哪里", ("小林", "阿明"), "b"),
    ],
)
def test_the_speaker_whom_the_query_names_ranks_up(query: str, speakers: tuple[str, str], first: str) -> None:
    items = [memory("a", speaker=speakers[0]), memory("b", speaker=speakers[1])]
    hits = rank(items, profile=get_profile("assistant"), now=NOW, query=query)
    assert hits[0].id == first
    assert (hits[0].parts["speaker"], hits[1].parts["speaker"]) == (1, 0)


@pytest.mark.parametrize("query", ["Do Ana and Bo agree?", "What about tea?", ""])
def test_a_query_that_names_everybody_or_nobody_scores_as_if_there_were_no_speakers(query: str) -> None:
    items = [memory("a", speaker="Ana"), memory("b", speaker="Bo")]
    bare = [replace(item, speaker=None) for item in items]
    profile = get_profile("assistant")
    assert [hit.score for hit in rank(items, profile=profile, now=NOW, query=query)] == [
        hit.score for hit in rank(bare, profile=profile, now=NOW, query=query)
    ]


def test_no_candidates_give_no_hits() -> None:
    assert rank([], profile=PLAIN, now=NOW, query="x") == []


NUMBER = st.one_of(st.none(), st.floats(-2, 50), st.sampled_from([float("nan"), float("inf"), -float("inf")]))


@given(
    st.lists(
        st.tuples(NUMBER, NUMBER, st.booleans(), st.floats(), st.sampled_from(["user", "agent"])), max_size=12
    ),
    st.sampled_from(sorted(PROFILES)),
)
def test_scores_stay_in_zero_to_one_and_fall(
    rows: list[tuple[float | None, float | None, bool, float, str]], name: str
) -> None:
    items = [
        Candidate(
            f"{n:03}",
            vector,
            keyword,
            NOW - timedelta(days=n),
            pending=pending,
            importance=importance,
            coverage=importance,
            origin=origin,
        )
        for n, (vector, keyword, pending, importance, origin) in enumerate(rows)
    ]
    hits = rank(items, profile=get_profile(name), now=NOW, query="q")
    scores = [hit.score for hit in hits]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert len(hits) == len(items)


# --- profiles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_the_weights_of_every_profile_sum_to_one(name: str) -> None:
    assert sum(get_profile(name).weights.values()) == pytest.approx(1.0)


def test_an_unknown_profile_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        get_profile("nope")


def test_given_weights_are_normalised() -> None:
    assert dict(with_weights(PLAIN, {"vector": 3, "recency": 1}).weights) == {"vector": 0.75, "recency": 0.25}
    assert sum(with_weights(PLAIN, {"vector": 1e308, "keyword": 1e308}).weights.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "weights",
    [{}, {"vector": 0}, {"vector": -1}, {"vector": float("nan")}, {"vector": float("inf")}, {"smell": 1}],
)
def test_weights_that_make_no_sense_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"weight|part"):
        with_weights(PLAIN, weights)


# --- BM25 -----------------------------------------------------------------------------------------------


def test_bm25_follows_the_formula_of_lucene() -> None:
    scores = Bm25([["tea", "tea"], ["milk"], ["rye", "oats", "milk"]]).scores(["tea"])
    # idf = ln(1 + 2.5/1.5); length 2 of average 2: tf part 2 / (2 + 1.2)
    assert scores == pytest.approx([0.980829253 * 2 / 3.2, 0, 0])


def test_bm25_takes_a_repeated_query_term_once_and_survives_empty_corpora() -> None:
    index = Bm25([["tea"], []])
    assert index.scores(["tea", "tea"]) == index.scores(["tea"])
    assert Bm25([]).scores(["tea"]) == []
    assert Bm25([[], []]).scores(["tea"]) == [0, 0]


# --- languages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "own", "other"), [("最喜欢的颜色", 1.0, 0.0), ("favourite colour", 0.0, 1.0)]
)
def test_a_memory_in_another_language_is_not_held_to_the_words_of_the_query(
    query: str, own: float, other: float
) -> None:
    items = [
        memory("own", vector=0.5, keyword=2.0, cjk_share=own),
        memory("other", vector=0.9, cjk_share=other),
        memory("own2", vector=0.5, cjk_share=own),
    ]
    hits = {hit.id: hit for hit in rank(items, profile=PLAIN, now=NOW, query=query)}
    assert hits["other"].parts["keyword"] == pytest.approx(0.6)
    assert hits["own2"].parts["keyword"] == 0
    assert hits["other"].score > hits["own"].score


def test_a_match_of_words_across_languages_still_counts_in_full() -> None:
    items = [memory("a", keyword=3.0, cjk_share=0.0), memory("b", cjk_share=1.0)]
    hits = rank(items, profile=PLAIN, now=NOW, query="Docker 的端口号是多少")
    assert hits[0].parts["keyword"] == 1
