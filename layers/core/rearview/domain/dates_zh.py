"""Chinese dates and times."""

import re
from datetime import date, timedelta
from re import Match
from typing import Final, Literal

from rearview.domain import dates_calendar as cal
from rearview.domain.dates_calendar import Rule, Speech, Stretch

_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "○": 0}
_N: Final = "(?:[0-9]{1,2}|[一二三四五六七八九两]?十[一二三四五六七八九]?|[一二三四五六七八九两])"
_COUNT: Final = "(?P<count>[0-9]{1,4}(?:\\.[0-9])?|[一二三四五六七八九两]?十[一二三四五六七八九]?|[一二三四五六七八九两半几])"
_YEAR: Final = "(?P<year>(?:19|20|21)[0-9]{2}|9999|[0-9]{2}(?=年(?!前|后|以|之|来|了|多|间))|[一二][零〇○一二三四五六七八九]{3})"
_WEEK: Final = "(?:周|星期|礼拜)"
_WEEKDAYS: Final = (
    {c: n for n, c in enumerate("一二三四五六日")} | {"天": 6} | {str(n + 1): n for n in range(6)}
)
_SHIFTS: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下下": 2, "下": 1}
_WHICH: Final = "(?P<which>上上|下下|上|下|这|本)(?:一)?个?"
_YEARS: Final = {"今年": 0, "本年": 0, "明年": 1, "后年": 2, "去年": -1, "前年": -2}
_WHICH_YEAR: Final = "(?P<named>今年|本年|明年|后年|去年|前年)"
_DAYS: Final = {
    "今天": 0, "今日": 0, "今儿": 0, "明天": 1, "明日": 1, "明儿": 1, "后天": 2, "大后天": 3,
    "昨天": -1, "昨日": -1, "昨儿": -1, "前天": -2, "大前天": -3,
}  # fmt: skip
_SEASONS: Final[dict[str, Literal["spring", "summer", "autumn", "winter"]]] = {
    "春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter",
}  # fmt: skip
_PARTS: Final[dict[str, Literal["early", "mid", "late", "end"]]] = {
    "初": "early", "上旬": "early", "中": "mid", "中旬": "mid", "下旬": "late", "底": "end", "末": "end",
}  # fmt: skip
_PART: Final = "(?P<part>初|上旬|中旬|下旬|底|末|中(?!旬|国|间|心|央))"
# What a part of the day spans, and whether its hours up to eleven are afternoon hours.
_PERIODS: Final = {
    "凌晨": (0, 6, False), "清晨": (5, 8, False), "清早": (5, 8, False), "大清早": (5, 8, False), "早晨": (6, 9, False),
    "早上": (6, 9, False), "早": (6, 9, False), "上午": (8, 12, False), "中午": (11, 14, True), "下午": (12, 18, True),
    "傍晚": (17, 19, True), "晚上": (18, 24, True), "晚": (18, 24, True), "夜里": (20, 24, True), "半夜": (0, 5, False),
    "午后": (12, 18, True),
}  # fmt: skip
_PERIOD: Final = "(?P<period>凌晨|大?清早|清晨|早晨|早上|上午|中午|午后|下午|傍晚|晚上|夜里|半夜)"
_UNITS: Final = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week", "星期": "week",
    "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
_UNIT: Final = "个?(?P<half>半)?(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月|年)"
# No solar date: the lunar calendar is not read.
_SOLAR: Final = "(?<!农历)(?<!阴历)(?<!旧历)"


def numeral(words: str) -> float:
    """The number behind Arabic or Chinese digits up to ninety-nine; 半 is a half, 几 (some) is three."""
    if words[0].isdecimal():
        return float(words)
    if words in ("半", "几"):
        return 0.5 if words == "半" else 3
    tens, ten, ones = words.partition("十")
    if not ten:
        return _DIGITS[tens]
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)


def _int(words: str) -> int:
    return int(numeral(words))


def _written_year(words: str) -> int:
    if words[0].isdecimal():
        return int(words) if len(words) == 4 else 2000 + int(words)
    return int("".join(str(_DIGITS[character]) for character in words))


def _year_of(match: Match[str], speech: Speech, month: int, day: int = 1) -> int:
    groups = match.groupdict()
    if groups.get("year"):
        return _written_year(groups["year"])
    if groups.get("named"):
        return speech.today.year + _YEARS[groups["named"]]
    return cal.nearest_year(speech, month, day)


def _month_day(match: Match[str], speech: Speech) -> Stretch:
    month, day = _int(match["month"]), _int(match["day"])
    first = date(_year_of(match, speech, month, day), month, day)
    if not match["last"]:
        return cal.days(first)
    last = first.replace(day=_int(match["last"]))
    return cal.days(first, max(1, (last - first).days + 1))


