"""Entities: the names, numbers and addresses of a text that a later question may ask for, by rules only.

Chinese and English: e-mail addresses, URLs, phone numbers, order numbers and other codes, titles in 《》 and
quotation marks, handles, capitalised names, Chinese names by their surname and an anchor, organisations and
places by their ending. Every pattern is bounded: time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MAX_ENTITIES = 50
MAX_ENTITY_CHARS = 120

_SURNAME = (
    "(?:欧阳|司马|诸葛|上官|[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章云苏潘葛"
    "奚范彭郎鲁韦昌马苗凤方俞任袁柳鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于傅皮齐康伍余元顾孟黄穆萧尹姚邵汪祁毛"
    "禹狄米贝明戴宋庞熊纪舒屈项祝董梁杜阮蓝季贾江童颜郭梅林钟徐邱骆高夏蔡田樊胡凌霍虞万柯莫房裘解应宗丁邓洪包左石"
    "崔龚程邢陆翁荀甄曲封靳焦谷车侯宁仇甘武刘景詹龙叶黎白赖乔温庄阎艾向古易廖耿曾沙关冉])"
)
_HAN = r"\u3400-\u9fff"
_ROLE = "(?:老师|先生|女士|小姐|经理|医生|教授|总监|主任|律师|师傅|阿姨|叔叔|同学|主管|院长|博士|总)"
_SCAN = re.compile(
    r"(?P<url>https?://[^\s<>\"，。；）)】》]{1,300}|(?<![\w@.-])www\.[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?:/[^\s<>\"，。]{0,200})?)"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})"
    r"|(?P<title>《[^《》\n]{1,60}》|「[^「」\n]{1,60}」|“[^“”\n]{2,60}”|(?<![\w])\"[^\"\n]{2,60}\"(?![\w]))"
    r"|(?P<phone>(?<![\w.+-])(?:\+\d{1,3}[ -]?)?(?:1[3-9]\d{9}|0\d{2,3}-\d{7,8}|\(\d{3}\) ?\d{3}-\d{4}|\d{3}[ -]\d{3,4}[ -]\d{4}|\d{5} \d{6}|\d{3}-\d{4})(?![\w-]))"
    r"|(?P<code>(?<![\w.#-])#?(?=[\w-]{0,30}\d)(?:[A-Za-z]{1,8}(?:[-_][A-Za-z]{1,8}){0,2}[-_]?\d[\w-]{0,30}|\d{1,12}[A-Za-z][\w-]{0,30}|\d{2,8}(?:-[A-Za-z0-9]{2,12}){1,4})(?![\w])|#\d{2,15}(?!\w))"
    r"|(?P<number>(?:(?<![a-z])(?:order|invoice|ticket|case|tracking|booking|account|employee|badge)(?: (?:no\.?|number|id))?(?: is|:)? ?#?|(?:订单|单号|运单|工单|发票|工号|学号|卡号|编号|账号)号?[是为:：]? ?)(\d{3,20})(?!\w))"
    r"|(?P<handle>(?<![\w@.])@[A-Za-z][\w-]{1,38})",
    re.ASCII | re.IGNORECASE,
)
_CAPITALISED = re.compile(
    r"(?<![\w@/.'-])[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][\w.'-]{0,30}?(?:[A-Z]\w{0,20})*(?:(?: (?:of|de|van|von|der|la|af) | )[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][\w'-]{0,30}){0,4}(?![\w'-])"
)
_HAN_PATTERNS = (
    re.compile(
        rf"(?:叫做?|名叫|名字是|姓名[:：是]|联系人[:：是]?|@)({_SURNAME}[{_HAN}]{{1,2}})(?![{_HAN}]{{0,1}}号)"
    ),
    re.compile(rf"(?<![{_HAN}])({_SURNAME}[{_HAN}]{{1,2}})(?=[说在去和跟与给的是，,、。:：]|$)"),
    re.compile(rf"({_SURNAME}[{_HAN}]{{0,2}}?{_ROLE})"),
    re.compile(rf"((?:小|老|阿){_SURNAME})(?=[说在去和跟与给的是负也，,、。]|$)"),
    re.compile(
        rf"(?<![{_HAN}])(?:[{_HAN}]{{0,8}}[是在叫去到从入为给和与])?([{_HAN}]{{2,8}}?(?:公司|集团|大学|医院|银行|中学|小学|研究院|出版社|事务所|科技))"
    ),
    re.compile(
        rf"(?:住在|住到|搬到|搬去|来自|在|去|到|从|住|回)((?![在去到从回])[{_HAN}]{{2,8}}?(?:省|市|县|区|镇|路|街|机场|车站|火车站|广场|小区|大厦))"
    ),
)
# Begin a sentence or mark the calendar; capitals alone make no name of them.
_COMMON_WORDS = """
    a an the i i'm i've i'll i'd it it's its he she they we you my your our his her their this that these those there
    here what when where who why how which if and but or so yes no not ok okay please thanks thank hi hello hey dear
    user users is are was were do does did have has had can could will would should may might must let let's on in at
    to for from with by of as after before since until during while because although also just only never always
    today tomorrow yesterday now then later first last next every each all some any many most both another one two
    three four five six seven eight nine ten actually honestly maybe sure well remember note update correction
    deadline meeting order call send use using get got go going make need want like love hate prefer don't doesn't
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december mr mrs ms dr ask see tell meet met visit buy check read thank
    bring remind add set try ship deploy book moved met
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def find_entities(text: str) -> list[str]:
    """The entities of ``text`` as written (NFKC), in order of appearance, without repeats, at most 50."""
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    taken = bytearray(len(text))
    found: list[tuple[int, str]] = []

    def take(start: int, end: int, words: str) -> None:
        words = words.strip(" .'-")
        if not words or len(words) > MAX_ENTITY_CHARS or 1 in taken[start:end]:
            return
        taken[start:end] = b"\x01" * (end - start)
        found.append((start, words))

    for match in _SCAN.finditer(text):
        group = match.lastgroup or ""
        if match["number"]:
            take(match.end() - len(match[7]), match.end(), match[7])
        elif group == "title":
            take(match.start(), match.end(), match[0][1:-1].strip())
        else:
            take(match.start(), match.end(), match[0].rstrip(".,"))
    for start, end, words in _names(text):
        take(start, end, words)
    for pattern in _HAN_PATTERNS:
        for match in pattern.finditer(text):
            take(match.start(1), match.end(1), match[1])
    ordered = dict.fromkeys(words for _, words in sorted(found, key=lambda f: f[0]))
    return list(ordered)[:MAX_ENTITIES]


