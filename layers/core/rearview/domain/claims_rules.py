"""What the comparison of two statements knows about words: compiled once from the rule files.

The tables come from ``rules/slots.toml``, ``rules/negation.toml`` and ``rules/concepts.toml``, merged into
one mapping (their top-level keys do not overlap). A new slot, synonym, pair of opposites or unit is data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from snowballstemmer.english_stemmer import EnglishStemmer

SenseKind = Literal["stop", "light", "plain", "kin", "polar", "state", "context"]

WORD = re.compile(r"[^\W\u3400-\u9fff]+(?:[-.'][^\W\u3400-\u9fff]+)*(?:\+\+|#)?|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Sense:
    """What a word or phrase stands for.

    ``concept`` is shared by synonyms of both languages; ``alt`` tells the members of a closed group of
    alternatives apart (on/off, single/married/divorced), and is empty for plain concepts.
    """

    kind: SenseKind
    concept: str
    alt: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class SlotPattern:
    """One way to say what a slot holds; ``polarity`` False: the pattern itself denies the value. ``habit``: what it
    holds is chosen anew each time. ``values``: the slot's own words → the value they stand for in both languages.
    ``needs``: a clause without any of these cannot match."""

    slot: str
    single: bool
    polarity: bool
    regex: re.Pattern[str]
    habit: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SlotRules:
    """Compiled rules. Compared by identity, so that readings can be cached per (text, rules)."""

    script: Mapping[int, int]
    lexicon: Mapping[str, Sense]
    concepts: frozenset[str]
    longest_han: int
    longest_words: int
    units: Mapping[str, tuple[str, float]]
    unit_pattern: re.Pattern[str]
    negator: re.Pattern[str]
    pseudo_negator: re.Pattern[str]
    change: re.Pattern[str]
    switch: re.Pattern[str]
    replaced: tuple[re.Pattern[str], ...]
    modes: tuple[tuple[str, re.Pattern[str]], ...]
    breaks: re.Pattern[str]
    tails: re.Pattern[str]
    patterns: tuple[SlotPattern, ...]
    attributes: Mapping[str, str]
    regions: Mapping[str, str]
    growing: frozenset[str]
    paired: frozenset[str]
    distinct: frozenset[str]
    habits: frozenset[str]


def fold(text: str, script: Mapping[int, int]) -> str:
    """NFKC, simplified characters and lower case, one character out for each of NFKC's characters."""
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" lowers to two characters: offsets must stay those of NFKC
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.translate(script) if script else lowered


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of an English word; anything else comes back as it is."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    # A stemmer keeps its word in itself while it works: one per call is safe among threads.
    stemmed: str = EnglishStemmer().stemWord(word)
    return stemmed


def word_key(phrase: str) -> str:
    """The form under which a folded word or phrase is looked up."""
    if any("\u3400" <= c <= "\u9fff" for c in phrase):
        return phrase.replace(" ", "")
    return " ".join(stem(w.removesuffix("'s")) for w in WORD.findall(phrase))


