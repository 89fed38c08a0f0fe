"""The one region in which all steps of a deployment work."""

from __future__ import annotations

from collections.abc import Mapping

from botocore.session import Session
from infra.local.tools import ToolError


def region(env: Mapping[str, str]) -> str | None:
    """The region that an environment names; None leaves it to the profile."""
    return env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or None


def certain(env: Mapping[str, str]) -> str:
    """The region by name, the profile's if need be; ToolError without one: any other may have a stack of that name too."""
    found = region(env) or Session().get_config_variable("region")
    if not found:
        raise ToolError("no region is named: set AWS_REGION, or a region in the profile")
    return str(found)


def for_sam(env: Mapping[str, str]) -> dict[str, str]:
    """What sam, which reads no AWS_REGION, has to be told to work where the other steps look."""
    found = region(env)
    return {"AWS_DEFAULT_REGION": found} if found else {}
