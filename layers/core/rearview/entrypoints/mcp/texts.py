"""The readable half of an answer: a few lines for the model. Stored text stands between fences, labelled by origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rearview.entrypoints.mcp.descriptions import NOTICE
from rearview.errors import RearviewError
from rearview.usecases.context import FENCE, plain_line, unfenced

SHOWN: Final = 400

Body = Mapping[str, Any]


def fence(lines: Iterable[str]) -> str:
    """Stored text between its marks; the lines must have gone through ``plain_line`` or ``unfenced``."""
    return "\n".join([FENCE.format(mark="BEGIN"), *lines, FENCE.format(mark="END")])


def problem_text(error: RearviewError) -> str:
    """Title, status, and every broken rule; names of fields may come from the caller and are cut."""
    head = f"{error.title} ({error.status})"
    if not error.errors:
        return f"{head}: {error.detail}"
    lines = [f"- {item.field[:100]}: {item.message} [{item.rule}]" for item in error.errors[:20]]
    more = len(error.errors) - 20
    return "\n".join([head, *lines] + ([f"- and {more} more"] if more > 0 else []))


def short(text: str) -> str:
    """One line of at most SHOWN characters."""
    line = plain_line(text)
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}… (cut; get_memory has all of it)"


def written(body: Body) -> str:
    """What became of a write."""
    reasons = f" Reasons: {', '.join(body['reasons'])}." if body["reasons"] else ""
    verdict = body["verdict"]
    if verdict == "drop":
        return f"Not kept (verdict drop).{reasons} If the user insists, call again with admission: force."
    if verdict == "duplicate":
        return f"Known already: memory {body['duplicate_of']} says the same and was confirmed; id {body['id']}.{reasons}"
    lines = [f"Kept as memory {body['id']} (verdict {verdict}, status {body['status']}).{reasons}"]
    memory = body["memory"] or {}
    if memory.get("pending"):
        lines.append("It can be recalled now; duplicates and conflicts may still follow.")
    if body["supersedes"]:
        lines.append(f"It replaces: {', '.join(body['supersedes'])}.")
    return "\n".join([*lines, *conflicts(body["conflicts"])])


def conflicts(items: Iterable[Body]) -> list[str]:
    """Open conflicts with the questions to ask; none if there are none."""
    still = [item for item in items if item["state"] == "open"]
    if not still:
        return []
    lines = [
        f"- conflict {item['id']} between memories {' and '.join(item['memory_ids'])}: {short(item['question'])}"
        for item in still
    ]
    return [
        f"{len(still)} open conflict(s). Ask the user each question, then call resolve_conflict:",
        fence(lines),
    ]


def _hit(number: int, hit: Body) -> str:
    labels = [f"origin {hit['origin']}", hit["kind"], hit["valid_from"][:10], f"score {hit['score']:.2f}"]
    speaker = hit["source"]["speaker"]
    if speaker:
        labels.append(f"speaker {plain_line(speaker)[:60]}")
    if hit["status"] != "active":
        labels.append(hit["status"])
    if hit["conflicts"]:
        labels.append("in conflict")
    return f"{number}. [{hit['id']}; {', '.join(labels)}] {short(hit['content'] or hit['summary'])}"


def recalled(body: Body) -> str:
    """Hits, best first, and what to do about conflicts; the ready-made block instead of them if there is one."""
    if body["context"] is not None:
        # The block of an abstaining recall has no memories in it, which looks as if there were none to be had.
        unknown = [f"No memory is a good match ({body['reason']})."] if body["abstained"] else []
        lines = [*unknown, body["context"]]
    elif not body["hits"]:
        lines = ["Nothing is remembered that fits."]
    else:
        head = f"{len(body['hits'])} hit(s), best first. {NOTICE}"
        if body["abstained"]:
            head = f"No good match ({body['reason']}); treat it as not known. The nearest: {head}"
        lines = [head, fence(_hit(number, hit) for number, hit in enumerate(body["hits"], 1))]
    if body["degraded"]:
        lines.append(f"Degraded: {', '.join(body['degraded'])}.")
    lines += conflicts(body["conflicts"])
    if body["hits"] and len(body["recall_id"]) <= 2000:
        lines.append(f"recall_id (for record_decision): {body['recall_id']}")
    return "\n".join(lines)


def got(body: Body) -> str:
    """One memory, whole."""
    memory = body["memory"]
    ended = "".join(
        f", {label} {memory[name]}"
        for name, label in (("superseded_by", "replaced by"), ("merged_into", "merged into"))
        if memory[name]
    )
    head = (
        f"Memory {memory['id']}: {memory['kind']}, origin {memory['origin']}, status {memory['status']}{ended}, "
        f"version {memory['version']}, true since {memory['valid_from']}. {NOTICE}"
    )
    lines = [head, fence([unfenced(memory["content"])])]
    if body["history"] is not None:
        lines.append(f"{len(body['history'])} version(s):")
        lines += [
            f"- {row['version']}: {row['change']} at {row['known_from']}, status {row['memory']['status']}"
            for row in body["history"]
        ]
    return "\n".join(lines)


def _decision(body: Body) -> str:
    results = ", ".join(item["result"] for item in body["outcomes"]) or "no outcome yet"
    return f"[decision {body['id']}, {body['occurred_at'][:10]}, {results}] {short(body['context'])} → {short(body['action'])}"


def precedents(body: Body) -> str:
    """What worked, then the cases."""
    if body["abstained"]:
        return "No earlier decision in a like situation."
    rates = [
        f"- {short(item['action'])}: {item['cases']} case(s), "
        + ("outcome unknown" if item["rate"] is None else f"success rate {item['rate']:.0%}")
        for item in body["actions"]
    ]
    cases = [
        f"{number}. ({item['similarity']:.2f} alike) {_decision({**item['decision'], 'outcomes': item['outcomes']})}"
        for number, item in enumerate(body["precedents"], 1)
    ]
    warning = [f"Warning: {short(body['warning'])}"] if body["warning"] else []
    return "\n".join([f"How it went in like situations. {NOTICE}", fence([*warning, *rates, *cases])])


def decided(body: Body) -> str:
    """One decision with outcomes, memories and chain."""
    lines = [_decision(body)]
    if body["reasoning"]:
        lines.append(f"because: {short(body['reasoning'])}")
    lines += [
        f"rested on: [{item['id']}; origin {item['origin']}, {item['status']}] {short(item['content'])}"
        for item in body["memories"]
    ]
    lines += [f"chain: {_decision(item)}" for item in body["chain"]]
    return f"{NOTICE}\n{fence(lines)}"


def replayed(body: Body) -> str:
    """What a decision saw, beside what has become of it."""
    lines = [_decision(body["decision"])]
    for item in body["memories"]:
        now = "is gone or not yours to see" if item["now"] is None else f"now {item['now']['status']}"
        seen = item["then"]
        then = "" if seen is None else short(seen["content"] or seen["summary"])
        lines.append(f"[{item['id']}; {'changed since, ' if item['changed'] else ''}{now}] then: {then}")
    return f"As it stood at {body['at']}. {NOTICE}\n{fence(lines)}"


def forgotten(body: Body) -> str:
    """What would go, or what went."""
    if not body["dry_run"]:
        return f"Forgot {body['count']} memory(ies)."
    if not body["count"]:
        return "Dry run: nothing matches, nothing would go."
    shown = [f"- [{item['id']}; {item['kind']}] {short(item['summary'])}" for item in body["memories"] or []]
    return (
        f"Dry run: {body['count']} memory(ies) would go; nothing has been deleted. Show the user, and if they agree "
        f"call again with the same filter, dry_run: false and confirm: {body['confirm']}\n{fence(shown)}"
    )


def listed(body: Body) -> str:
    """A page of conflicts."""
    if not body["items"]:
        return "No conflicts."
    lines = conflicts(body["items"])
    done = [item for item in body["items"] if item["state"] != "open"]
    lines += [f"- conflict {item['id']}: {item['state']}, {item['resolution']}" for item in done]
    return "\n".join(lines + (["There are more: go on with next_cursor."] if body["next_cursor"] else []))


def resolved(body: Body) -> str:
    """The state of a conflict."""
    if body["state"] == "open":
        return f"Conflict {body['id']} is open again; both memories stand as before."
    kept = f", kept {body['keep']}" if body["keep"] else ""
    return f"Conflict {body['id']} is resolved ({body['resolution']}{kept}). Undo with undo: true."
