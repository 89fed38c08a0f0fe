"""The graph of a user's memory, described for the document (and held to it by the tests)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rearview.domain.graph import EdgeKind
from rearview.usecases.views import Moment, View

Share = Annotated[float, Field(ge=0, le=1)]


class MemoryNode(View):
    """A memory. ``overdue``: its shelf life is over and the sweep has not come by; then its text is withheld.
    ``tags``: the first five. ``cluster``: the number of its cluster, null outside all."""

    type: Literal["memory"]
    id: str
    summary: str
    memory_type: str
    kind: str
    status: str
    origin: str
    importance: float
    created_at: Moment
    valid_from: Moment
    valid_to: Moment | None
    expires_at: Moment | None
    tags: list[str]
    overdue: bool
    cluster: int | None
    island: bool


class OutcomeCounts(View):
    """Outcomes by result; what was reverted does not count."""

    success: int
    failure: int
    mixed: int
    unknown: int


class DecisionNode(View):
    """A decision. ``overdue``: ``outcome_due_at`` has passed and no outcome is known."""

    type: Literal["decision"]
    id: str
    summary: str
    action: str
    created_at: Moment
    occurred_at: Moment
    outcome_due_at: Moment | None
    outcomes: OutcomeCounts
    tags: list[str]
    overdue: bool
    cluster: int | None
    island: bool


class EdgeView(View):
    """``supersedes``: new to old; ``merged_into``: to the survivor; ``parent``: to the parent decision; ``rests_on``:
    decision to memory; ``evidence``: to the episodes behind; the others from older to newer."""

    start: str = Field(alias="from")
    to: str
    kind: EdgeKind
    weight: Share


class ClusterView(View):
    """What hangs together by more than time: ``tags`` are its most frequent, ``first`` and ``last`` bound its times."""

    id: int
    size: int
    memories: int
    decisions: int
    overdue: int
    tags: list[str]
    first: Moment
    last: Moment


class GraphCounts(View):
    """How many there are; ``edges`` by kind, those left out included."""

    memories: int
    decisions: int
    edges: dict[str, int]


class GraphAnswer(View):
    """Nodes oldest first; clusters biggest first (the first 300). ``islands``: how many nodes nothing but time joins to
    others. ``withheld``: what the credential may not see. ``truncated``: older nodes did not fit; ``edges_left_out``: how
    many of the weakest edges did not."""

    nodes: list[Annotated[MemoryNode | DecisionNode, Field(discriminator="type")]]
    edges: list[EdgeView]
    clusters: list[ClusterView]
    islands: int
    counts: GraphCounts
    withheld: list[str]
    truncated: bool
    edges_left_out: int
