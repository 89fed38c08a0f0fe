"""The function `maintain`."""

from rearview.entrypoints.aws.maintain import maintain

handler = maintain()
