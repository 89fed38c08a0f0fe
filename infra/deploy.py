"""Deploys the stack and sees to what CloudFormation leaves undone. For people, CI and ``rearview local-aws up --deploy``.

    python -m infra.deploy up --config-env dev --parameter-overrides OpenSearchUrl=https://… OpenSearchArn=arn:…
    python -m infra.deploy first-key --stack-name rearview-dev     prints the first API key, once
    python -m infra.deploy check --stack-name rearview-dev         is it there, and does it answer?
    python -m infra.deploy delete --stack-name rearview-dev

Steps of ``up``: ``sam build``, ``sam deploy``, TTL switched on (some stand-ins overlook it in the template), ``prepare``
(the service's key and the index), smoke check over HTTP. Against a stand-in (AWS_ENDPOINT_URL is set) the addresses are
the stand-in's own. Needs the extra ``aws``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import Session
from infra.local import tools
from infra.region import certain, for_sam, region

ROOT: Final = Path(__file__).resolve().parents[1]
TEMPLATE: Final = ROOT / "template.yaml"
#: Seconds that a build and a deployment may take.
BUILD_SECONDS, DEPLOY_SECONDS = 900, 3600


class DeployError(RuntimeError):
    """A step failed; the message holds what it said."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A stack that is there. ``env`` is what a program needs in its environment to reach the same account."""

    name: str
    outputs: Mapping[str, str]
    env: Mapping[str, str]

    @property
    def url(self) -> str:
        """Where the API answers, without a slash at the end."""
        endpoint = self.env.get("AWS_ENDPOINT_URL")
        if endpoint is None:
            return self.outputs["Url"]
        stage = self.outputs["ApiStage"]
        return f"{endpoint}/restapis/{self.outputs['ApiId']}/{stage}/_user_request_"

    def client(self, service: str) -> Any:
        """A client of the account."""
        session = Session()
        session.set_credentials(
            self.env.get("AWS_ACCESS_KEY_ID"),
            self.env.get("AWS_SECRET_ACCESS_KEY"),
            self.env.get("AWS_SESSION_TOKEN"),
        ) if "AWS_ACCESS_KEY_ID" in self.env else None
        return session.create_client(
            service,
            region_name=region(self.env),
            endpoint_url=self.env.get("AWS_ENDPOINT_URL"),
            config=Config(read_timeout=330, retries={"total_max_attempts": 1}),
        )

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """What the function answers; DeployError if it fails. ``function``: ``maintain``, ``worker`` …"""
        answer = self.client("lambda").invoke(
            FunctionName=f"{self.name}-{function}", Payload=json.dumps(event).encode()
        )
        body = json.loads(answer["Payload"].read() or b"null")
        if "FunctionError" in answer:
            raise DeployError(f"{function} failed: {str(body)[:2000]}")
        if isinstance(body, dict) and "error" in body:
            raise DeployError(f"{function} refused: {body['error'].get('detail')}")
        return body

    def first_key(self) -> str | None:
        """The first API key, or None if there are keys already. Who may ask is settled by IAM."""
        key: str | None = self.invoke("maintain", {"action": "first_key"})["key"]
        return key


def build(
    out: Path | None = None, *, layers: str | None = None, env: Mapping[str, str] | None = None
) -> Path:
    """``sam build``; answers the built template. ``layers``: which to build (``core-x86_64``), all unless said."""
    out = out or ROOT / ".aws-sam" / "build"
    environment = _environment(env)
    environment.pop("REARVIEW_LAYERS", None)
    if layers is not None:
        environment["REARVIEW_LAYERS"] = layers
    _sam(["build", "--template-file", str(TEMPLATE), "--build-dir", str(out)], environment, BUILD_SECONDS)
    return out / "template.yaml"


def deploy(
    template: Path,
    *,
    config_env: str = "default",
    stack_name: str | None = None,
    overrides: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Deployed:
    """``sam deploy`` of a built template, and the steps after it."""
    arguments = ["deploy", "--template-file", str(template), "--config-file", str(ROOT / "samconfig.toml")]
    arguments += ["--config-env", config_env, "--no-confirm-changeset"]
    if stack_name:
        arguments += ["--stack-name", stack_name, "--s3-prefix", stack_name]
    # They replace those of samconfig.toml as a whole: the file's own come first.
    wanted = _merged(config_env, overrides or {})
    # Quotes let a value be empty: without, sam would keep the one before.
    arguments += ["--parameter-overrides", *(f'{name}="{value}"' for name, value in wanted.items())]
    stamp(template, wanted)
    _sam(arguments, _environment(env), DEPLOY_SECONDS)
    deployed = find(stack_name or _config(config_env)["global"]["stack_name"], env=env)
    switch_on_ttl(deployed)
    deployed.invoke("maintain", {"action": "prepare"})
    return deployed


def stamp(template: Path, parameters: Mapping[str, str]) -> None:
    """Writes the parameters' hash beside each built function's code.

    SAM publishes a new version when a function's code changes. It overlooks parameters, so that new ones would reach
    no caller behind the alias.
    """
    told = hashlib.sha256(json.dumps(dict(parameters), sort_keys=True).encode()).hexdigest()
    for path in template.parent.glob("*/revision"):
        (path.parent / "parameters").write_text(told + "\n")


def find(stack_name: str, *, env: Mapping[str, str] | None = None) -> Deployed:
    """The stack of that name with its outputs."""
    bare = Deployed(stack_name, {}, dict(os.environ if env is None else env))
    stacks = bare.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    outputs = {item["OutputKey"]: item["OutputValue"] for item in stacks[0].get("Outputs", [])}
    return Deployed(stack_name, outputs, bare.env)


def switch_on_ttl(deployed: Deployed) -> None:
    """TTL stands in the template; where that was overlooked it is switched on here."""
    dynamodb, table = deployed.client("dynamodb"), deployed.outputs["TableName"]
    state = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    if state.get("TimeToLiveStatus") in ("ENABLED", "ENABLING"):
        return
    specification = {"Enabled": True, "AttributeName": "ttl"}
    dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)


