"""The audit room: audits, open conflicts, the ledger, and the keys of the API."""

from __future__ import annotations

from rearview.entrypoints.rest import forgetting, upkeep
from rearview.entrypoints.rest.answers import (
    AuditList,
    AuditView,
    ConflictList,
    KeyList,
    KeyView,
    LedgerList,
    NewKey,
    RedriveView,
)
from rearview.entrypoints.rest.room import Call, Nothing, Room
from rearview.usecases.app import Rearview
from rearview.usecases.commands import CreateKey
from rearview.usecases.idempotency import Answer
from rearview.usecases.questions import ListAudits, ListConflicts, ListLedger, RunAudit
from rearview.usecases.redrive import Redrive


def room(app: Rearview) -> Room:
    """The routes of the function ``audit``."""
    here = Room("audit")

    @here.route(
        "POST",
        "/v1/audits",
        "Check one user, or a whole namespace",
        RunAudit,
        {201: (AuditView, "the report, kept under its id")},
        example={"user_id": "mira"},
    )
    def run(call: Call[RunAudit]) -> Answer:
        return 201, app.auditor.run(call.principal, call.asked)

    @here.route(
        "GET",
        "/v1/audits",
        "List a namespace's reports, newest first",
        ListAudits,
        {200: (AuditList, "a page")},
    )
    def reports(call: Call[ListAudits]) -> Answer:
        return 200, app.lister.audits(call.principal, call.asked)

    @here.route("GET", "/v1/audits/{id}", "A kept report", Nothing, {200: (AuditView, "the report")})
    def report(call: Call[Nothing]) -> Answer:
        return 200, app.auditor.get(call.principal, call.path["id"])

    @here.route(
        "GET", "/v1/conflicts", "List a user's conflicts", ListConflicts, {200: (ConflictList, "a page")}
    )
    def conflicts(call: Call[ListConflicts]) -> Answer:
        return 200, app.reader.conflicts(call.principal, call.asked)

    @here.route("GET", "/v1/ledger", "List a user's ledger", ListLedger, {200: (LedgerList, "a page")})
    def ledger(call: Call[ListLedger]) -> Answer:
        return 200, app.reader.ledger(call.principal, call.asked)

    @here.route(
        "POST",
        "/v1/redrive",
        "Try what could not be enriched again",
        Redrive,
        {200: (RedriveView, "how many records are pending again, and whether more are left")},
        example={"user_id": "mira"},
    )
    def redrive(call: Call[Redrive]) -> Answer:
        return 200, app.redriver.run(call.principal, call.asked)

    @here.route(
        "POST",
        "/v1/keys",
        "Make an API key",
        CreateKey,
        {201: (NewKey, "the key; its secret is shown here only")},
        example={"name": "support bot", "namespaces": ["support"], "permissions": ["read", "write"]},
        secret="key",  # noqa: S106 - the name of a field
    )
    def create(call: Call[CreateKey]) -> Answer:
        return 201, app.keyring.create(call.principal, call.asked)

    @here.route("GET", "/v1/keys", "List the API keys", Nothing, {200: (KeyList, "all keys, no secrets")})
    def keys(call: Call[Nothing]) -> Answer:
        return 200, app.keyring.list(call.principal)

    @here.route(
        "DELETE", "/v1/keys/{id}", "Revoke an API key, at once", Nothing, {200: (KeyView, "the key, revoked")}
    )
    def revoke(call: Call[Nothing]) -> Answer:
        return 200, app.keyring.revoke(call.principal, call.path["id"])

    forgetting.add(here, app)
    upkeep.add(here, app)
    return here
