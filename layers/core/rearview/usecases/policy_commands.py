"""What callers ask for about policies and maintenance runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator

from rearview.domain.policy import ForgettingMode
from rearview.domain.types import ConflictPolicy
from rearview.usecases.fields import Namespace, Request, Share, Time, not_null

#: A hundred years.
Days = Annotated[int, Field(ge=1, le=36_500)]
#: The parts of a policy that are there always.
WHOLE = ("shelf_lives", "archiving", "forgetting", "consolidation", "profile", "review_sample")
Seconds = Annotated[int, Field(ge=1, le=100 * 366 * 86_400)]


def _as_it_is(schema: dict[str, Any]) -> None:
    """What is left out of a change keeps its value: the document must not show a default, which a client may send."""
    for name, field in schema["properties"].items():
        field.pop("default", None)
        if name in WHOLE:
            (kept,) = (option for option in field.pop("anyOf") if option.get("type") != "null")
            field.update(kept)


class Changes(Request):
    """Base of what changes a policy."""

    model_config = ConfigDict(json_schema_extra=_as_it_is)


class ShelfLivesIn(Changes):
    """Seconds that memories live when the write names no TTL; null: they do not expire."""

    working: Seconds | None = None
    short_term: Seconds | None = None
    summary: Seconds | None = None
    long_term: Seconds | None = None


class ArchivingIn(Changes):
    """Days after which things leave the hot store; null switches a step off."""

    summary_only_days: Days | None = None
    cold_days: Days | None = None
    turns_days: Days | None = None
    purge_days: Annotated[int, Field(ge=0, le=36_500)] = 30


class ForgettingIn(Changes):
    """Active forgetting: nothing, proposals for people to decide, or carried out when nobody objects."""

    mode: ForgettingMode = "propose"
    below: Share = 0.25
    max_confidence: Annotated[float, Field(ge=0, le=0.7)] = 0.7
    auto_days: Days = 7


class ConsolidationIn(Changes):
    """Like episodes become one memory once so many are there."""

    enabled: bool = True
    smallest_group: Annotated[int, Field(ge=2, le=100)] = 3


class ProfileIn(Changes):
    """Sessions that shares are counted over, and the least share of an entry."""

    window: Annotated[int, Field(ge=1, le=1000)] = 10
    threshold: Annotated[float, Field(ge=0.5, le=1)] = 0.6


class ChangePolicy(Changes):
    """The parts of a namespace's policy to change; the rest stays. ``if_version``: only if that one is in force."""

    namespace: Namespace | None = None
    if_version: Annotated[int, Field(ge=0)] | None = None
    conflicts: ConflictPolicy | None = None
    shelf_lives: ShelfLivesIn | None = None
    archiving: ArchivingIn | None = None
    forgetting: ForgettingIn | None = None
    consolidation: ConsolidationIn | None = None
    profile: ProfileIn | None = None
    review_sample: Annotated[int, Field(ge=0, le=200)] | None = None

    _there = field_validator(*WHOLE, mode="before")(not_null)


class ReadPolicy(Request):
    """Which policy: the one in force unless a version is named (0: the defaults)."""

    namespace: Namespace | None = None
    version: Annotated[int, Field(ge=0)] | None = None


class ListPolicies(Request):
    """A page of a policy's versions, newest first."""

    namespace: Namespace | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class StartRun(Request):
    """Maintenance now, beside what the schedule does. ``as_of`` in the future needs ``dry_run``."""

    namespace: Namespace | None = None
    cadence: Literal["daily", "weekly"] = "daily"
    dry_run: bool = False
    as_of: Time | None = None


class ListRuns(Request):
    """A page of a namespace's maintenance runs, newest first."""

    namespace: Namespace | None = None
    cadence: Literal["daily", "weekly"] | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None
