"""The function `worker`."""

from rearview.entrypoints.aws.worker import worker

handler = worker()
