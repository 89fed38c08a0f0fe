"""The function `audit`."""

from rearview.entrypoints.aws.rest import rest

handler = rest("audit")
