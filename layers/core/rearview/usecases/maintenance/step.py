"""One step of maintenance: a look at every namespace. None of them keeps the others waiting, by its size or by a fault."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.runs import CADENCES, Run, failures
from rearview.ports import MemoryStore, UnitOfWork
from rearview.usecases.services import told

if TYPE_CHECKING:
    from rearview.usecases.maintenance.runs import Maintainer

#: With which namespace the next step begins, after one whose time was over.
ROUND = keys.Key(keys.SERVICE, "ROUND#maintain")


def step(maintainer: Maintainer, stop: Callable[[], bool], inline: bool) -> dict[str, float]:
    """Starts what is due in each namespace and moves its open runs on. When it was stopped, the next one begins behind the
    namespace that this one was at.

    Answers ``{started, open, finished, failed, lag}``: ``failed`` counts runs and namespaces that broke off, and the users'
    tasks that failed in runs that are finished now; ``lag`` is the age of the oldest open run in seconds.
    """
    store = maintainer.services.store
    answer: dict[str, float] = {"started": 0, "open": 0, "finished": 0, "failed": 0, "lag": 0.0}
    names = sorted(maintainer.namespaces())
    held = store.get(ROUND)
    first = 0 if held is None else bisect_left(names, held["namespace"])
    for namespace in names[first:] + names[:first]:
        if stop():
            _begin_with(store, namespace)
            return answer
        try:
            for cadence in CADENCES:
                answer["started"] += maintainer.start_due(namespace, cadence)
            for run in maintainer.open(namespace):
                _move_on(maintainer, run, stop, inline, answer)
        except Exception as error:
            told("a namespace's maintenance was broken off, the next step tries again", error)
            answer["failed"] += 1
    if held is not None:
        _begin_with(store, None)
    return answer


def _move_on(
    maintainer: Maintainer, run: Run, stop: Callable[[], bool], inline: bool, answer: dict[str, float]
) -> None:
    done = False
    try:
        done = not stop() and maintainer.advance(run, stop, inline=inline)
    except Exception as error:
        told("a maintenance run was broken off, the next step tries again", error)
        answer["failed"] += 1
    if done:
        answer["finished"] += 1
        answer["failed"] += failures(maintainer.read(run))
    else:
        answer["open"] += 1
        age = maintainer.services.now() - run.started_at
        answer["lag"] = max(answer["lag"], age.total_seconds())


def _begin_with(store: MemoryStore, namespace: str | None) -> None:
    def work(uow: UnitOfWork) -> None:
        if namespace is None:
            uow.delete(ROUND)
        else:
            uow.put(ROUND, {"namespace": namespace})

    store.transact(keys.SERVICE, work, durable=False)
