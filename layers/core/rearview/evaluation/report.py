"""Reports of measurements: tables with their floors, as text for people and as JSON types for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = int | float | str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: ``n`` cases, the figures by column, and what the floor reaches on the same cases."""

    label: str
    n: int
    figures: Mapping[str, Value]
    floor: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of one set. ``counts`` holds what was read, left out or refused, by name."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """The table as JSON types."""
        return {
            "title": self.title,
            "figures": {
                row.label: {"n": row.n, **row.figures} | ({"floor": dict(row.floor)} if row.floor else {})
                for row in self.rows
            },
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def as_text(self) -> str:
        """The table in plain text; a column that has a floor is followed by it."""
        floored = {name for name in self.columns if any(name in row.floor for row in self.rows)}
        shown = [name for name in self.columns if any(name in row.figures for row in self.rows)]
        head = ["", "n"]
        for name in shown:
            head += [name, "floor"] if name in floored else [name]
        lines = [head]
        for row in self.rows:
            line = [row.label, str(row.n)]
            for name in shown:
                line.append(shape(row.figures.get(name)))
                if name in floored:
                    line.append(shape(row.floor.get(name)))
            lines.append(line)
        counted = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        below = [part for part in (counted, *self.notes) if part]
        return "\n".join([f"{self.name}: {self.title} ({self.seconds:.1f} s)", *align(lines), *below])


@dataclass(frozen=True, slots=True)
class Report:
    """All tables of a run. ``about`` says under what they were measured; ``missing`` names what could not run."""

    title: str
    about: Mapping[str, Value]
    tables: tuple[Table, ...]
    missing: tuple[str, ...] = ()
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """The report as JSON types, for ``json.dumps``."""
        return {
            "title": self.title,
            "about": dict(self.about),
            "tables": {table.name: table.as_json() for table in self.tables},
            "missing": list(self.missing),
            "seconds": self.seconds,
        }

    def as_text(self) -> str:
        """The report in plain text."""
        about = ", ".join(f"{name} {value}" for name, value in self.about.items())
        parts = [f"{self.title} ({about}; {self.seconds:.0f} s)", *(table.as_text() for table in self.tables)]
        if self.missing:
            parts.append("\n".join(["not run:", *(f"  {name}" for name in self.missing)]))
        return "\n\n".join(parts)


def shape(value: Value) -> str:
    """A figure as a reader wants it: three digits or so; ``-`` where there is none."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def align(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width: the first to the left, all others to the right."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def share(part: float, whole: float) -> float | None:
    """``part / whole`` to four decimals; None where there is nothing to divide by."""
    return round(part / whole, 4) if whole else None


def precision_recall(pairs: Sequence[tuple[bool, bool]]) -> tuple[float | None, float | None]:
    """Precision and recall of (is so, was said to be so) pairs."""
    hits = sum(truth and said for truth, said in pairs)
    return share(hits, sum(said for _, said in pairs)), share(hits, sum(truth for truth, _ in pairs))
