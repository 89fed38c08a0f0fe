"""Self-corrections: what somebody takes back in the same breath ("I live in Leeds. No wait, York.", 我住杭州。不对，是苏州。)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rearview.domain.language import language_of, sentences

#: A text of more characters than that is no remark with its correction.
_LONGEST: Final = 400
_SHORT: Final = 40
_REMARK: Final = 80
_SOUND: Final = r"(?:(?:oh|oops|ah|er|um|hmm|uh)[,.]* )?"
_SIGN: Final = re.compile(
    rf"^\W*(?:{_SOUND}(?:"
    r"no,? wait|wait,? no|no,? sorry|(?:no|sorry|oops|wait),? i mean(?:t)?|i meant|sorry,? no|scratch that|strike that"
    r"|correction|make that|(?:sorry|no|oops|wait),? (?=(?:it'?s|it is|that'?s|make that|that should be) )"
    r"|(?:sorry|oops),? (?=[a-z+-]{0,4}\d)"
    r")(?![a-z])"
    r"|(?:哦|啊|呃|额|嗯|哎呀?|唉)?[，,]?(?:不对|(?:我)?(?:刚才|刚刚)?[说记写打搞弄]错了?|错了|[哦啊呃额]不|不是(?=[，,])|更正(?:一下)?"
    r"|纠正一下|口误|我的意思是|我是说|我说的是))",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"[\s,，:：.。…—-]*(?:(?:it|that)(?:'?s| is| was| should be)|make that|i meant?|to)?(?:应该)?[是为]?\s*",
    re.IGNORECASE,
)
# Words of one's own go on by themselves: "I mean, we eat there every week".
_OWN: Final = re.compile(
    r"(?:i|we|you|he|she|they|my|our|your|his|her|their|there|who|what|when|if|that|this|not)(?![a-z0-9])|[我你您他她咱这那没不]",
    re.IGNORECASE,
)
_CUT: Final = re.compile(r"(?<=[,，;；—])\s*|\s-\s")
_MARKS: Final = " \t.。!！,，;；~～"


@dataclass(frozen=True, slots=True)
class SelfCorrection:
    """``before``: what was said first; ``value``: what belongs in the place of something in it."""

    before: str
    value: str


def corrects(sentence: str) -> str | None:
    """The value that a sentence puts in the place of what was said before it; None if it corrects nothing."""
    sign = _SIGN.match(sentence[: 3 * _SHORT])
    if sign is None:
        return None
    link = _LINK.match(sentence, sign.end())
    value = sentence[link.end() if link else sign.end() :].strip(_MARKS)
    if not value or len(value) > _SHORT or value.endswith(("?", "？")) or _OWN.match(value):
        return None
    return value


def split_correction(text: str) -> SelfCorrection | None:
    """A text that ends with the correction of what it said just before; None for any other."""
    if len(text) > _LONGEST:
        return None
    last = sentences(text)[-1:]
    if not last:
        return None
    begin = text.rfind(last[0])
    for at in (begin, *(begin + cut.end() for cut in _CUT.finditer(last[0]))):
        value = corrects(text[at:]) if text[:at].strip() else None
        if value is not None:
            return SelfCorrection(text[:at].rstrip(" \t\n,，;；—-"), value)
    return None


def with_corrections(pieces: Sequence[str], before: str | None) -> tuple[list[str], set[str]]:
    """The sentences of a turn, a correction together with what it corrects (``before``: the user's turn before this one),
    and which of them are such: a value alone says nothing, and what was taken back must not stand alone."""
    out: list[str] = []
    both: set[str] = set()
    for piece in pieces:
        lead = out[-1] if out else None
        if corrects(piece) is not None:
            said = sentences(before)[-1:] if before and not out else []
            lead = said[0] if said and len(said[0]) <= _REMARK else lead
            if lead is not None and not lead.endswith(("?", "？")):
                out[-1:] = [joined(lead, piece)]
                both.add(out[-1])
                continue
        out.append(piece)
    return out, both


def joined(before: str, correction: str) -> str:
    """What was said and its correction as one text."""
    before = before.strip()
    if language_of(before) == "zh":
        return f"{before if before.endswith(tuple('。！；!;，')) else f'{before}，'}{correction}"
    return f"{before if before.endswith(tuple('.!;,')) else f'{before}.'} {correction}"
