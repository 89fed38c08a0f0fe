"""Where a search looks, and its filters as SQL on the table ``documents AS d``."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rearview.domain.times import to_text
from rearview.ports import IndexQuery

Record = Literal["memory", "decision"]
Condition = tuple[str, list[Any]]

#: Every term costs a walk over its postings; a query of a whole document is cut to this many.
MAX_TERMS: Final = 256

_TOKEN: Final = re.compile(r"[A-Za-z0-9\u0080-\ud7ff\ue000-\U0010ffff]")
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """One user's own documents (``partition``), or those a namespace shares, of one kind of record."""

    kind: Literal["partition", "namespace"]
    name: str
    record: Record

    @property
    def token(self) -> str:
        """Letters and digits only, one token to FTS5 whatever the name; the key of matrices and of the change log."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=16).hexdigest()
        return f"{self.kind[0]}{self.record[0]}{digest}"

    @property
    def condition(self) -> Condition:
        """The same in SQL."""
        if self.kind == "partition":
            return "d.partition = ? AND d.record = ?", [self.name, self.record]
        return "d.audience = 'namespace' AND d.namespace = ? AND d.record = ?", [self.name, self.record]


def sources_of(query: IndexQuery) -> list[Source]:
    """All that the query may see, each once."""
    own = [Source("partition", name, query.record) for name in dict.fromkeys(query.partitions)]
    shared = [Source("namespace", name, query.record) for name in dict.fromkeys(query.namespaces)]
    return own + shared


def any_of(sources: Sequence[Source]) -> Condition:
    """The condition that a document lies in one of the sources."""
    parts = [source.condition for source in sources]
    text = " OR ".join(f"({sql})" for sql, _ in parts) or "0"
    return f"({text})", [value for _, values in parts for value in values]


def filters_of(query: IndexQuery) -> Condition:
    """Every filter of the query but where it looks. Several tags: all of them must be there."""
    now = to_text(query.now)
    parts = ["(d.expires_at IS NULL OR d.expires_at > ?)"]
    values: list[Any] = [now]

    def add(sql: str, *bound: Any) -> None:
        parts.append(sql)
        values.extend(bound)

    for column, allowed in (
        ("status", query.statuses),
        ("memory_type", query.memory_types),
        ("kind", query.kinds),
        ("origin", query.origins),
    ):
        if allowed:
            add(f"d.{column} IN ({','.join('?' * len(allowed))})", *allowed)
    for tag in query.tags:
        add("EXISTS (SELECT 1 FROM json_each(d.tags) AS tag WHERE tag.value = ?)", tag)
    if query.agent_id is not None:
        add("d.agent_id = ?", query.agent_id)
    if query.session_id is not None:
        add("d.session_id = ?", query.session_id)
    if query.since is not None:
        add("d.valid_from >= ?", to_text(query.since))
    if query.until is not None:
        add("d.valid_from <= ?", to_text(query.until))
    if query.valid_at is not None:
        at = to_text(query.valid_at)
        add("d.valid_from <= ? AND (d.valid_to IS NULL OR d.valid_to > ?)", at, at)
    if query.min_importance is not None:
        add("d.importance >= ?", query.min_importance)
    if query.exclude:
        add("d.id NOT IN (SELECT value FROM json_each(?))", json.dumps(list(query.exclude)))
    return " AND ".join(parts), values


def match_expression(sources: Sequence[Source], terms: Sequence[str]) -> str | None:
    """The FTS5 query "in one of the sources and with one of the terms"; None when there is nothing to look for.

    Every term is quoted, so none is ever read as syntax. A term counts once, as in the domain's BM25.
    """
    clean = dict.fromkeys(_NO_TEXT.sub("", term) for term in terms)
    wanted = [term for term in clean if _TOKEN.search(term)]
    if len(wanted) > MAX_TERMS:
        # Single characters of Chinese are repeated, more sharply, by the pairs they stand in.
        wanted = sorted(wanted, key=lambda term: len(term) < 2)[:MAX_TERMS]
    if not wanted or not sources:
        return None
    where = " OR ".join(f'"{source.token}"' for source in sources)
    what = " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)
    return f"scope : ({where}) AND terms : ({what})"
