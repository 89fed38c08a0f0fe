"""What a doctor's probes bring back from an installation, and what a check says about it. Facts only: no I/O here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One finding. ``seen``: what is there; ``advice``: what to do about it, None if nothing; ``took_ms``: how long
    the look took that brought it."""

    check: str
    status: Status
    seen: str
    advice: str | None = None
    took_ms: float | None = None


class ProbeFailed(Exception):
    """A probe got no facts. ``code``: what the other side answered (``AccessDenied`` …) or the kind of error here;
    ``asked``: the operation, as a permission would name it (``dynamodb:DescribeTable``)."""

    def __init__(self, code: str, asked: str) -> None:
        super().__init__(f"{asked}: {code}")
        self.code, self.asked = code, asked


# --- a local installation


@dataclass(frozen=True, slots=True)
class PythonFacts:
    """The interpreter and its SQLite."""

    version: tuple[int, int, int]
    sqlite: tuple[int, int, int]
    fts5: bool


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """The data folder. ``skew_seconds``: clock of its file system minus clock of the process; ``error``: why nothing
    can be written there; ``open_to_others``: other accounts of the machine may enter it; ``archive_error``: why the folder
    of the archive in it cannot be used, if it is there."""

    path: str
    exists: bool
    free_bytes: int
    error: str | None = None
    open_to_others: bool = False
    skew_seconds: float | None = None
    archive_error: str | None = None


@dataclass(frozen=True, slots=True)
class StoreFileFacts:
    """The file of the embedded store. ``schema`` is its version, ``newest`` what this Rearview writes."""

    bytes: int
    wal_bytes: int
    journal: str
    ours: bool
    schema: int
    newest: int


@dataclass(frozen=True, slots=True)
class WeightsFacts:
    """The file of a model's weights; ``path`` None if there is none."""

    package: str
    path: str | None
    bytes: int
    sha256: str
    expected: str


@dataclass(frozen=True, slots=True)
class PortFacts:
    """Who answers on a port of this machine. ``parts``: what a Rearview there says of itself at ``/ready``."""

    port: int
    holder: Literal["nobody", "rearview", "another"]
    ready: bool = False
    parts: Mapping[str, str] = field(default_factory=dict)


# --- an AWS account


@dataclass(frozen=True, slots=True)
class IdentityFacts:
    """Who AWS says we are. ``skew_seconds``: this machine's clock minus AWS's."""

    account: str
    arn: str
    region: str
    skew_seconds: float | None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The DynamoDB table. ``keys``: (partition, sort) of the table (name "") and of each index."""

    name: str
    status: str
    keys: Mapping[str, tuple[str, ...]]
    wanted_keys: Mapping[str, tuple[str, ...]]
    recovery: bool
    ttl: str | None
    wanted_ttl: str
    protected: bool
    on_demand: bool


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """The FIFO queue and its dead letters; ``dead_letters``: ARN in the redrive policy, ``wanted_dead_letters`` that
    of the queue in the settings."""

    name: str
    fifo: bool
    dead_fifo: bool
    per_group: bool
    dead_letters: str | None
    wanted_dead_letters: str
    deliveries: int | None
    wanted_deliveries: int
    encrypted: bool
    visibility_seconds: int
    waiting: int
    dead: int


@dataclass(frozen=True, slots=True)
class VectorFieldFacts:
    """A ``knn_vector`` of a mapping."""

    name: str
    dims: int
    engine: str | None
    space: str | None


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The OpenSearch index behind the alias; ``indexes`` is empty before the first write."""

    version: tuple[int, int]
    distribution: str
    health: str
    alias: str
    indexes: tuple[str, ...]
    documents: int
    vectors: tuple[VectorFieldFacts, ...]


@dataclass(frozen=True, slots=True)
class BucketFacts:
    """The archive's bucket. ``encryption``: algorithm, None if there is none; ``expires``: a lifecycle rule takes out
    old versions."""

    name: str
    encryption: str | None
    versioned: bool
    private: bool
    expires: bool
