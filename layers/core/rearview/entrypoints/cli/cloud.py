"""What concerns an installation on AWS or its local stand-ins: ``redrive``, ``local-aws``, and opening a stack."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import show
from rearview.entrypoints.cli.session import given, guarded, store
from rearview.errors import NotFound

if TYPE_CHECKING:
    from rearview.usecases.app import Rearview

Aws = Annotated[
    bool,
    typer.Option("--aws", help="The installation on AWS that the REARVIEW_… settings name, not a folder."),
]


@contextmanager
def installation(data: Path | None, aws: bool) -> Iterator[Rearview]:
    """The use cases over the folder, or over the AWS resources that the environment names."""
    if not aws:
        with store(data, existing=True) as app:
            yield app
        return
    from rearview.bootstrap_aws import aws as over_aws
    from rearview.settings import AwsSettings

    runtime = over_aws(AwsSettings())
    try:
        yield runtime.app
    finally:
        runtime.close()


@guarded
def redrive(
    user: o.AnyUser = None,
    namespace: o.Namespace = None,
    limit: Annotated[int, typer.Option(help="At most so many records, 1-1000.")] = 100,
    data: o.Data = None,
    aws: Aws = False,
    json_: o.Json = False,
) -> int:
    """Tries again what enrichment gave up on, once the cause is mended."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.fields import read
    from rearview.usecases.redrive import Redrive

    request = read(Redrive, given(user_id=user, namespace=namespace, limit=limit))
    with installation(data, aws) as app:
        answer = app.redriver.run(LOCAL, request)
    show(
        answer,
        json_,
        lambda out, value: out.print(
            f"{value['redriven']} tried again{', more are left' if value['more'] else ''}"
        ),
    )
    return o.OK


@guarded
def local_aws(context: typer.Context) -> int:
    """AWS on this machine without Docker, from a checkout: up [--deploy] [--localstack] | down | status | env."""
    root = Path(__file__).resolve().parents[5]
    if not (root / "infra" / "local" / "__main__.py").is_file():
        raise NotFound("local-aws needs a checkout of the repository: its tools are not part of the package")
    command = [sys.executable, "-m", "infra.local", *context.args]
    return subprocess.run(command, cwd=root, check=False).returncode  # noqa: S603 - a fixed command of ours
