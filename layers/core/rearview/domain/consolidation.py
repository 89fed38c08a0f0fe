"""Consolidation: which episodes of one user are alike enough to become one memory.

Two episodes are alike when they are of one kind and speaker, speak of the same people, hold the same numbers, claimed
dates, denials and states, are about the same things, and lie near each other in meaning. A group is a set in which
every two are alike (complete linkage), so that a chain of small steps never joins what is far apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise

from rearview.domain.claims_rules import SlotRules
from rearview.domain.consolidation_reading import Profile, profile
from rearview.domain.consolidation_words import GOT
from rearview.domain.relations import relate
from rearview.domain.relations_compare import weight
from rearview.domain.relations_same import ORDERED

#: Standard deviations above the mean cosine of unrelated texts from which on two texts are near in meaning.
NEAR_DEVIATIONS = 3.0
#: Least weight that two texts share before one of them may say more, and how much more, as a share of it.
_SHARED, _MORE = 2.0, 1 / 3
#: Episodes that one abstraction rests on at most; what comes after makes another one.
MOST = 1000


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing that happened. ``at``: when; ``times``: all its occurrences, repeats word for word included.

    ``more``: further ones whose times are not known. ``room``: what must be equal beside the text (kind, speaker, audience).
    """

    id: str
    text: str
    at: datetime
    room: tuple[str, ...] = ()
    times: tuple[datetime, ...] = ()
    more: int = 0

    @property
    def count(self) -> int:
        """How often it happened."""
        return max(1, len(self.times)) + self.more


Pair = tuple[str, str, float]


def near(noise: tuple[float, float]) -> float:
    """The cosine from which on two texts are near, by the ``noise`` (mean, deviation) of unrelated ones.

    At most .95, so that equal texts stay near under any model.
    """
    return min(0.95, noise[0] + NEAR_DEVIATIONS * noise[1])


def rooms(episodes: Iterable[Episode], rules: SlotRules) -> list[list[Episode]]:
    """The episodes that may be alike at all, by everything that must be equal; each list in order of time."""
    found: dict[tuple[object, ...], list[Episode]] = defaultdict(list)
    for episode in sorted(episodes, key=lambda item: (item.at, item.id)):
        found[episode.room, profile(episode.text, episode.at, rules).guard].append(episode)
    return list(found.values())


def alike(a: Episode, b: Episode, rules: SlotRules) -> bool:
    """Whether two episodes, near in meaning, tell the same thing happening."""
    one, two = profile(a.text, a.at, rules), profile(b.text, b.at, rules)
    if a.room != b.room or one.guard != two.guard:
        return False
    if one.plain == two.plain:
        return True
    if not one.keys or not two.keys or not _same_things(one, two):
        return False
    return relate(one.bare, two.bare, rules=rules).relation != "contradiction"


def _same_things(one: Profile, two: Profile) -> bool:
    if (one.part and two.part and one.part != two.part) or (
        one.beside and two.beside and one.beside != two.beside
    ):
        return False
    ours, theirs = set(one.keys), set(two.keys)
    if (ours - theirs) <= GOT and (theirs - ours) <= GOT and (ours - theirs) and (theirs - ours):
        ours, theirs = ours - GOT, theirs - GOT  # "ordered a latte", "bought a latte"
    left, right = weight(ours - theirs), weight(theirs - ours)
    if left and right:
        return False  # another object: "the order list", "the invoice list"
    shared = weight(ours & theirs)
    if not shared:
        return False
    if left or right:
        longer, extra = (one, ours - theirs) if left else (two, theirs - ours)
        first = next(key for key in longer.keys if key in extra)
        # "the backup server" is another one than "the server", "the server, over lunch" is not
        if shared < _SHARED or left + right > _MORE * shared or first not in longer.loose:
            return False
    if any(name not in two.core for name in one.names) or any(name not in one.core for name in two.names):
        return False
    if ORDERED.search(one.core) or ORDERED.search(two.core):
        return one.keys == two.keys
    return _in_order(one, two)


def _in_order(one: Profile, two: Profile) -> bool:
    """People come in the same order, so do who did it and to whom, and single Chinese characters in the same words."""
    if [k for k in one.people if k in two.people] != [k for k in two.people if k in one.people]:
        return False
    if _turned(one.order, two.order):
        return False
    ours, theirs = _bigrams(one.keys), _bigrams(two.keys)
    smaller = min(len(ours), len(theirs))
    return not smaller or len(ours & theirs) >= smaller / 2


def _turned(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether three things of one text come in the other the other way round ("the dog bit the postman"): two that change
    places around what stands between them. Two alone may: "milk and bread"."""
    place = {key: number for number, key in enumerate(two)}
    # The longest falling run that ends at each of them.
    falls: list[tuple[int, int]] = []
    for at in (place[key] for key in one if key in place):
        longest = 1 + max((length for other, length in falls if other > at), default=0)
        if longest == 3:
            return True
        falls.append((at, longest))
    return False


def _bigrams(keys: Sequence[str]) -> set[str]:
    return {a + b for a, b in pairwise(keys) if len(a) == len(b) == 1 and not (a + b).isascii()}


def group(
    episodes: Sequence[Episode], pairs: Iterable[Pair], rules: SlotRules, smallest: int
) -> list[list[Episode]]:
    """Groups of at least ``smallest`` occurrences, each in order of time; the same for any order of the input.

    ``pairs``: (id, id, cosine) of all that are near in meaning. The nearest are joined first, and two groups only if
    all pairs across are alike and near.
    """
    by_id = {episode.id: episode for episode in episodes}
    linked = _linked(by_id, pairs, lambda a, b: alike(a, b, rules)) | _same_words(episodes, rules)
    home = {episode_id: {episode_id} for episode_id in by_id}
    for (a, b), _ in sorted(linked.items(), key=lambda item: (-round(item[1], 6), item[0])):
        ours, theirs = home[a], home[b]
        if ours is theirs or len(ours) + len(theirs) > MOST:
            continue
        if all((min(x, y), max(x, y)) in linked for x in ours for y in theirs):
            ours |= theirs
            for member in theirs:
                home[member] = ours
    groups = {min(members): members for members in home.values()}
    found = [
        sorted((by_id[member] for member in members), key=lambda item: (item.at, item.id))
        for members in groups.values()
    ]
    found = [some for some in found if sum(item.count for item in some) >= smallest]
    return sorted(found, key=lambda some: (some[0].at, some[0].id))


def _same_words(episodes: Sequence[Episode], rules: SlotRules) -> dict[tuple[str, str], float]:
    """Word for word the same: near whatever the vectors say, which hold the day as well."""
    found: dict[tuple[str, tuple[object, ...]], list[Episode]] = defaultdict(list)
    for episode in episodes:
        found[profile(episode.text, episode.at, rules).plain, episode.room].append(episode)
    return {
        (min(a.id, b.id), max(a.id, b.id)): 1.0
        for same in found.values()
        for a, b in combinations(same, 2)
        if alike(a, b, rules)
    }


def _linked(
    by_id: Mapping[str, Episode], pairs: Iterable[Pair], judge: Callable[[Episode, Episode], bool]
) -> dict[tuple[str, str], float]:
    return {
        (min(a, b), max(a, b)): cosine
        for a, b, cosine in pairs
        if a != b and a in by_id and b in by_id and judge(by_id[a], by_id[b])
    }
