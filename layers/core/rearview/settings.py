"""Settings from the environment (prefix ``REARVIEW_``); the command line overrides them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """What an operator may choose. All of it has a default that works on one laptop."""

    model_config = SettingsConfigDict(env_prefix="REARVIEW_", extra="ignore", frozen=True)

    data: Path = Field(default=Path("rearview-data"), description="folder of the embedded store")
    embedder: Literal["e5", "hashing", "openai"] = "e5"
    embedder_url: str = Field(default="http://127.0.0.1:8000/v1", description="OpenAI-compatible endpoint")
    embedder_model: str = "e5"
    embedder_dims: int = 384
    embedder_query_prefix: str = ""
    embedder_passage_prefix: str = ""
    conflict_policy: Literal["ask", "latest", "trusted", "keep_both"] = "ask"
    wait_seconds: float = Field(default=25.0, gt=0, le=600)
    sweep_seconds: float = Field(default=60.0, gt=0)
