"""The doctor's looks at this machine. Nothing is changed but for a temporary file in the data folder."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shutil
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rearview.adapters.embedded.archive import FOLDER as ARCHIVE
from rearview.adapters.embedded.database import FILE
from rearview.adapters.embedded.schema import APPLICATION_ID, MIGRATIONS
from rearview.domain.checkup import (
    FolderFacts,
    PortFacts,
    ProbeFailed,
    PythonFacts,
    StoreFileFacts,
    WeightsFacts,
)

HOST: Final = "127.0.0.1"
_HTTP_SECONDS: Final = 3.0
_BUSY_SECONDS: Final = 3.0
_LARGEST_ANSWER: Final = 64 * 1024


class LocalMachine:
    """Implements :class:`rearview.usecases.doctor.LocalProbes`."""

    def __init__(self, data: Path, port: int, weights: tuple[str, str, str] | None = None) -> None:
        """``weights``: (package, file in it, SHA-256) of the embedding model, None if it has no file."""
        self._data, self._port, self._weights = data, port, weights

    def python(self) -> PythonFacts:
        """The interpreter and its SQLite."""
        with closing(sqlite3.connect(":memory:")) as connection:
            fts5 = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
        major, minor, micro = sys.version_info[:3]
        return PythonFacts((major, minor, micro), sqlite3.sqlite_version_info, fts5 is not None)

    def folder(self) -> FolderFacts:
        """The data folder, or the nearest folder above it that exists."""
        folder, exists = self._data, self._data.exists()
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        free = shutil.disk_usage(folder).free
        path = str(self._data)
        if not folder.is_dir():
            return FolderFacts(path, exists, free, f"{folder} is no folder")
        others = bool(exists and os.name == "posix" and folder.stat().st_mode & 0o077)
        if not exists:
            # Nothing is left behind where there was nothing; whether it can be made is asked without trying.
            error = None if os.access(folder, os.W_OK | os.X_OK) else f"{folder} is not writable"
            return FolderFacts(path, exists, free, error)
        try:
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
                before = time.time()
                file.write(b"rearview doctor")
                file.flush()
                os.fsync(file.fileno())
                after, stamp = time.time(), os.stat(file.name).st_mtime
        except OSError as error:
            return FolderFacts(path, exists, free, error.strerror or type(error).__name__, others)
        skew = _outside(stamp, before, after)
        return FolderFacts(path, exists, free, None, others, skew, _unusable(self._data / ARCHIVE))

    def store_file(self) -> StoreFileFacts | None:
        """The store's file, opened for reading only: an older schema stays as it is."""
        path = self._data / FILE
        if not path.is_file():
            return None
        log = Path(f"{path}-wal")
        try:
            with closing(
                sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
            ) as connection:
                owner, schema, journal = (
                    connection.execute(f"PRAGMA {name}").fetchone()[0]
                    for name in ("application_id", "user_version", "journal_mode")
                )
        except sqlite3.DatabaseError as error:
            # "file is not a database", "unable to open database file", "database disk image is malformed"
            raise ProbeFailed(str(error), f"opening {path}") from None
        return StoreFileFacts(
            bytes=path.stat().st_size,
            wal_bytes=log.stat().st_size if log.exists() else 0,
            journal=str(journal),
            ours=owner == APPLICATION_ID or (owner == 0 and schema == 0),
            schema=schema,
            newest=len(MIGRATIONS),
        )

    def weights(self) -> WeightsFacts | None:
        """The file of the embedding model; all of it is read."""
        if self._weights is None:
            return None
        package, name, expected = self._weights
        spec = find_spec(package)
        places = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
        path = next((place / name for place in places if (place / name).is_file()), None)
        if path is None:
            return WeightsFacts(package, None, 0, "", expected)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return WeightsFacts(package, str(path), path.stat().st_size, digest, expected)

    def port(self) -> PortFacts:
        """Who listens there, told by its ``/health`` and ``/ready``."""
        with socket.socket() as probe:
            probe.settimeout(_HTTP_SECONDS)
            if probe.connect_ex((HOST, self._port)) != 0:
                return PortFacts(self._port, "nobody")
        health, found = self._get("/health")
        if health != 200 or found != {"status": "ok"}:
            return PortFacts(self._port, "another")
        status, found = self._get("/ready")
        parts = found.get("checks")
        if not isinstance(parts, Mapping):
            return PortFacts(self._port, "another")
        return PortFacts(
            self._port, "rearview", status == 200, {str(name): str(state) for name, state in parts.items()}
        )

    def _get(self, path: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=_HTTP_SECONDS)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = json.loads(answer.read(_LARGEST_ANSWER))
        except (OSError, http.client.HTTPException, ValueError):
            return 0, {}
        finally:
            connection.close()
        return answer.status, body if isinstance(body, dict) else {}


def _outside(stamp: float, before: float, after: float) -> float:
    """Seconds by which ``stamp`` lies before or behind the time in which it was made. File systems round."""
    if stamp < before - 1.0:
        return stamp - before
    return max(0.0, stamp - after)


def _unusable(archive: Path) -> str | None:
    """Why the archive's folder cannot be used; None if it can, or is not there yet."""
    if not archive.exists():
        return None
    if not archive.is_dir():
        return f"{archive} is no folder"
    return None if os.access(archive, os.R_OK | os.W_OK | os.X_OK) else f"{archive} is not writable"
