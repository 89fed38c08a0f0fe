"""What ``up --deploy`` does once the stand-ins run: build, deploy, prepare, say where it is and with which key."""

from __future__ import annotations

import sys

from infra.local.stack import Stack

from infra import deploy as steps


def deploy(stack: Stack, *, stack_name: str = "rearview-local") -> steps.Deployed:
    """Deploys to the running stack and prints address and, the first time, the API key."""
    deployed = steps.local(stack, stack_name=stack_name)
    steps.check(deployed)
    key = deployed.first_key()
    sys.stdout.write(f"deployed: {deployed.url}\n")
    if key is not None:
        sys.stdout.write(f"API key (shown once, covers the namespace default): {key}\n")
    return deployed
