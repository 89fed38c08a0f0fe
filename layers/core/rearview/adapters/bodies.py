"""Bodies of records, read back from the JSON text that a store keeps of them."""

from __future__ import annotations

from pydantic_core import from_json

from rearview.domain.codec import Body


def read_body(text: str) -> Body:
    """The body that ``json.dumps`` wrote as ``text``. Raises ValueError for what is no JSON.

    A recall reads some two hundred records, and this parser (jiter) takes a quarter of the standard library's time,
    with the same floats and whole numbers of any size. Only names are kept for the next body: values are the users'.
    """
    body: Body = from_json(text, cache_strings="keys")
    return body
