"""Errors as RFC 9457 problem documents, the same on every entrance."""

from __future__ import annotations

from typing import Any

from rearview.errors import RearviewError


def problem(error: RearviewError, request_id: str | None = None) -> dict[str, Any]:
    """``{type title status detail errors[{field rule message}] request_id}``."""
    return {
        "type": f"urn:rearview:problem:{error.slug}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "errors": [
            {"field": item.field, "rule": item.rule, "message": item.message} for item in error.errors
        ],
        "request_id": request_id,
    }