def compile_slots(raw: Mapping[str, Any]) -> SlotRules:
    """The parsed rule files (merged) → rules. Missing tables are empty; a bad pattern raises ``re.error``."""
    trad, simp = raw.get("script", {}).get("traditional", ""), raw.get("script", {}).get("simplified", "")
    script = {ord(a): ord(b) for a, b in zip(trad, simp, strict=True)}

    def norm(words: Iterable[str]) -> list[str]:
        return [fold(w, script) for w in words]

    lexicon: dict[str, Sense] = {}

    def learn(words: Iterable[str], sense: Sense) -> None:
        for word in norm(words):
            if key := word_key(word):
                lexicon[key] = sense

    vocabulary = raw.get("vocabulary", {})
    learn(vocabulary.get("stop", ()), Sense("stop", ""))
    for word in norm(vocabulary.get("light", ())):
        lexicon[word_key(word)] = Sense("light", word_key(word))
    for concept, words in raw.get("same", {}).items():
        learn(words, Sense("plain", concept))
    for category, concepts in raw.get("category", {}).items():
        for words in concepts:
            learn(words, Sense("plain", words[0], category=category))
    for concept, words in raw.get("kin", {}).items():
        learn(words, Sense("kin", concept))
    for group in raw.get("exclusive", ()):
        kind: SenseKind = "state" if group.get("state") else "context"
        for alt, words in group["values"].items():
            learn(words, Sense(kind, group["name"], alt))
    for pair in raw.get("opposites", ()):
        learn(pair["yes"], Sense("polar", pair["name"], "yes"))
        learn(pair["no"], Sense("polar", pair["name"], "no"))
        learn(pair.get("most", ()), Sense("polar", pair["name"], "most"))

    units: dict[str, tuple[str, float]] = {}
    for dimension, table in raw.get("units", {}).items():
        for factor, words in table.items():
            units.update((w, (dimension, float(factor))) for w in norm(words))
    language = raw.get("language", {})
    attributes: dict[str, str] = {}
    for attribute in raw.get("attribute", ()):
        for word in norm([*attribute.get("en", ()), *attribute.get("zh", ())]):
            attributes[word] = attribute["name"]
    return SlotRules(
        script=script,
        lexicon=lexicon,
        # what an unknown word could not have become: concepts that both languages share
        concepts=frozenset(s.concept + (f"/{s.alt}" if s.alt else "") for s in lexicon.values()),
        longest_han=max((len(k) for k in lexicon if not k.isascii()), default=1),
        longest_words=max((k.count(" ") + 1 for k in lexicon), default=1),
        units=units,
        unit_pattern=_words_pattern(units),
        negator=_pattern(norm(language.get("negators", ()))),
        pseudo_negator=_pattern(norm(language.get("pseudo_negators", ()))),
        change=_pattern(norm(language.get("change", ()))),
        switch=_pattern(norm(language.get("switch", ()))),
        replaced=tuple(re.compile(p) for p in raw.get("replaced", {}).get("patterns", ())),
        modes=tuple((name, _pattern(norm(words))) for name, words in raw.get("mode", {}).items()),
        breaks=_pattern(norm(language.get("breaks", ()))),
        tails=_pattern(norm(language.get("tails", ()))),
        patterns=tuple(_slot_patterns(raw, attributes, script)),
        attributes=attributes,
        regions={w: region for region, words in raw.get("region", {}).items() for w in norm(words)},
        growing=frozenset(word_key(w) for w in norm(vocabulary.get("growing", ()))),
        distinct=frozenset(s["name"] for s in raw.get("slot", ()) if s.get("distinct")),
        paired=frozenset(pair["name"] for pair in raw.get("opposites", ())),
        habits=frozenset(s["name"] for s in raw.get("slot", ()) if s.get("habit")),
    )


def _slot_patterns(
    raw: Mapping[str, Any], attributes: Mapping[str, str], script: Mapping[int, int]
) -> Iterable[SlotPattern]:
    names = _alternation(w for w in attributes if w.isascii())
    han_names = _alternation(w for w in attributes if not w.isascii())
    macros = {**raw.get("macro", {}), "attr_en": names or "(?!)", "attr_zh": han_names or "(?!)"}
    for slot in raw.get("slot", ()):
        values = {fold(word, script): words[0] for words in slot.get("values", ()) for word in words}
        macros["val"] = _alternation(values) or "(?!)"
        needs = tuple(fold(word, script) for word in slot.get("needs", values))
        for source in slot["patterns"]:
            expanded = source
            for _ in range(3):  # macros may name macros
                expanded = _MACRO.sub(lambda m: macros.get(m[1], m[0]), expanded)
            yield SlotPattern(
                slot["name"],
                slot.get("single", True),
                slot.get("polarity", True),
                re.compile(expanded),
                slot.get("habit", False),
                values,
                needs,
            )


def _alternation(words: Iterable[str]) -> str:
    return "|".join(re.escape(w).replace(r"\ ", r"\s+") for w in sorted(words, key=lambda w: (-len(w), w)))


def _words_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words; those of letters end at a word's end."""
    parts = [
        re.escape(w) + (r"(?![a-z0-9])" if w[-1].isascii() and w[-1].isalnum() else "")
        for w in sorted(words, key=lambda w: (-len(w), w))
    ]
    return re.compile("|".join(parts) or "(?!)")


def _pattern(sources: Iterable[str]) -> re.Pattern[str]:
    """Any of the sources, each a small regular expression; those in letters match whole words."""
    parts = []
    for source in sources:
        wordy = _WORDY.match(source) is not None
        parts.append(rf"(?<![a-z0-9_'])(?:{source})(?![a-z0-9_])" if wordy else f"(?:{source})")
    return re.compile("|".join(parts) or "(?!)")


_WORDY = re.compile(r"(?:\(\?(?::|<[!=][^)]*\)))*[a-z]")
_MACRO = re.compile(r"\{([a-z_]+)\}")
_QUOTES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2212": "-", "\u2013": "-"}
)
