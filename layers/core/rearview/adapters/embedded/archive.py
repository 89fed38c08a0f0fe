"""The archive as files in a folder."""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from rearview.errors import Unavailable

#: The archive's folder in the data folder.
FOLDER: Final = "archive"
#: Bytes of a key in UTF-8, the bound of S3.
MAX_KEY_BYTES: Final = 1024

_SUFFIX: Final = ".object"
_PARTIAL: Final = ".partial"
_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_NAME_CHARS: Final = 200
_STALE_SECONDS: Final = 3600.0
_PIECE: Final = re.compile(r"(?:%[0-9a-f]{2}|[^%]){1,66}")


class FolderArchive:
    """Implements :class:`rearview.ports.Archive`: one file an object, written whole or not at all.

    A key's parts between slashes become folders. All but small letters, digits, ``_`` and ``-`` is
    percent-encoded, so that no key leaves the folder, none is a reserved name, and two that differ in case only
    stay two where the file system does not tell them apart.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._partial = folder / _PARTIAL
        try:
            self._partial.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
        except OSError as error:
            raise Unavailable(f"cannot use {folder} as archive: {error.strerror}") from error

    def _sweep(self) -> None:
        """Removes what a killed process left half-written; another one may be writing now, so only old files."""
        for path in self._partial.iterdir():
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()

    def put(self, key: str, body: bytes) -> None:
        """Durable when it returns; readers see the old object or the new one."""
        path = self._path(key)
        partial = self._partial / uuid.uuid4().hex
        try:
            with partial.open("xb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            self._place(partial, path)
        except OSError as error:
            raise Unavailable(f"the archive cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def _place(self, partial: Path, path: Path) -> None:
        for attempt in range(10):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                partial.replace(path)
                break
            except FileNotFoundError:
                # A deletion next door has just removed the folder it had emptied.
                if attempt == 9:
                    raise
        # New folders must reach the disk as well as the file's name in the last of them.
        folder = path.parent
        _sync(folder)
        while folder != self._folder:
            folder = folder.parent
            _sync(folder)

    def get(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(f"the archive cannot be read: {error.strerror}") from error

    def delete(self, key: str) -> None:
        path = self._path(key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(f"the archive cannot be written: {error.strerror}") from error
        folder = path.parent
        with suppress(OSError):
            # Folder names hold parts of keys, so empty ones go too; rmdir stops at the first that is not.
            _sync(folder)
            while folder != self._folder:
                folder.rmdir()
                folder = folder.parent

    def keys(self, prefix: str) -> Iterator[str]:
        """In sorted order."""
        found = []
        # Whole parts are folders of their own: only that one need be walked.
        *parts, _ = prefix.split("/")
        begin = self._folder.joinpath(*(piece for part in parts for piece in _pieces(part)))
        for root, _, names in os.walk(begin):
            place = Path(root)
            if place == self._partial:
                continue
            for name in names:
                if name.endswith(_SUFFIX):
                    key = self._key(place.relative_to(self._folder).parts, name.removesuffix(_SUFFIX))
                    if key.startswith(prefix):
                        found.append(key)
        return iter(sorted(found))

    def _path(self, key: str) -> Path:
        if not key or len(key.encode()) > MAX_KEY_BYTES:
            raise ValueError(f"an archive key has 1 to {MAX_KEY_BYTES} bytes")
        *folders, name = [piece for part in key.split("/") for piece in _pieces(part)]
        return self._folder.joinpath(*folders, name + _SUFFIX)

    @staticmethod
    def _key(folders: tuple[str, ...], name: str) -> str:
        text = "/".join([*folders, name]).replace("+/", "").replace("%%", "")
        return unquote_to_bytes(text).decode()


def _pieces(part: str) -> list[str]:
    """One part of a key as file names. An empty one is ``%%``; one too long for a name goes on after a ``+``."""
    encoded = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in part.encode())
    if not encoded:
        return ["%%"]
    if len(encoded) <= _NAME_CHARS:
        return [encoded]
    pieces = _PIECE.findall(encoded)
    return [piece + "+" for piece in pieces[:-1]] + pieces[-1:]


def _sync(folder: Path) -> None:
    """Writes a folder's entries to disk, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)