def _month(match: Match[str], speech: Speech) -> Stretch:
    month = _int(match["month"])
    first = date(_year_of(match, speech, month), month, 1)
    part = match["part"]
    return cal.month_part(first, _PARTS[part]) if part else cal.months(first.year, month)


def _year(match: Match[str], speech: Speech) -> Stretch:
    number = _year_of(match, speech, 1)
    part = match["part"]
    if part in ("底", "末"):
        return cal.days(date(number, 12, 31)) if part == "底" else cal.months(number, 12)
    if part == "初":
        return cal.months(number, 1, 2)
    return cal.months(number, 5, 3) if part else cal.year(number)


def _year_edge(match: Match[str], speech: Speech) -> Stretch:
    number = speech.today.year
    if match["edge"] == "底":
        return cal.days(date(number, 12, 31))
    past = speech.tense == "past" or speech.today.month < 3
    return cal.months(number if past else number + 1, 1, 2)


def _month_edge(match: Match[str], speech: Speech) -> Stretch:
    shift = _SHIFTS[match["which"] or "本"]
    first = cal.month_start(speech.today.year, speech.today.month + shift)
    if match.groupdict().get("day"):
        return cal.days(first.replace(day=_int(match["day"])))
    if not match["which"] and match["part"] == "初" and speech.today.day > 10 and speech.tense != "past":
        first = cal.month_start(first.year, first.month + 1)
    return cal.month_part(first, _PARTS[match["part"]])


def _day_of_month(match: Match[str], speech: Speech) -> Stretch | None:
    return cal.day_of_month(speech, _int(match["day"]))


def _which_unit(match: Match[str], speech: Speech) -> Stretch:
    shift, unit, today = _SHIFTS[match["which"]], match["unit"], speech.today
    if unit in ("周", "星期", "礼拜"):
        return cal.week(today, shift)
    if unit == "周末":
        return cal.days(cal.monday(today) + timedelta(weeks=shift, days=5), 2)
    if unit == "月":
        return cal.months(today.year, today.month + shift)
    return cal.quarter(today, shift)


def _half_year(match: Match[str], speech: Speech) -> Stretch:
    number = _year_of(match, speech, 1) if match["named"] or match["year"] else speech.today.year
    return cal.months(number, 1 if match["half"] == "上" else 7, 6)


def _weekend(_match: Match[str], speech: Speech) -> Stretch:
    return cal.days(cal.monday(speech.today) + timedelta(days=5), 2)


def _weekday(match: Match[str], speech: Speech) -> Stretch:
    number = _WEEKDAYS[match["weekday"]]
    if not match["which"]:
        return cal.weekday(speech, number)
    return cal.days(cal.monday(speech.today) + timedelta(weeks=_SHIFTS[match["which"]], days=number))


def _season(match: Match[str], speech: Speech) -> Stretch:
    name = _SEASONS[match["season"]]
    if match["named"] or match["year"]:
        return cal.season(_year_of(match, speech, 1), name)
    return cal.season(speech.today.year, name)


def _relative(match: Match[str], speech: Speech) -> Stretch:
    count = numeral(match["count"]) + (0.5 if match["half"] else 0)
    sign = -1 if match["way"].endswith("前") else 1
    return cal.ago(speech, sign * count, _UNITS[match["unit"]])


def _running(match: Match[str], speech: Speech) -> Stretch:
    count = numeral(match["count"]) + (0.5 if match["half"] else 0)
    past = match["way"] in ("过去", "最近", "近")
    return cal.running(speech, -count if past else count, _UNITS[match["unit"]])


def _named(match: Match[str], speech: Speech) -> Stretch:
    return cal.days(speech.today + timedelta(days=_DAYS[match[0]]))


def _short_named(match: Match[str], speech: Speech) -> Stretch:
    first, last, _ = _PERIODS[match["period"]]
    found = cal.part_of_day(speech, first, last, {"今": 0, "明": 1, "昨": -1, "当": 0}[match["day"]])
    return Stretch(found.start, found.end, "hour")


def _period(match: Match[str], speech: Speech) -> Stretch:
    first, last, _ = _PERIODS[match["period"]]
    found = cal.part_of_day(speech, first, last)
    return Stretch(found.start, found.end, "hour", time_of_day=True, weak=True)


