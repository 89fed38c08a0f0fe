"""What people ask about maintenance: runs by list and by id, and a run of their own."""

from __future__ import annotations

from itertools import count
from typing import Any, cast

from rearview.domain import keys
from rearview.domain.codec import Body
from rearview.domain.principal import Principal
from rearview.domain.signing import seal, unseal
from rearview.errors import InvalidInput, NotFound
from rearview.ports import Filter
from rearview.usecases.maintenance.runs import Maintainer
from rearview.usecases.paging import PAGE_BYTES, fitting
from rearview.usecases.policy_commands import ListRuns, StartRun
from rearview.usecases.services import Services, told

PURPOSE = "cursor"
#: Transactions that a call which starts a run gives out jobs in.
TURNS = 4


class Upkeep:
    """The verbs of ``/v1/maintenance``."""

    def __init__(self, services: Services, maintainer: Maintainer) -> None:
        self.services, self.maintainer = services, maintainer

    def start(self, principal: Principal, request: StartRun) -> dict[str, Any]:
        """Starts a run; the workers do it, and the report fills. Raises InvalidInput for a real run in the future."""
        principal.require("admin")
        namespace = _namespace(principal, request.namespace, "admin")
        as_of = request.moment(request.as_of, upper=True)
        now = self.services.now()
        if as_of is not None and as_of > now and not request.dry_run:
            raise InvalidInput.of("as_of", "not_in_the_future", "may lie in the future in a dry run only")
        run = self.maintainer.start(
            namespace, request.cadence, by=principal.id, as_of=as_of, dry_run=request.dry_run
        )
        # The first users' jobs are given out here, the others' with the next step of the schedule. Where there is nobody
        # the run is done: no step would ever come by in a namespace that holds nothing.
        turns = count()
        try:
            self.maintainer.advance(run, lambda: next(turns) >= TURNS)
        except Exception as error:
            told("a run's first jobs could not be given out, the next step does it", error)
        body = self.services.store.get(keys.run(namespace, run.id))
        return view(cast("Body", body))

    def get(self, principal: Principal, run_id: str) -> dict[str, Any]:
        """One run's report."""
        at = self.services.locate(run_id, keys.RUNS, "maintenance run")
        body = self.services.store.get(at)
        if body is None:
            raise NotFound("no such maintenance run")
        principal.see("audit", body["namespace"], "maintenance run")
        return view(body)

    def list(self, principal: Principal, request: ListRuns) -> dict[str, Any]:
        """A page of runs, newest first; fewer than asked where their reports weigh more than an answer may."""
        namespace = _namespace(principal, request.namespace, "audit")
        where = [] if request.cadence is None else [Filter("cadence", "eq", request.cadence)]
        at = keys.directory(namespace)
        after: str | None = None
        if request.cursor is not None:
            payload = unseal(self.services.secret, PURPOSE, request.cursor, "cursor")
            if payload.get("p") != at or payload.get("x") != keys.RUNS:
                raise InvalidInput.of("cursor", "token", "belongs to another list")
            after = str(payload["s"])
        page = self.services.store.query(
            at, keys.RUNS, after=after, limit=request.limit + 1, reverse=True, where=where
        )
        items = [view(body) for _, body in page.items[: request.limit]]
        fit = fitting(items, PAGE_BYTES)
        cursor = None
        if len(page.items) > fit:
            mark = {"p": at, "x": keys.RUNS, "s": page.items[fit - 1][0].sort}
            cursor = seal(self.services.secret, PURPOSE, mark)
        return {"items": items[:fit], "next_cursor": cursor}


def _namespace(principal: Principal, asked: str | None, permission: str) -> str:
    chosen = asked if asked is not None else principal.default_namespace
    return principal.scope(cast("Any", permission), chosen, "").namespace


def view(body: Body) -> dict[str, Any]:
    """A run as callers see it: where it stands inside is nobody's business."""
    run = {name: value for name, value in body.items() if name not in ("handed", "gathered")}
    run["state"] = "done" if body["state"] == "done" else "running"
    counts = {
        f"{task}.{action}": number
        for task, one in body["tasks"].items()
        for action, number in one["counts"].items()
    }
    return {**run, "counts": counts}


__all__ = ["Upkeep", "view"]
