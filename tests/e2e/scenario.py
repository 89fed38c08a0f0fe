"""One conversation with the whole API, told as a list of steps that two installations can be compared by."""

from __future__ import annotations

import re
import secrets
from typing import Any

from tests.e2e.targets import Client, eventually

_ULID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
#: Fields whose values are the installation's own: opaque, measured, or in an engine's units.
OWN = {
    "token", "recall_id", "request_id", "took_ms", "cost", "score", "parts", "digest", "hash", "previous", "key",
    "next_cursor", "embedding", "state", "similarity", "tokens", "text", "low", "high", "rate", "n", "successes",
    "failures", "mixed", "confirm", "index_filled_by", "weight", "users_done", "finished_at",
}  # fmt: skip


class Story:
    """The steps so far."""

    def __init__(self, client: Client, user: str) -> None:
        self.client, self.user = client, user
        self.steps: list[tuple[str, int, Any]] = []
        self._names: dict[str, str] = {}

    def step(
        self, method: str, path: str, body: Any = None, only: tuple[str, ...] | None = None, **more: Any
    ) -> dict[str, Any]:
        """One call, whatever it answers. ``only``: the fields that are told; the others are a matter of moments."""
        answer = self.client.call(method, path, body, **more)
        found: dict[str, Any] = answer.json()
        told = re.sub(r"(/v1/writes/).*", r"\1<token>", path.split("?")[0])
        shown = found if only is None else {name: found.get(name) for name in only}
        self.steps.append((f"{method} {self._plain(told)}", answer.status_code, self._plain(shown)))
        return found

    def _plain(self, value: Any, name: str = "") -> Any:
        if name in OWN:
            return None if value is None else f"<{name}>"
        # Whether a worker has come by yet is a matter of moments; that it failed is not.
        if name == "pending" or (name == "enrichment" and value in ("pending", "done")):
            return f"<{name}>"
        if isinstance(value, dict):
            return {key: self._plain(item, key) for key, item in sorted(value.items())}
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if isinstance(value, str):
            value = _TIME.sub("<time>", value).replace(self.user, "<user>")
            return _ULID.sub(
                lambda match: self._names.setdefault(match[0], f"<id {len(self._names) + 1}>"), value
            )
        return value


