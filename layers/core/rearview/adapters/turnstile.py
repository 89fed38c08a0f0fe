"""A lock that serves threads in the order they came."""

from __future__ import annotations

import threading
from collections import deque


class Turnstile:
    """Mutual exclusion, first come first served, with a time-out; entering twice from one thread is an error.

    ``threading.Lock`` promises no order: under load a writer can wait for as long as others keep coming.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._owner: int | None = None
        self._waiting: deque[tuple[threading.Lock, int]] = deque()

    def acquire(self, timeout: float) -> bool:
        """Whether it was this thread's turn within ``timeout`` seconds."""
        me = threading.get_ident()
        with self._guard:
            if self._owner == me:
                raise RuntimeError("a write transaction inside a write transaction of the same thread")
            if self._owner is None:
                self._owner = me
                return True
            mine = (threading.Lock(), me)
            mine[0].acquire()
            self._waiting.append(mine)
        try:
            served = mine[0].acquire(timeout=max(0.0, timeout))
        except BaseException:
            # An interrupt: the turn may have come in the very moment.
            if not self._leave(mine):
                self.release()
            raise
        return served or not self._leave(mine)

    def _leave(self, mine: tuple[threading.Lock, int]) -> bool:
        """Gives up the place in the row; False when the turn has come meanwhile."""
        with self._guard:
            if mine not in self._waiting:
                return False
            self._waiting.remove(mine)
            return True

    def release(self) -> None:
        """Hands the turn to the one who has waited longest."""
        with self._guard:
            if self._waiting:
                lock, self._owner = self._waiting.popleft()
                lock.release()
            else:
                self._owner = None
