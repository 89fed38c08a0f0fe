"""The function `read`."""

from rearview.entrypoints.aws.rest import rest

handler = rest("read")
