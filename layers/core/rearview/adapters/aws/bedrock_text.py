"""The language model over Bedrock's Converse: text in, JSON out, kept to a schema by a tool that the model must call."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from rearview.adapters.aws.bedrock_calls import Client, Pause, call
from rearview.errors import Unavailable

TOOL: Final = "answer"
#: Tokens that an answer may have at most, however often it was cut.
MOST_TOKENS: Final = 8_192
#: A cut or broken answer gets one more try.
_ROUNDS: Final = 2
_DROPPED: Final = re.compile("[\x00\ud800-\udfff]")
_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
_BLOCKED: Final = frozenset({"guardrail_intervened", "content_filtered"})
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


class BedrockLanguageModel:
    """Implements :class:`rearview.ports.LanguageModel`. Safe among threads.

    Raises Unavailable when the model is away, blocks the text, or keeps answering something else than the schema.
    """

    def __init__(
        self,
        client: Client,
        model: str,
        *,
        choice: Literal["tool", "any", "auto"] = "tool",
        temperature: float | None = 0.0,
        tries: int = 3,
        pause: Pause = time.sleep,
    ) -> None:
        """``client``: of ``bedrock-runtime``. ``model``: id or ARN of a model or an inference profile.

        ``choice``: how the model is made to call the tool; some know ``any`` or ``auto`` only. ``temperature``: None
        for models that take none.
        """
        self._client, self._model, self._choice = client, model, choice
        self._temperature, self._tries, self._pause = temperature, tries, pause

    @property
    def name(self) -> str:
        """The model's id."""
        return self._model

    def complete(self, prompt: str, schema: Mapping[str, Any], *, max_tokens: int = 512) -> Mapping[str, Any]:
        """The object that the model answers. ``schema``: a JSON schema of type object.

        Kept to it: types, required, enum, items and additionalProperties; other keywords guide the model only.
        """
        problem = ""
        for _ in range(_ROUNDS):
            answer = self._ask(prompt, schema, max_tokens)
            reason = answer["stopReason"]
            if reason in _BLOCKED:
                raise Unavailable(f"{self._model} does not answer this text: {reason}")
            if reason in _CUT:
                # What there is of it may even parse, and would still be half an answer.
                problem, max_tokens = "was cut", min(2 * max_tokens, MOST_TOKENS)
                continue
            found = _answer_in(answer["output"].get("message", {}).get("content", []))
            if found is not None and fits(found, schema):
                return found
            problem = "is no JSON" if found is None else "does not keep to the schema"
        raise Unavailable(f"the answer of {self._model} {problem}")

    def _ask(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        settings: dict[str, Any] = {"maxTokens": max_tokens}
        if self._temperature is not None:
            settings["temperature"] = self._temperature
        chosen = {"name": TOOL} if self._choice == "tool" else {}
        tool = {
            "name": TOOL,
            "description": "Gives the answer. Always call it, once.",
            "inputSchema": {"json": dict(schema)},
        }
        return call(
            self._client,
            "converse",
            self._model,
            tries=self._tries,
            pause=self._pause,
            modelId=self._model,
            messages=[{"role": "user", "content": [{"text": _DROPPED.sub("", prompt)}]}],
            inferenceConfig=settings,
            toolConfig={"tools": [{"toolSpec": tool}], "toolChoice": {self._choice: chosen}},
        )


def _answer_in(content: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The tool's input; else the first JSON object in the text, since some models write instead of calling."""
    for block in content:
        used = block.get("toolUse")
        if used and used["name"] == TOOL and isinstance(used["input"], dict):
            return dict(used["input"])
    text = "".join(block.get("text", "") for block in content)
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether ``value`` keeps to the part of JSON Schema named at :meth:`BedrockLanguageModel.complete`."""
    wanted = schema.get("type")
    if wanted is not None:
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        if not any(_is(value, name) for name in names):
            return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if any(name not in value for name in schema.get("required", ())):
            return False
        if schema.get("additionalProperties") is False and not value.keys() <= known.keys():
            return False
        return all(fits(item, known[name]) for name, item in value.items() if name in known)
    if isinstance(value, list):
        return all(fits(item, schema.get("items", {})) for item in value)
    return True


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(name, (object,)))
