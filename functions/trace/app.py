"""The function `trace`."""

from rearview.entrypoints.aws.rest import rest

handler = rest("trace")
