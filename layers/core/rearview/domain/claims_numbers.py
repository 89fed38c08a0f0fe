"""Numerals of both languages, and the type of a value read out of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """A value at [start, end) of the folded text.

    ``dimension``: n, duration (s), mass (mg), volume (ml), length (m), bytes, percent, money_XXX, times,
    time (minutes of the day), date (year-month-day, "?" where unsaid), weekday, year, zone (minutes), age,
    address (e-mail or URL), id. ``loose``: said roughly, or a clock time that does not say am or pm.
    """

    dimension: str
    value: str
    start: int
    end: int
    loose: bool = False


HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2, "仨": 3}
_HAN_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORD_NUMBERS = {w: i for i, w in enumerate(_UNITS.split())} | {
    w: 10 * i for i, w in enumerate(_TENS.split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "grand": 1000, "dozen": 12, "million": 1_000_000}

# Parts of patterns: one English number word, digits, a Chinese numeral, an English numeral.
WORD_NUMBER = "(?:" + "|".join(sorted([*_WORD_NUMBERS, *_SCALES], key=len, reverse=True)) + ")"
DIGITS = r"\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,10})?"
HAN_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]{1,16}"
EN_NUMERAL = rf"(?:an? (?:half|dozen|hundred|thousand)|half an?|{WORD_NUMBER}(?:[ -](?:and )?{WORD_NUMBER}){{0,5}})(?![a-z])"


# Up to here a float holds every whole number.
_EXACT = 2.0**53


def number_of(word: str) -> float | None:
    """A numeral in digits, Chinese or English words → its value; None when it is none."""
    word = word.strip()
    if not word:
        return None
    if word[0].isdigit():
        try:
            return float(word.replace(",", ""))
        except ValueError:
            return None
    if word == "半":
        return 0.5
    if word[0] in HAN_DIGITS or word[0] in _HAN_SCALE:
        return _han_number(word)
    total = current = 0.0
    for part in re.split(r"[ -]", word):
        if part in _WORD_NUMBERS:
            current += _WORD_NUMBERS[part]
        elif part in _SCALES:
            current = max(current, 1) * _SCALES[part]
            if _SCALES[part] >= 1000:
                total, current = total + current, 0.0
        elif part == "half":
            current = 0.5
    return total + current


def _han_number(word: str) -> float:
    if not any(c in _HAN_SCALE for c in word):
        return float("".join(str(HAN_DIGITS[c]) for c in word))
    total = section = digit = last = 0
    for c in word:
        if c in HAN_DIGITS:
            digit = HAN_DIGITS[c]
            last = 10 if c in "零〇" else last
        elif _HAN_SCALE[c] >= 10_000:
            total, section, digit = (total + section + digit or 1) * _HAN_SCALE[c], 0, 0
            last = _HAN_SCALE[c]
        else:
            section += (digit or 1) * _HAN_SCALE[c]
            digit, last = 0, _HAN_SCALE[c]
    if digit and word[-1] in HAN_DIGITS and last > 10:  # 两千五 is 2,500, 一百零五 is 105
        digit *= last // 10
    return float(total + section + digit)


def plain(number: float) -> str:
    """A number as text: no trailing zeros, no exponent for everyday sizes; whole numbers to their last digit, since
    numbers of phones, orders and cards differ there."""
    # Before Python 3.12 only floats have is_integer.
    whole = abs(number) < _EXACT and float(number).is_integer()
    return str(int(number)) if whole else f"{number:.10g}"
