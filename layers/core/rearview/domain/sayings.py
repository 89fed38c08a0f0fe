"""Sayings: what a memory says by slot, read once when it is enriched and kept with the record."""

from __future__ import annotations

import re
import unicodedata
import zlib
from dataclasses import replace
from functools import lru_cache

from rearview.domain.claims import Claim, claims_of, value_keys
from rearview.domain.claims_rules import SlotRules, fold
from rearview.domain.memory import Memory, Said
from rearview.domain.types import Kind

#: Slots of one text that are kept; a text with more is a list, no statement about the user.
MOST = 20
#: Characters of a value, and of a whole preference that no slot fits.
VALUE, WHOLE = 120, 300

# What is asked for politely is asked for: questions claim nothing otherwise.
_ASKED = re.compile(
    r"(?i)^\s*(?:(?:can|could|would|will) (?:you|we|i)(?: please)?(?: mind)?|may i)\s+(?P<en>[^?？\n]{3,200}?)[?？]+\s*$"
    r"|^\s*(?:请问)?(?:你|您)?(?:能不能|可不可以|可以|能否|能)(?P<zh>[^?？\n]{2,100}?)(?:可以吗|行吗|好吗|吗|嘛)?[?？]*\s*$"
)
_STOP = re.compile(r"[.!?;。！？；\n](?=\s|$|[\u3400-\u9fff])")


def sayings(content: str, kind: Kind, rules: SlotRules) -> tuple[Said, ...]:
    """What a text gives slots, each (subject, slot, value) once; a preference that no slot fits as a whole.

    Of what is chosen anew each time (habits) a single occasion counts as well; of all else only what holds now.
    """
    asked = _ASKED.match(content)
    text = (asked["en"] or asked["zh"]) if asked is not None else content
    claims = claims_of(text, rules)
    folded = fold(text, rules.script) if claims else ""
    found: dict[tuple[str, str, str], Said] = {}
    for claim in claims:
        if asked is not None and not claim.habit:
            continue
        if claim.mode in (("past", "reported") if claim.habit else ()) or (claim.mode and not claim.habit):
            continue
        said = Said(
            subject=claim.subject[:VALUE],
            slot=claim.slot[:VALUE],
            value=claim.value[:VALUE],
            raw=_written(claim, text, folded)[:VALUE],
            polarity=claim.polarity,
            single=claim.single,
            habit=claim.habit,
            switch=_switches(claim, folded, rules),
        )
        found[said.subject, said.slot, said.value] = said
    if not found and kind == "preference" and len(content) <= WHOLE:
        value = " ".join(value_keys(content, rules))[:WHOLE]
        if value:
            switch = rules.switch.search(fold(content, rules.script)) is not None
            return (Said("user", "", value, " ".join(content.split())[:VALUE], habit=True, switch=switch),)
    return tuple(found.values())[:MOST]


def sayings_of(memory: Memory, rules: SlotRules) -> tuple[Said, ...]:
    """What a memory says: as it was read when it was enriched, else read now (of a text in the archive, its summary)."""
    if memory.said_stamp and (memory.text_archived or memory.said_stamp == stamp_of(memory, rules)):
        return memory.said
    return sayings(memory.gist, memory.kind, rules)


def read_into(memory: Memory, content: str, rules: SlotRules) -> Memory:
    """The memory with what ``content``, its text, says."""
    if memory.text_archived and memory.said_stamp:
        return memory
    said = sayings(content or memory.summary, memory.kind, rules)
    whole = replace(memory, content=content or memory.summary)
    return replace(memory, said=said, said_stamp=stamp_of(whole, rules))


def stamp_of(memory: Memory, rules: SlotRules) -> str:
    """What a reading depends on: the text, the kind and the rules."""
    about = f"{rules_stamp(rules)}\n{memory.kind == 'preference'}\n{memory.content}"
    return f"{zlib.crc32(about.encode()):08x}"


@lru_cache(maxsize=8)
def rules_stamp(rules: SlotRules) -> int:
    """Tells readings under different rules apart."""
    sources = "\n".join(pattern.regex.pattern for pattern in rules.patterns)
    words = "\n".join(sorted(f"{word}={sense}" for word, sense in rules.lexicon.items()))
    return zlib.crc32(f"{sources}\n{words}\n{rules.switch.pattern}".encode())


def _written(claim: Claim, text: str, folded: str) -> str:
    """The value in the case in which it was written: folding keeps the places of NFKC's characters."""
    plain = unicodedata.normalize("NFKC", text)
    at = folded.find(claim.raw_value, max(0, folded.find(claim.clause)))
    return plain[at : at + len(claim.raw_value)] if at >= 0 else claim.raw_value


def _switches(claim: Claim, folded: str, rules: SlotRules) -> bool:
    """Whether the sentence of the claim says that things are different from now on."""
    if claim.mode == "temporary":
        return False
    at = max(0, folded.find(claim.clause))
    start = max((m.end() for m in _STOP.finditer(folded, 0, at)), default=0)
    after = _STOP.search(folded, at + len(claim.clause))
    sentence = folded[start : after.start() if after else len(folded)][:1000]
    return (rules.switch if claim.habit else rules.change).search(sentence) is not None
