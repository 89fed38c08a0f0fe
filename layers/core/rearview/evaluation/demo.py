"""The demo: one user's two conversations, in Chinese and English, through every verb; each result is checked.

It moves through the product's own use cases, so that what it shows is what a caller gets. A step that does not give
what it should says so, and the demo as a whole has then failed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from rearview.domain import keys
from rearview.domain.principal import LOCAL
from rearview.domain.times import to_text
from rearview.evaluation.demo_years import the_years
from rearview.usecases.app import Rearview
from rearview.usecases.commands import EndSession, RecordDecision, RecordOutcome, Resolve, WriteTurns
from rearview.usecases.fields import read
from rearview.usecases.questions import Context, ListConflicts, Precedents, Recall, RunAudit
from rearview.usecases.views import RecallAnswer

USER: Final = "lin"
FIRST: Final[tuple[tuple[str, str], ...]] = (
    ("user", "你好，在吗？"),
    ("user", "我叫林悦，我住在杭州。"),
    ("user", "我对花生严重过敏，吃饭时一定要避开花生。"),
    ("assistant", "好的，还有什么需要我记住的吗？"),
    ("user", "My order number is RV-20931877, for a grey desk lamp."),
    ("user", "I prefer short answers with bullet points."),
    ("user", "My sister Mei is getting married in October."),
    ("user", "哈哈，谢谢！"),
)
SECOND: Final[tuple[tuple[str, str], ...]] = (
    ("user", "Hi again!"),
    ("user", "我上个月搬家了，现在住在上海。"),
    ("user", "I have a cat called Mochi."),
    ("user", "我喜欢靠窗的座位，也喜欢吃川菜。"),
    ("assistant", "Noted. Shall I look for a restaurant?"),
    ("user", "Yes please, thanks."),
)
#: Question, what the best hit must hold, and what the question shows.
QUESTIONS: Final = (
    ("她对什么食物过敏？", "花生", "a Chinese question finds a Chinese memory of an earlier session"),
    ("我的订单号是多少？", "RV-20931877", "a Chinese question finds an English memory"),
    ("Is there any food she must not eat?", "花生", "an English question finds a Chinese memory"),
    ("How should answers be written?", "bullet points", "an English question finds an English memory"),
)


def _names() -> Iterator[str]:
    return itertools.chain([USER], (f"{USER}-{number}" for number in itertools.count(2)))


@dataclass(slots=True)
class Step:
    """One thing shown: lines for people, data for programs, and what was claimed with whether it holds."""

    title: str
    lines: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    checks: list[tuple[str, bool]] = field(default_factory=list)
    seconds: float = 0.0

    def check(self, claim: str, holds: object) -> None:
        """Claims something that the step must show."""
        self.checks.append((claim, bool(holds)))

    def as_json(self) -> dict[str, Any]:
        """The step as JSON types."""
        checks = [{"claim": claim, "holds": holds} for claim, holds in self.checks]
        return {"title": self.title, "data": self.data, "checks": checks, "seconds": round(self.seconds, 3)}


class Demo:
    """Runs over any store; where an earlier demo left its user, it takes a fresh one (``lin-2``, …)."""

    def __init__(self, app: Rearview) -> None:
        self.app = app
        self.user = next(name for name in _names() if self._free(name))
        self._conflict: dict[str, Any] | None = None

    def run(self) -> Iterator[Step]:
        """The steps, each as it is done. A step that breaks is told as a check that does not hold, and ends it."""
        parts: Sequence[tuple[str, Callable[[Step], None]]] = (
            ("A first conversation, three weeks ago", self._first),
            ("Recall across sessions and languages", self._recall),
            ("A second conversation: she has moved", self._second),
            ("The conflict, its resolution, and undo", self._settle),
            ("Decisions that rest on memories, and how they went", self._decide),
            ("Precedents: what worked in a situation like this?", self._precedents),
            (
                "The years: episodes become one memory, what she says a profile",
                lambda step: the_years(self.app, self.user, step),
            ),
            ("A block for the next prompt", self._context),
            ("Audit", self._audit),
        )
        for title, part in parts:
            step = Step(title)
            started = time.perf_counter()
            try:
                part(step)
            except Exception as error:
                step.check(f"{title} runs through ({type(error).__name__}: {error})", False)
            step.seconds = time.perf_counter() - started
            yield step
            if not all(holds for _, holds in step.checks) and "runs through" in step.checks[-1][0]:
                return

    # --- the steps ---

    def _first(self, step: Step) -> None:
        self._say(step, "first-visit", FIRST, days_ago=21)
        kept = step.data["memories"]
        step.check(
            "greetings and thanks leave no memory", not any("谢谢" in item["content"] for item in kept)
        )
        for word in ("杭州", "花生", "RV-20931877", "bullet points"):
            step.check(f"“{word}” is remembered", any(word in item["content"] for item in kept))
        request = read(EndSession, {"user_id": self.user})
        _, ended = self.app.session_ender.end(LOCAL, "first-visit", request)
        step.lines.append(f"session ended; its summary: {(ended['memory'] or {}).get('summary')}")
        step.check("ending a session leaves a summary", ended["memory"] is not None)

    def _recall(self, step: Step) -> None:
        step.data["questions"] = []
        for question, wanted, shows in QUESTIONS:
            answer = self._ask(question)
            found = [hit.content or "" for hit in answer.hits]
            unsure = "  (it abstains; nearest:)" if answer.abstained else ""
            step.lines += [f"Q: {question}{unsure}", *self._hits(answer, 2)]
            step.data["questions"].append(
                {"query": question, "hits": found, "abstained": answer.abstained, "took_ms": answer.took_ms}
            )
            step.check(shows, found and wanted in found[0])

    def _second(self, step: Step) -> None:
        self._say(step, "second-visit", SECOND, days_ago=0)
        conflicts = self._open()
        residence = [item for item in conflicts if item["slot"] == "residence"]
        step.check("the new residence is noticed as a conflict", residence)
        if residence:
            self._conflict = residence[0]
            step.lines.append(f"to ask her: {residence[0]['question']}")
        step.data["conflicts"] = conflicts

    def _settle(self, step: Step) -> None:
        answer = self._ask("Which city does she live in?")
        step.lines += self._hits(answer, 3)
        step.check("until she answers, recall shows both and the question", len(answer.conflicts) >= 1)
        if self._conflict is None:
            step.check("there is a conflict to settle", False)
            return
        conflict_id, members = self._conflict["id"], self._conflict["memory_ids"]
        keep = next(item for item in members if "上海" in self._memory(item)["content"])
        old = next(item for item in members if item != keep)
        step.lines.append("she says: Shanghai is right")
        resolved = self.app.settler.resolve(LOCAL, conflict_id, read(Resolve, {"keep": keep}))
        self._caught_up()
        step.check("the older one is superseded, not lost", self._memory(old)["superseded_by"] == keep)
        now = self._ask("Which city does she live in?")
        step.lines += self._hits(now, 1)
        shown = {hit.id for hit in now.hits}
        step.check("recall now answers with Shanghai alone", keep in shown and old not in shown)
        self.app.settler.undo(LOCAL, conflict_id)
        step.check("undo brings both back", self._memory(old)["status"] == "disputed")
        self.app.settler.resolve(LOCAL, conflict_id, read(Resolve, {"keep": keep}))
        self._caught_up()
        rows = self.app.reader.history(LOCAL, old)["items"]
        step.lines.append("history of the older one: " + " → ".join(row["change"] for row in rows))
        step.check("every state of it is kept", rows[-1]["memory"]["status"] == "superseded")
        step.data.update(conflict=resolved.model_dump(mode="json"), history=[row["change"] for row in rows])

    def _decide(self, step: Step) -> None:
        first = self._decision(
            "Choose a restaurant for Lin's birthday dinner",
            "book the Thai place",
            "popular, close to her office",
        )
        self._outcome(first["id"], "failure", "peanuts in nearly every dish; she could not eat")
        answer = self._ask("food allergy and favourite cuisine 过敏 川菜")
        second = self._decision(
            "Choose a restaurant for dinner with Lin's family",
            "book the Sichuan place, no peanuts",
            "她对花生过敏，喜欢川菜",
            recall_id=answer.recall_id,
            parent_id=first["id"],
        )
        outcome = self._outcome(second["id"], "success", "everyone ate well")
        self._caught_up()
        for decision, result in ((first, "failure"), (second, "success")):
            step.lines.append(f"{decision['action']} ({decision['reasoning']}): {result}")
        step.lines.append(f"the second rests on {len(second['memory_ids'])} recalled memories")
        rested = [self._memory(item)["content"] for item in second["memory_ids"]]
        step.check("the decision rests on the allergy", any("花生" in item for item in rested))
        gained = [item for item in outcome["effects"] if item["after"] > item["before"]]
        step.check("its success credits the memories it rested on", gained)
        chain = self.app.tracer.decision(LOCAL, second["id"]).chain
        step.check("its chain leads back to the first", first["id"] in [item.id for item in chain])
        step.data.update(decisions=[first["id"], second["id"]], rested_on=rested, effects=outcome["effects"])

    def _precedents(self, step: Step) -> None:
        asked = {"user_id": self.user, "context": "Pick a restaurant for a dinner with Lin"}
        answer = self.app.tracer.precedents(LOCAL, read(Precedents, asked))
        rates = {item["action"]: item for item in answer["actions"]}
        for action, item in rates.items():
            step.lines.append(
                f"{action}: {item['cases']} case(s), worked {item['successes']:.1f} of {item['n']:.1f} (weighted)"
            )
        best = answer["precedents"][0]["decision"]["action"] if answer["precedents"] else None
        step.check("both earlier decisions come back", len(rates) >= 2)
        step.check("what worked ranks before what failed", best == "book the Sichuan place, no peanuts")
        step.data.update(actions=answer["actions"], best=best)

    def _context(self, step: Step) -> None:
        asked = {
            "user_id": self.user,
            "query": "Where should we have dinner with Lin? 她对什么食物过敏？",
            "max_tokens": 400,
        }
        request = read(Context, asked)
        answer = self.app.context.context(LOCAL, request)
        step.lines += answer.text.splitlines()
        step.check("the block holds the allergy", "花生" in answer.text)
        step.check("it keeps to its budget", answer.tokens <= 400)
        step.check("it is fenced as data", answer.text.startswith("<<<") and answer.text.endswith(">>>"))
        step.data.update(text=answer.text, tokens=answer.tokens)

    def _audit(self, step: Step) -> None:
        self._caught_up()
        report = self.app.auditor.run(LOCAL, read(RunAudit, {"user_id": self.user}))
        step.lines.append(", ".join(f"{name} {count}" for name, count in report["counts"].items()))
        step.lines += [
            f"{item['severity']}: {item['check']}: {item['detail']}" for item in report["findings"]
        ]
        step.check("store, index and ledger agree", report["ok"])
        step.data.update(counts=report["counts"], findings=report["findings"])

    # --- what the steps use ---

    def _free(self, user_id: str) -> bool:
        scope = LOCAL.scope("read", None, user_id)
        return self.app.services.store.get(keys.head(scope.partition)) is None

    def _say(self, step: Step, session: str, lines: Sequence[tuple[str, str]], *, days_ago: int) -> None:
        start = self.app.services.now() - timedelta(days=days_ago, minutes=len(lines))
        turns = [
            {"role": role, "content": content, "at": to_text(start + timedelta(minutes=number))}
            for number, (role, content) in enumerate(lines)
        ]
        request = read(WriteTurns, {"user_id": self.user, "session_id": session, "turns": turns})
        _, answer = self.app.sessions.turns(LOCAL, request, wait=True)
        memories: list[dict[str, Any]] = []
        dropped: list[dict[str, Any]] = []
        for (role, content), result in zip(lines, answer["results"], strict=True):
            step.lines.append(f"{role}: {content}")
            for item in result["memories"]:
                memory = item["memory"]
                memories.append({"id": item["id"], "content": memory["content"], "kind": memory["kind"]})
                step.lines.append(f"    + {memory['kind']}: {memory['summary']}")
            for item in result["dropped"]:
                dropped.append(item)
                step.lines.append(f"    - {item['reason']}")
        step.data.update(memories=memories, dropped=dropped)

    def _ask(self, question: str, top_k: int = 4) -> RecallAnswer:
        asked = {"user_id": self.user, "query": question, "top_k": top_k}
        return self.app.recaller.recall(LOCAL, read(Recall, asked))

    @staticmethod
    def _hits(answer: RecallAnswer, most: int) -> list[str]:
        return [
            f"    {hit.score:.2f}  [{hit.valid_from:%Y-%m-%d}] {hit.summary}"
            + (" (disputed)" if hit.status == "disputed" else "")
            for hit in answer.hits[:most]
        ]

    def _open(self) -> list[dict[str, Any]]:
        request = read(ListConflicts, {"user_id": self.user})
        items: list[dict[str, Any]] = self.app.reader.conflicts(LOCAL, request)["items"]
        return items

    def _memory(self, memory_id: str) -> dict[str, Any]:
        return self.app.reader.memory(LOCAL, memory_id).model_dump(mode="json")

    def _decision(self, context: str, action: str, reasoning: str, **more: Any) -> dict[str, Any]:
        body = {"user_id": self.user, "context": context, "action": action, "reasoning": reasoning, **more}
        _, answer = self.app.tracer.decide(LOCAL, read(RecordDecision, body))
        return answer

    def _outcome(self, decision_id: str, result: str, note: str) -> dict[str, Any]:
        request = read(RecordOutcome, {"result": result, "note": note})
        return self.app.tracer.outcome(LOCAL, decision_id, request)[1]

    def _caught_up(self) -> None:
        self.app.enricher.wait(LOCAL.scope("read", None, self.user).partition, 2**53)
