"""Policy: how a namespace's memories age, as data. Every namespace starts from the defaults below."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from rearview.domain.types import ConflictPolicy

ForgettingMode = Literal["off", "propose", "auto"]


@dataclass(frozen=True, slots=True)
class ShelfLives:
    """Seconds that memories live when the write names no TTL; None: they do not expire.

    ``working`` also ends with its session; ``summary`` is for short_term memories of kind summary.
    """

    working: int | None = 3600
    short_term: int | None = None
    summary: int | None = 7 * 86_400
    long_term: int | None = None


@dataclass(frozen=True, slots=True)
class Archiving:
    """Days after which things leave the hot store; None switches a step off.

    ``summary_only_days``: the text of a short_term memory, since its creation. ``cold_days``: a memory that may go
    cold, since its last use. ``turns_days``: a session's raw turns, since its last turn. ``purge_days``: what was softly
    deleted, since its deletion.
    """

    summary_only_days: int | None = 30
    cold_days: int | None = 90
    turns_days: int | None = 30
    purge_days: int = 30


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Active forgetting. ``below``: memories of less value than this (0-1) are proposed; ``max_confidence``: only those
    less certain than this; ``auto_days``: days that a proposal stands unopposed before mode ``auto`` carries it out."""

    mode: ForgettingMode = "propose"
    below: float = 0.25
    max_confidence: float = 0.7
    auto_days: int = 7


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Like episodes become one memory once ``smallest_group`` of them are there."""

    enabled: bool = True
    smallest_group: int = 3


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """``window``: tasks (sessions) that the share of a value is counted over; ``threshold``: least share of an entry."""

    window: int = 10
    threshold: float = 0.6


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of a namespace's policy; version 0 are the defaults, which nobody has changed.

    ``conflicts`` None: what the installation is set to. ``review_sample``: important memories a week that people are
    asked to look at.
    """

    namespace: str
    version: int = 0
    updated_at: datetime | None = None
    updated_by: str | None = None
    conflicts: ConflictPolicy | None = None
    shelf_lives: ShelfLives = field(default_factory=ShelfLives)
    archiving: Archiving = field(default_factory=Archiving)
    forgetting: Forgetting = field(default_factory=Forgetting)
    consolidation: Consolidation = field(default_factory=Consolidation)
    profile: ProfileRules = field(default_factory=ProfileRules)
    review_sample: int = 100

    def shelf_life(self, memory_type: str, kind: str) -> timedelta | None:
        """How long a memory of this kind lives when its write names no TTL; None: it does not expire."""
        if memory_type == "short_term" and kind == "summary":
            seconds = self.shelf_lives.summary
        else:
            seconds = getattr(self.shelf_lives, memory_type, None)
        return None if seconds is None else timedelta(seconds=seconds)
