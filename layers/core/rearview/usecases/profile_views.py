"""What callers get of a profile."""

from __future__ import annotations

from rearview.domain.profile import Entry
from rearview.usecases.views import Moment, View


class ProfileCount(View):
    """A value and how often: ``count`` in the last tasks, ``ever`` in all that are known."""

    value: str
    canonical: str
    count: int
    ever: int
    last_at: Moment


class ProfileItem(View):
    """One entry: ``confidence`` is the share of ``value`` in the last tasks (``count`` of ``total``).

    ``value`` is worded as it was said last, ``canonical`` the same in each language; ``conflict`` the id of an open one.
    """

    key: str
    subject: str
    slot: str | None
    tag: str | None
    item: str | None
    value: str
    canonical: str
    confidence: float
    count: int
    total: int
    counts: list[ProfileCount]
    latest: str
    evidence: list[str]
    confirmations: list[Moment]
    origins: list[str]
    last_updated: Moment
    conflict: str | None

    @classmethod
    def of(cls, entry: Entry) -> ProfileItem:
        """The view of an entry."""
        return cls(
            key=entry.key,
            subject=entry.subject,
            slot=entry.slot,
            tag=entry.tag,
            item=entry.item,
            value=entry.value,
            canonical=entry.canonical,
            confidence=entry.confidence,
            count=entry.count,
            total=entry.total,
            counts=[
                ProfileCount(
                    value=one.value,
                    canonical=one.canonical,
                    count=one.count,
                    ever=one.ever,
                    last_at=one.last_at,
                )
                for one in entry.counts
            ],
            latest=entry.latest,
            evidence=list(entry.evidence),
            confirmations=list(entry.confirmations),
            origins=list(entry.origins),
            last_updated=entry.last_updated,
            conflict=entry.conflict,
        )


class ProfileAnswer(View):
    """A user's profile; ``updated_at``: when it was reckoned last, null if never."""

    user_id: str
    namespace: str
    updated_at: Moment | None
    items: list[ProfileItem]
    next_cursor: str | None