def _time(match: Match[str], speech: Speech) -> Stretch:
    hour, groups = _int(match["hour"]), match.groupdict()
    minute: int | None = None
    if groups.get("minute"):
        minute = _int(groups["minute"])
    elif groups.get("part"):
        minute = {"半": 30, "一刻": 15, "三刻": 45, "整": 0}.get(groups["part"])
    period = groups.get("period") or groups.get("short")
    if period:
        afternoon = _PERIODS[period][2]
        if afternoon and (1 <= hour < 11 or (hour == 11 and period not in ("中午",))):
            hour += 12
        elif hour == 12 and period in ("晚上", "晚", "夜里", "半夜"):
            hour = 24 if period != "半夜" else 0
    elif groups.get("hour") and hour < 7 and ":" not in match[0]:
        hour += 12  # an unmarked "three o'clock" is nearly always in the afternoon
    offset = {"今": 0, "明": 1, "昨": -1}.get(groups.get("when") or "")
    # Without a part of the day or minutes, 点 may as well be "three points": only beside a day.
    weak = not period and minute is None and "钟" not in match[0]
    found = cal.clock(speech, hour, minute, weak=weak)
    if offset is None:
        return found
    return cal.onto(cal.days(speech.today + timedelta(days=offset)), found, speech)


RULES: Final[tuple[Rule, ...]] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (
            rf"{_SOLAR}(?:{_YEAR}年|{_WHICH_YEAR}的?)?(?<![0-9.])(?P<month>{_N})月份?(?P<day>{_N})(?![0-9个])[日号]?"
            rf"(?:(?:[-–—~～到至]{{1,2}})(?P<last>{_N})(?:[日号]))?",
            _month_day,
        ),
        (
            rf"{_SOLAR}(?:{_YEAR}年|{_WHICH_YEAR}的?)?(?<![0-9.个第])(?P<month>{_N})月份?(?![饼亮球子{'0-9'}]){_PART}?",
            _month,
        ),
        (rf"(?:{_YEAR}年|{_WHICH_YEAR})(?![前后])(?P<part>初|底|末|中(?!旬|国|间|心|央))?", _year),
        (rf"(?:(?:{_YEAR}年|{_WHICH_YEAR})的?)?(?P<half>[上下])半年", _half_year),
        ("(?<![去前今明后0-9半])年(?P<edge>初|底)(?!一|二|三)", _year_edge),
        (f"(?:{_WHICH})?月(?P<part>初|底|末)", _month_edge),
        (f"{_WHICH}月(?P<part>初|上旬|中旬|下旬|底|末)", _month_edge),
        (f"{_WHICH}月(?P<day>{_N})[日号]", _month_edge),
        (
            f"(?<![0-9.月第一二三四五六七八九十A-Za-z-])(?P<day>{_N})[日号](?![线楼院店馆机选门桌球位床码称仓文本元语常期子])",
            _day_of_month,
        ),
        (f"{_WHICH}(?P<unit>周末|周|星期|礼拜|月|季度)(?![一二三四五六日天初底末])", _which_unit),
        ("周末", _weekend),
        (f"(?:{_WHICH})?{_WEEK}(?P<weekday>[一二三四五六日天1-6])(?![0-9个天年月岁期])", _weekday),
        (rf"(?:(?:{_YEAR}年|{_WHICH_YEAR})的?)(?P<season>[春夏秋冬])[天季]?", _season),
        (f"(?<![第每])(?<![0-9.]){_COUNT}{_UNIT}(?P<way>之?后|以后|过后|之?前|以前)", _relative),
        (f"(?<![第每])(?P<way>过)(?<![0-9.]){_COUNT}{_UNIT}(?!了)", _relative),
        (f"(?P<way>过去|最近|近|未来|接下来)的?这?{_COUNT}{_UNIT}", _running),
        ("大后天|大前天|今天|今日|今儿|明天|明日|明儿|后天|昨天|昨日|昨儿|前天", _named),
        ("(?P<day>[今明昨当])(?P<period>早|晚)(?!就|已|点|[0-9一二三四五六七八九十]{1,2}点)", _short_named),
        (_PERIOD, _period),
        (
            rf"(?:{_PERIOD}|(?P<when>[今明昨])(?P<short>早|晚))?的?(?<![0-9.])(?P<hour>{_N})[点點]钟?"
            rf"(?:(?P<part>半|一刻|三刻|整)|(?P<minute>[0-9]{{2}}|[零一二三四五]?十?[一二三四五六七八九]?十?(?<=[一二三四五六七八九十]))分?)?"
            "(?![0-9建意子个理评赞名击以]|起来)",
            _time,
        ),
        (
            rf"(?:{_PERIOD}|(?P<when>[今明昨])(?P<short>早|晚))(?P<hour>[0-2]?[0-9])[:：](?P<minute>[0-5][0-9])(?![0-9])",
            _time,
        ),
    )
)
