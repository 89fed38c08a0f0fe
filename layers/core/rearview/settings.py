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
    embedder: Literal["e5", "hashing", "openai", "bedrock"] = "e5"
    embedder_url: str = Field(default="http://127.0.0.1:8000/v1", description="OpenAI-compatible endpoint")
    embedder_model: str = "e5"
    embedder_dims: int = 384
    embedder_query_prefix: str = ""
    embedder_passage_prefix: str = ""
    bedrock_model: str = Field(default="cohere.embed-v4:0", description="id of the embedding model")
    bedrock_dims: int = 1024
    bedrock_region: str = Field(default="", description="where the model is called; empty: the usual places")
    bedrock_profile: str = Field(
        default="", description="id or ARN of an inference profile to call instead of the model itself"
    )
    text_model: str = Field(
        default="", description="Bedrock model that words consolidated memories and gives second opinions"
    )
    reranker_model: str = Field(default="", description="Bedrock model that reads a recall's best hits again")
    conflict_policy: Literal["ask", "latest", "trusted", "keep_both"] = "ask"
    wait_seconds: float = Field(default=25.0, gt=0, le=600)
    sweep_seconds: float = Field(default=60.0, gt=0)
    maintain_seconds: float = Field(
        default=60.0, gt=0, description="seconds between looks whether upkeep is due"
    )
    maintenance_hour: int = Field(default=3, ge=0, le=23, description="hour (UTC) at which its days begin")
    fault_mark: str = Field(default="", description="for drills: texts that hold it cannot be embedded")


class AwsSettings(Settings):
    """What the template tells its functions. Secrets come by reference, never as values."""

    stage: str = "dev"
    table: str = ""
    queue_url: str = ""
    dead_letters_url: str = ""
    bucket: str = ""
    opensearch_url: str = ""
    opensearch_auth: Literal["sigv4", "basic", "none"] = "sigv4"
    opensearch_service: Literal["es", "aoss"] = "es"
    opensearch_index: str = Field(default="rearview", description="the alias; indexes are named after it")
    opensearch_login: str = Field(
        default="", description="reference of a secret 'user:password', for basic auth"
    )
    signing_key: str = Field(
        default="",
        description="reference of the key for tokens: secretsmanager:NAME or ssm:NAME; empty: kept in the table",
    )
    allowed_hosts: str = Field(
        default="", description="host names of /mcp, by commas; empty: the one API Gateway names"
    )
    allowed_origins: str = Field(default="", description="pages that may call from a browser, by commas")
