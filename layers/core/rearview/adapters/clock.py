"""The clock of the machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Aware UTC from the operating system."""

    def now(self) -> datetime:
        """Now, in microseconds."""
        return datetime.now(UTC)
