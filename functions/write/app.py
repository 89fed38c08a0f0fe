"""The function `write`."""

from rearview.entrypoints.aws.rest import rest

handler = rest("write")
