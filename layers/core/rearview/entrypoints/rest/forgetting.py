"""Proposals to forget: the part of the audit room in which people decide about them."""

from __future__ import annotations

from rearview.entrypoints.rest.answers import AuditView
from rearview.entrypoints.rest.room import Call, Room
from rearview.usecases.app import Rearview
from rearview.usecases.forgetting import Decide
from rearview.usecases.idempotency import Answer


def add(here: Room, app: Rearview) -> None:
    """Puts the routes into the room."""

    @here.route(
        "POST",
        "/v1/audits/{id}/approve",
        "Forget what an audit proposes",
        Decide,
        {200: (AuditView, "the report; what was not forgotten says why")},
        example={"memory_ids": ["01JWB5A8ZK3V9Q6M2T4X7C1D0E"]},
    )
    def approve(call: Call[Decide]) -> Answer:
        return 200, app.forgetter.approve(call.principal, call.path["id"], call.asked)

    @here.route(
        "POST",
        "/v1/audits/{id}/oppose",
        "Keep what an audit proposes to forget",
        Decide,
        {200: (AuditView, "the report")},
        example={"memory_ids": ["01JWB5A8ZK3V9Q6M2T4X7C1D0E"]},
    )
    def oppose(call: Call[Decide]) -> Answer:
        return 200, app.forgetter.oppose(call.principal, call.path["id"], call.asked)

    @here.route(
        "POST",
        "/v1/audits/{id}/undo",
        "Restore what an audit's proposals had forgotten",
        Decide,
        {200: (AuditView, "the report; what was not restored says why")},
        example={"memory_ids": ["01JWB5A8ZK3V9Q6M2T4X7C1D0E"]},
    )
    def undo(call: Call[Decide]) -> Answer:
        return 200, app.forgetter.undo(call.principal, call.path["id"], call.asked)