def check(deployed: Deployed, *, seconds: float = 60.0) -> dict[str, Any]:
    """Asks ``/health`` and ``/ready`` until both answer 200; DeployError with the last answer otherwise."""
    deadline = time.monotonic() + seconds
    while True:
        answers = {path: _get(deployed.url + path) for path in ("/health", "/ready")}
        if all(status == 200 for status, _ in answers.values()):
            return {path: body for path, (_, body) in answers.items()}
        if time.monotonic() >= deadline:
            raise DeployError(f"it does not answer as it should: {answers}")
        time.sleep(1)


def _get(url: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - the address is ours
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")[:500]
    except OSError as error:
        return 0, str(error)


def delete(stack_name: str, *, env: Mapping[str, str] | None = None) -> None:
    """``sam delete`` without questions. Table, key and archive of a real stack stay (DeletionPolicy).

    ToolError if no region is named."""
    where = certain(os.environ if env is None else env)
    arguments = ["delete", "--stack-name", stack_name, "--no-prompts", "--region", where]
    _sam(arguments, _environment(env), DEPLOY_SECONDS)


def local(stack: Any, *, stack_name: str = "rearview-local", **overrides: str) -> Deployed:
    """Builds and deploys to the stand-ins that run (an ``infra.local.stack.Stack``), on this machine's architecture."""
    env = {**os.environ, **stack.env}
    template = build(ROOT / "build" / "sam-local", layers=f"core-{machine()}", env=env)
    wanted = {"Architecture": machine(), **overrides}
    if stack.opensearch_url:
        wanted["OpenSearchUrl"] = stack.opensearch_url
    return deploy(template, config_env="ministack", stack_name=stack_name, overrides=wanted, env=env)


def machine() -> str:
    """This machine as Lambda calls it."""
    return "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"


# --- sam ---


def _environment(env: Mapping[str, str] | None) -> dict[str, str]:
    """Telemetry off, our region, and a python3.13 that runs first on the PATH: a name there may be a shim that does not."""
    made = dict(os.environ if env is None else env)
    made["SAM_CLI_TELEMETRY"] = "0"
    made |= for_sam(made)
    home = Path(tools.python())
    if home.is_absolute():
        made["PATH"] = f"{home.parent}{os.pathsep}{made.get('PATH', '')}"
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"):
        made.pop(name, None)
    return made


def _sam(arguments: Sequence[str], env: Mapping[str, str], seconds: float) -> str:
    command = [env.get("REARVIEW_SAM") or str(tools.program("sam", "sam")), *arguments]
    done = subprocess.run(  # noqa: S603 - the command is ours
        command, cwd=ROOT, env=dict(env), capture_output=True, text=True, timeout=seconds, check=False
    )
    if done.returncode != 0:
        raise DeployError(f"sam {arguments[0]} failed:\n{(done.stdout + done.stderr)[-6000:]}")
    return done.stdout


def _config(config_env: str) -> dict[str, Any]:
    import tomllib

    found: dict[str, Any] = tomllib.loads((ROOT / "samconfig.toml").read_text())[config_env]
    return {
        "global": found.get("global", {}).get("parameters", {}),
        "deploy": found.get("deploy", {}).get("parameters", {}),
    }


def _merged(config_env: str, overrides: Mapping[str, str]) -> dict[str, str]:
    given = str(_config(config_env)["deploy"].get("parameter_overrides", "")).split()
    return {key: value.strip('"') for key, value in (item.split("=", 1) for item in given)} | dict(overrides)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; exit status 0 fine, 1 a step failed."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.deploy", description=(__doc__ or "").split("\n\n")[0]
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("up", "check", "first-key", "create-key", "delete"):
        one = verbs.add_parser(verb)
        one.add_argument("--config-env", default="default")
        one.add_argument("--stack-name")
        if verb == "up":
            one.add_argument("--parameter-overrides", nargs="*", default=[])
            one.add_argument("--built", type=Path, help="a built template, instead of building now")
        if verb == "create-key":
            one.add_argument("--name", required=True)
            one.add_argument("--namespace", action="append", required=True)
            one.add_argument("--permission", action="append", default=[])
    given = parser.parse_args(argv)
    try:
        return _run(given)
    except (DeployError, tools.ToolError, ClientError) as error:
        print(error, file=sys.stderr)
        return 1


def _run(given: argparse.Namespace) -> int:
    name = given.stack_name or _config(given.config_env)["global"]["stack_name"]
    match given.verb:
        case "up":
            overrides = dict(item.split("=", 1) for item in given.parameter_overrides)
            template = given.built or build()
            deployed = deploy(template, config_env=given.config_env, stack_name=name, overrides=overrides)
            print(json.dumps(check(deployed)))
            print(deployed.url)
        case "check":
            print(json.dumps(check(find(name))))
        case "first-key":
            key = find(name).first_key()
            print(key or "there are keys already; make another one by create-key")
        case "create-key":
            event = {"action": "create_key", "name": given.name, "namespaces": given.namespace}
            if given.permission:
                event["permissions"] = given.permission
            print(json.dumps(find(name).invoke("maintain", event)))
        case "delete":
            delete(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