_QUOTES = str.maketrans({"\u2019": "'"})


def _names(text: str) -> Iterator[tuple[int, int, str]]:
    """Runs of capitalised words, without the common words a sentence may begin with."""
    for match in _CAPITALISED.finditer(text):
        start, words = match.start(), match[0].split(" ")
        while words and _bare(words[0]) in _COMMON:
            start += len(words[0]) + 1
            words = words[1:]
        while words and words[-1].islower():
            words = words[:-1]
        if not words:
            continue
        name = " ".join(words).removesuffix("'s").rstrip(".'")
        # One plain capitalised word at the start of a sentence is most often a common word.
        opens = not text[:start].rstrip() or text[:start].rstrip()[-1:] in ".!?。！？\n:：-"
        if (
            opens
            and len(words) == 1
            and name.istitle()
            and not words[0].endswith("'s")
            and not _NAME_FOLLOWS.match(text, start + len(words[0]))
        ):
            continue
        yield start, start + len(" ".join(words)), name


_NAME_FOLLOWS = re.compile(
    r" (?:is|was|has|had|lives|works|said|says|and [A-Z]|moved|wants|likes|prefers|will|'s)(?!\w)|[\u3400-\u9fff]"
)


def _bare(word: str) -> str:
    return word.removesuffix("'s").rstrip(".,'").lower()
