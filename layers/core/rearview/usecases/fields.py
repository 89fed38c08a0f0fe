"""The field types of requests: strict, bounded, and each with the rule it enforces."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from rearview.domain import text as texts
from rearview.domain import times
from rearview.domain.ids import is_ulid
from rearview.domain.scope import check_namespace
from rearview.errors import FieldError, InvalidInput

M = TypeVar("M", bound=BaseModel)

METADATA_BYTES = 8192
METADATA_DEPTH = 5
MAX_TTL = 100 * 366 * 86_400
#: Broken rules that one answer lists, and characters of a path: an unknown field may have any name.
MAX_ERRORS = 50
MAX_PATH = 200


def _custom(error: InvalidInput) -> PydanticCustomError:
    broken = error.errors[0]
    return PydanticCustomError(broken.rule, "{message}", {"message": broken.message})


def _checked(check: Callable[[str], str]) -> AfterValidator:
    def run(value: str) -> str:
        try:
            return check(value)
        except InvalidInput as error:
            raise _custom(error) from None

    return AfterValidator(run)


def _time(value: str) -> str:
    try:
        times.parse(value, UTC)
    except (ValueError, OverflowError):
        raise PydanticCustomError("rfc3339", "must be an RFC 3339 time or a date") from None
    return value


def _timezone(value: str) -> str:
    zone(value)
    return value


def zone(name: str | None) -> tzinfo:
    """The IANA zone of that name; None is UTC."""
    if name is None or name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PydanticCustomError("iana_timezone", "must be an IANA time zone name") from None


def _ulid(value: str) -> str:
    if not is_ulid(value):
        raise PydanticCustomError("ulid", "must be a ULID (26 characters, Crockford base 32)")
    return value


def _tag(value: str) -> str:
    return texts.clean(value, "", limit=64, what="characters")


def _depth(value: Any, level: int = 0) -> None:
    if level > METADATA_DEPTH:
        raise PydanticCustomError(
            "max_depth", "must be nested at most {depth} deep", {"depth": METADATA_DEPTH}
        )
    if isinstance(value, dict):
        for key, item in value.items():
            _text(key)
            _depth(item, level + 1)
    elif isinstance(value, list):
        for item in value:
            _depth(item, level + 1)
    elif isinstance(value, str):
        _text(value)
    elif isinstance(value, float) and value - value != 0:
        raise PydanticCustomError("finite_number", "must hold finite numbers only")
    elif not isinstance(value, str | int | float | bool | None):
        raise PydanticCustomError("json_value", "must hold JSON values only")


def _text(value: Any) -> None:
    if not isinstance(value, str):
        raise PydanticCustomError("json_value", "must have text keys")
    try:
        texts.refuse_broken(value, "metadata")
    except InvalidInput as error:
        raise _custom(error) from None


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    _depth(value)
    size = len(json.dumps(value, ensure_ascii=False).encode())
    if size > METADATA_BYTES:
        raise PydanticCustomError("max_bytes", "must be at most {limit} bytes", {"limit": METADATA_BYTES})
    return value


def _short(limit: int) -> AfterValidator:
    return _checked(lambda value: texts.clean(value, "", limit=limit, what="characters"))


Content = Annotated[str, _checked(lambda value: texts.clean(value, ""))]
ShortText = Annotated[str, _short(2000)]
Identifier = Annotated[str, _checked(lambda value: texts.identifier(value, ""))]
Namespace = Annotated[str, _checked(lambda value: check_namespace(value, ""))]
Tag = Annotated[str, _checked(_tag)]
Tags = Annotated[list[Tag], Field(max_length=50)]
Ulid = Annotated[str, AfterValidator(_ulid)]
Time = Annotated[
    str, AfterValidator(_time), Field(description="RFC 3339; without an offset read in `timezone`")
]
Timezone = Annotated[str, AfterValidator(_timezone), Field(description="IANA name, default UTC")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Ttl = Annotated[int, Field(ge=1, le=MAX_TTL)]
Metadata = Annotated[dict[str, Any], AfterValidator(_metadata)]
TopK = Annotated[int, Field(ge=1, le=50)]


class Request(BaseModel):
    """Base of all requests: unknown fields are refused, and nothing is coerced."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    timezone: Timezone | None = None

    @model_validator(mode="before")
    @classmethod
    def _an_object(cls, value: Any) -> Any:
        if not isinstance(value, dict | cls):
            raise PydanticCustomError("object", "must be a JSON object")
        return value

    def moment(self, text: str | None, *, upper: bool = False) -> datetime | None:
        """A time field of this request as aware UTC."""
        return None if text is None else times.parse(text, zone(self.timezone), upper=upper)


def not_null(value: Any) -> Any:
    """A validator (``mode="before"``) of fields in which null says nothing: who sends it is not left believing that it
    cleared something."""
    if value is None:
        raise PydanticCustomError("not_null", "must not be null; leave it out to keep it as it is")
    return value


def read(model: type[M], data: Any, at: str = "") -> M:
    """Validates ``data``; raises InvalidInput with every broken rule, its field path prefixed by ``at``."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise invalid(error, at) from None


def invalid(error: ValidationError, at: str = "") -> InvalidInput:
    """Pydantic's findings in the service's words; the rejected input is not echoed."""
    broken = error.errors(include_url=False, include_input=False)[:MAX_ERRORS]
    found = [field_error(dict(item), at) for item in broken]
    return InvalidInput("; ".join(f"{item.field}: {item.message}" for item in found[:3]), found)


_RULES = {"string_unicode": ("no_lone_surrogate", "must not hold lone surrogates (U+D800-U+DFFF)")}


def field_error(item: dict[str, Any], at: str = "") -> FieldError:
    """One Pydantic error as field path, rule and message."""
    path = at
    for part in item["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    rule, message = _RULES.get(item["type"], (item["type"], item["msg"]))
    shown = "".join(char if char.isprintable() else "\ufffd" for char in path[:MAX_PATH])
    return FieldError(shown or "body", rule, message)
