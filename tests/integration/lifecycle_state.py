"""What is known of a life, and what must be true of it at any time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rearview.domain import keys
from rearview.domain.scope import Scope
from rearview.domain.types import LIVE, STATUSES
from rearview.errors import Gone, Unavailable
from rearview.usecases.fields import read
from rearview.usecases.forgetting import NOBODY
from rearview.usecases.packs import items_of, load
from rearview.usecases.questions import ListAudits
from rearview.usecases.texts import texts_of
from tests.house import House

USER = "mira"
SCOPE = Scope("default", USER)
AT = SCOPE.partition
#: Everyday things said again and again, contradictions, long texts, and what scripts can do to a string.
TEXTS = (
    "Asked for the order list by date ascending",
    "Requested the order list, by date ascending",
    "Asked for the order list by amount",
    "用户要求订单列表，按日期升序",
    "用户又要了一次订单列表，按日期升序",
    "请求订单列表，按金额排序",
    "I live in Lisbon.",
    "I live in Oslo.",
    "我住在里斯本。",
    "我住在奥斯陆。",
    "I prefer answers in short bullet points.",
    "从现在起请用表格回答我。",
    "On Thursday the plumber came back to the cottage, replaced the valve under the copper basin, found a hairline "
    "crack in the downpipe and sealed it with resin.",
    "周二下午和装修队在老房子见面，量了厨房和阳台的尺寸，橱柜要做到顶，台面选石英石，水槽靠窗，先付了一半定金。",
    "Café 👩‍👩‍👧 \u202eהזמנה\u202c for the ﬁrst ｆｕｌｌ table by the window, e\u0301te\u0301 menu, before the music starts.",
    "The old umbrella stood by the door.",
    "他提过一次去岛上的渡轮。",
)
MORE = (
    "Indeed, on the second visit, nothing else was said about it than that.",
    "第二次来访时没有再说别的。",
    "!",
)


class Fickle:
    """An archive that is away for a while."""

    def __init__(self, real: Any) -> None:
        self.real, self.away = real, False

    def __getattr__(self, name: str) -> Any:
        if self.away:
            raise Unavailable("the archive is away")
        return getattr(self.real, name)


class Books:
    """The books of one life, on a folder of its own."""

    def __init__(self, home: House) -> None:
        self.home, self.app, self.services = home, home.app, home.app.services
        self.services.wait_seconds = 0.0
        self.archive = self.services.archive = Fickle(self.services.archive)
        #: What each acknowledged memory says; None: its text is for others to change (an abstraction).
        self.texts: dict[str, str] = {}
        self.order: list[str] = []
        #: (moment, what each memory said then).
        self.moments: list[tuple[datetime, dict[str, str]]] = []
        #: What was seen deleted at some time, and what people stand by.
        self.dead: set[str] = set()
        self.sacred: set[str] = set()
        self.resolved: list[str] = []
        self.outcomes: list[str] = []

    def remember(self) -> None:
        """What is said at this moment, to be asked for later."""
        self.settled()
        head = self.services.store.get(keys.head(AT))
        # By the user's own time, which never goes back, whatever is done to the clock.
        if head is not None:
            self.moments.append((datetime.fromisoformat(head["last_at"]), self.present()))

    # --- what must be true ---

    def look(self) -> None:
        """Everything at once; only while the archive is there."""
        self.settled()
        if self.archive.away:
            return
        self.answers()
        self.audited()
        self.found()
        self.earlier()

    def answers(self) -> None:
        """By id: the right text, or 410 with a reason."""
        seen: dict[str, dict[str, Any]] = {}
        for memory_id, text in self.texts.items():
            try:
                seen[memory_id] = self.home.get(memory_id)
            except Gone as error:
                self.nothing_left(memory_id, error.detail)
                continue
            assert seen[memory_id]["content"] == text, f"{memory_id} says {seen[memory_id]['content']!r}"
        for memory_id, memory in seen.items():
            if memory["status"] == "deleted":
                self.dead.add(memory_id)
                if memory["deleted_by"] == NOBODY:
                    assert memory_id not in self.sacred, f"{memory_id} was forgotten unasked"
            versions = [row["version"] for row in self.home.history(memory_id)]
            assert versions == list(range(1, memory["version"] + 1)), f"{memory_id}: {versions}"

    def nothing_left(self, memory_id: str, detail: str) -> None:
        """Of what was purged, which somebody must have deleted, and has a reason."""
        if "purged" not in detail:
            assert "expired" in detail, f"{memory_id} is gone: {detail}"
            return
        assert memory_id in self.dead or "because: expired" in detail, f"{memory_id} is gone: {detail}"
        assert "because" in detail
        assert not list(self.archive.real.keys(texts_of(AT, memory_id)))
        assert self.services.store.query(AT, keys.history_of(memory_id), limit=1).items == []
        for item in items_of(self.services.store, AT):
            pack = load(self.services, AT, item.id)
            assert memory_id not in item.ids
            assert pack is None or memory_id not in {entry.id for entry in pack.entries}

    def audited(self) -> None:
        report = self.home.audit(USER)
        errors = [item for item in report["findings"] if item["severity"] == "error"]
        assert not errors, errors

    def found(self) -> None:
        """What stands is found by its own words, cold or not; what does not is never a hit."""
        for item in self.home.memories(USER, status=list(STATUSES)):
            because = item["archived_because"]
            wanted = item["status"] in LIVE or (item["status"] == "archived" and because != "blame")
            wanted = wanted and not self.over(item)
            answer = self.home.recall(
                item["content"][:2000],
                USER,
                top_k=50,
                include_archived=item["status"] == "archived",
                explain=True,
            )
            assert answer.degraded == []
            allowed = {*LIVE, "archived"} if item["status"] == "archived" else LIVE
            # Without include_archived what is cold may come where little else was found.
            assert {hit.status for hit in answer.hits} <= {*allowed, "archived"}
            if wanted:
                texts = {hit.content for hit in answer.hits}
                ids = {hit.id for hit in answer.hits}
                assert item["id"] in ids or item["content"] in texts, f"not found: {item}\n{answer.explain}"

    def earlier(self) -> None:
        """Earlier moments look as they did then, but for what was purged."""
        for moment, said in self.moments:
            asked = {"known_at": moment.isoformat(), "status": list(STATUSES)}
            then = {item["id"]: item["content"] for item in self.home.memories(USER, **asked)}
            for memory_id, text in said.items():
                if memory_id in then:
                    assert then[memory_id] == text, f"{memory_id} at {moment}: {then[memory_id]!r}"
                else:
                    assert self.purged(memory_id), f"{memory_id} was there at {moment}"

    # --- what is there ---

    def heard(self, answer: dict[str, Any], text: str | None) -> None:
        memory_id = answer["id"]
        if memory_id is None or answer["verdict"] in ("duplicate", "drop"):
            return
        self.texts[memory_id] = self.home.get(memory_id)["content"] if text is None else text
        if memory_id not in self.order:
            self.order.append(memory_id)

    def pick(self, which: int) -> str:
        if not self.order:
            raise Gone("nothing was written yet")
        return self.order[-1 - which % len(self.order)]

    def present(self) -> dict[str, str]:
        return {
            memory_id: text
            for memory_id, text in self.texts.items()
            if not self.purged(memory_id) and not self.over(self.stored(memory_id))
        }

    def over(self, item: dict[str, Any]) -> bool:
        expires = item["expires_at"]
        return expires is not None and datetime.fromisoformat(expires) <= self.home.clock.at

    def stored(self, memory_id: str) -> dict[str, Any]:
        return self.services.store.get(keys.memory(AT, memory_id)) or {"expires_at": None}

    def purged(self, memory_id: str) -> bool:
        return self.services.store.get(keys.memory(AT, memory_id)) is None

    def settled(self) -> None:
        self.app.enricher.drain(AT, 10_000)

    def reports(self) -> list[dict[str, Any]]:
        asked = read(ListAudits, {"kind": "forgetting"})
        items: list[dict[str, Any]] = self.app.lister.audits(self.home.principal, asked)["items"]
        return items

    def everything(self) -> dict[str, Any]:
        """All that store and archive hold of the user."""
        page = self.services.store.query(AT, "", limit=100_000)
        # Jobs go with their run's report; how far the profile has read is no more than a note.
        notes = (keys.JOBS, "F#~")
        found: dict[str, Any] = {at.sort: body for at, body in page.items if not at.sort.startswith(notes)}
        return found | {key: self.archive.real.get(key) for key in self.archive.real.keys(AT)}
