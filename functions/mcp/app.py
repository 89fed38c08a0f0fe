"""The function `mcp`."""

from rearview.entrypoints.aws.mcp import mcp

handler = mcp()
