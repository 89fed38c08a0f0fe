"""Policies and maintenance: the part of the audit room that is about the life after the write."""

from __future__ import annotations

from rearview.entrypoints.rest.answers_upkeep import PolicyList, PolicyView, RunList, RunView
from rearview.entrypoints.rest.room import Call, Nothing, Room
from rearview.usecases.app import Rearview
from rearview.usecases.idempotency import Answer
from rearview.usecases.policy_commands import ChangePolicy, ListPolicies, ListRuns, ReadPolicy, StartRun


def add(here: Room, app: Rearview) -> None:
    """Puts the routes into the room."""

    @here.route(
        "GET",
        "/v1/policies",
        "The policy of a namespace",
        ReadPolicy,
        {200: (PolicyView, "the version in force, or the one asked for")},
    )
    def policy(call: Call[ReadPolicy]) -> Answer:
        return 200, app.policy_keeper.get(call.principal, call.asked)

    @here.route(
        "PATCH",
        "/v1/policies",
        "Change the policy of a namespace",
        ChangePolicy,
        {200: (PolicyView, "the policy, one version on if something changed")},
        example={"archiving": {"cold_days": 180}, "forgetting": {"mode": "auto"}},
    )
    def change(call: Call[ChangePolicy]) -> Answer:
        return 200, app.policy_keeper.change(call.principal, call.asked)

    @here.route(
        "GET",
        "/v1/policies/history",
        "The versions of a policy",
        ListPolicies,
        {200: (PolicyList, "a page, newest first")},
    )
    def versions(call: Call[ListPolicies]) -> Answer:
        return 200, app.policy_keeper.history(call.principal, call.asked)

    @here.route(
        "POST",
        "/v1/maintenance",
        "Start maintenance now",
        StartRun,
        {202: (RunView, "the run; the workers do it, and its report fills")},
        example={"cadence": "daily", "dry_run": True},
    )
    def start(call: Call[StartRun]) -> Answer:
        return 202, app.upkeep.start(call.principal, call.asked)

    @here.route(
        "GET", "/v1/maintenance", "List maintenance runs", ListRuns, {200: (RunList, "a page, newest first")}
    )
    def runs(call: Call[ListRuns]) -> Answer:
        return 200, app.upkeep.list(call.principal, call.asked)

    @here.route(
        "GET", "/v1/maintenance/{id}", "A maintenance report", Nothing, {200: (RunView, "the report")}
    )
    def run(call: Call[Nothing]) -> Answer:
        return 200, app.upkeep.get(call.principal, call.path["id"])