def tell(client: Client) -> Story:
    """Every route of the API, as a support agent's day would take them, in two languages."""
    user = f"mira-{secrets.token_hex(4)}"
    story = Story(client, user)

    def write(content: str, **more: Any) -> dict[str, Any]:
        return story.step("POST", "/v1/memories?wait=true", {"user_id": user, "content": content, **more})

    story.step("GET", "/health")
    story.step("GET", "/ready")
    peanuts = write("I am allergic to peanuts.")
    write("I am allergic to peanuts.")
    write("我住在上海浦东。", tags=["地址"])
    write("Hello!")
    blue = write("My favourite colour is blue.")
    red = write("My favourite colour is red.")
    conflicts = story.step("GET", f"/v1/conflicts?user_id={user}")["items"]
    for conflict in conflicts[:1]:
        story.step("POST", f"/v1/conflicts/{conflict['id']}/resolve", {"keep": red["id"]})
        story.step("POST", f"/v1/conflicts/{conflict['id']}/undo")
        story.step("POST", f"/v1/conflicts/{conflict['id']}/resolve", {"keep": red["id"]})
    items = [
        {"user_id": user, "content": text}
        for text in ("She works at the harbour museum.", "他每天早上六点起床。")
    ]
    batch = story.step("POST", "/v1/memories/batch?wait=true", {"items": items})
    turns = [
        {"turn_id": "t1", "role": "user", "content": "My order number is A-4711 and it never arrived."},
        {"turn_id": "t2", "role": "assistant", "content": "I am sorry. I will look into it."},
    ]
    story.step("POST", "/v1/turns?wait=true", {"user_id": user, "session_id": "s-1", "turns": turns})
    story.step("GET", f"/v1/sessions/s-1?user_id={user}")
    story.step("POST", "/v1/sessions/s-1/end", {"user_id": user})
    token = write("The gate code is 4321.", memory_type="short_term", ttl_seconds=86_400)["token"]
    story.step("GET", f"/v1/writes/{token}")
    story.step("PATCH", f"/v1/memories/{peanuts['id']}", {"importance": 0.95, "version": 1})
    story.step("GET", f"/v1/memories/{peanuts['id']}")
    story.step("GET", f"/v1/memories/{peanuts['id']}/history")
    story.step("GET", f"/v1/memories?user_id={user}&limit=3")
    story.step("GET", f"/v1/memories?user_id={user}&limit=3&sort=-importance&origin=user&since=2020-01-01")
    _settled(client, user)
    recalled = story.step("POST", "/v1/recall", {"user_id": user, "query": "peanuts allergic", "top_k": 1})
    story.step("POST", "/v1/recall", {"user_id": user, "query": "上海浦东", "top_k": 1})
    story.step("POST", "/v1/context", {"user_id": user, "query": "peanuts", "top_k": 1, "max_tokens": 200})
    decision = story.step(
        "POST",
        "/v1/decisions",
        {
            "user_id": user,
            "context": "A parcel never arrived",
            "action": "send it again",
            "options": ["refund", "send it again"],
            "reasoning": "the customer wants the goods",
            "memory_ids": [peanuts["id"]],
            "recall_id": recalled["recall_id"],
        },
    )
    outcome = story.step(
        "POST", f"/v1/decisions/{decision['id']}/outcomes", {"result": "success", "score": 0.8}
    )
    eventually(lambda: client.get(f"/v1/decisions/{decision['id']}")["enrichment"] == "done")
    story.step("GET", f"/v1/decisions/{decision['id']}")
    story.step("GET", f"/v1/decisions?user_id={user}&sort=-created_at")
    story.step("GET", f"/v1/decisions/{decision['id']}/replay")
    story.step("POST", "/v1/precedents", {"user_id": user, "context": "A parcel never arrived"})
    story.step("POST", f"/v1/outcomes/{outcome['id']}/revert")
    story.step("DELETE", f"/v1/memories/{blue['id']}")
    story.step("POST", f"/v1/memories/{blue['id']}/restore")
    first = batch["results"][0]["id"]
    story.step("POST", "/v1/forget", {"user_id": user, "ids": [first], "dry_run": True})
    story.step("GET", f"/v1/ledger?user_id={user}&limit=5")
    _settled(client, user)
    audit = story.step("POST", "/v1/audits", {"user_id": user})
    story.step("GET", f"/v1/audits/{audit['id']}")
    for verb in ("approve", "oppose", "undo"):
        # A report of checks: it proposes nothing to forget.
        story.step("POST", f"/v1/audits/{audit['id']}/{verb}", {})
    story.step("GET", f"/v1/audits?user_id={user}")
    story.step("GET", f"/v1/graph?user_id={user}")
    story.step("GET", f"/v1/profile?user_id={user}")
    story.step("POST", "/v1/redrive", {"user_id": user})
    story.step("GET", "/v1/policies")
    story.step("PATCH", "/v1/policies", {"archiving": {"cold_days": 91}})
    story.step("PATCH", "/v1/policies", {"archiving": {"cold_days": 90}})
    story.step("GET", "/v1/policies/history?limit=1")
    asked = ("id", "namespace", "cadence", "dry_run", "requested_by", "as_of")
    run = story.step("POST", "/v1/maintenance", {"cadence": "daily", "dry_run": True}, only=asked)
    story.step("GET", "/v1/maintenance?limit=1", only=())
    story.step("GET", f"/v1/maintenance/{run['id']}", only=asked)
    key = story.step("POST", "/v1/keys", {"name": "bot", "namespaces": ["default"], "permissions": ["read"]})
    story.step("GET", "/v1/keys")
    story.step("DELETE", f"/v1/keys/{key['id']}")
    # What is refused, and how.
    story.step("POST", "/v1/memories", {"user_id": user})
    story.step("POST", "/v1/memories", {"user_id": user, "content": "x", "colour": "red"})
    story.step("POST", "/v1/memories", {"user_id": user, "content": "nul \x00"})
    story.step(
        "POST", "/v1/memories", content=b'{"user_id": "\xff"}', headers={"content-type": "application/json"}
    )
    story.step("GET", "/v1/memories/01JWB5A8ZK3V9Q6M2T4X7C1D0E")
    story.step("GET", "/v1/memories", headers={"x-api-key": "rv_nobody_knows"})
    story.step("POST", "/v1/recall", {"user_id": user, "query": "x", "namespace": "foreign"})
    once = {"idempotency-key": f"story of {user}".replace(" ", "-")}
    again = {"user_id": user, "content": "The spare key hangs in the shed.", "admission": "force"}
    story.step("POST", "/v1/memories?wait=true", again, headers=once)
    story.step("POST", "/v1/memories?wait=true", again, headers=once)
    story.step("POST", "/v1/memories?wait=true", {**again, "content": "another body"}, headers=once)
    return story


def _settled(client: Client, user: str) -> None:
    """Until nothing of the user is pending: what follows is compared."""

    def done() -> bool:
        found = client.get(f"/v1/memories?user_id={user}&limit=200")["items"]
        return not any(item["pending"] for item in found)

    eventually(done)
