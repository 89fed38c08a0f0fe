"""What every archive promises."""

from __future__ import annotations

import pytest

from rearview.ports import Archive

KEYS = [
    "memories/01J/1.json",
    "memories/01J",
    "memories/01j/1.json",
    "memories//double",
    "a",
    "A",
    "a/",
    "/a",
    "..",
    "../../etc/passwd",
    "./.hidden",
    "con",
    "100%",
    "%2e%2e/x",
    "a+/b",
    "用户/杭州 🏮.txt",
    "e\u0301",
    "\u00e9",
    "x" * 255 + "/" + "长" * 200,
    "tab\there:and|there*?",
]


def test_every_key_keeps_its_own_object(archive: Archive) -> None:
    for number, key in enumerate(KEYS):
        archive.put(key, f"{number}".encode())
    assert [archive.get(key) for key in KEYS] == [f"{number}".encode() for number in range(len(KEYS))]
    assert sorted(archive.keys("")) == sorted(KEYS)


def test_a_missing_object_is_none_and_its_deletion_no_error(archive: Archive) -> None:
    archive.put("a/b", b"")
    assert archive.get("a/b") == b""
    assert archive.get("a") is None
    assert archive.get("a/b/c") is None
    archive.delete("a/b/c")
    assert archive.get("a/b") == b""


def test_a_put_replaces(archive: Archive) -> None:
    archive.put("a", bytes(range(256)) * 4000)
    archive.put("a", b"short")
    assert archive.get("a") == b"short"


def test_keys_are_listed_by_prefix(archive: Archive) -> None:
    for key in ("u1/m1", "u1/m2", "u10/m1", "u2/m1", "u1"):
        archive.put(key, b"x")
    assert sorted(archive.keys("u1/")) == ["u1/m1", "u1/m2"]
    assert sorted(archive.keys("u1")) == ["u1", "u1/m1", "u1/m2", "u10/m1"]
    assert sorted(archive.keys("none")) == []


def test_what_is_deleted_is_gone(archive: Archive) -> None:
    archive.put("u1/m1", b"x")
    archive.put("u1/m2", b"y")
    archive.delete("u1/m1")
    assert archive.get("u1/m1") is None
    assert sorted(archive.keys("")) == ["u1/m2"]


@pytest.mark.parametrize("key", ["", "x" * 1025, "长" * 342])
def test_a_key_without_or_with_too_many_bytes_is_refused(archive: Archive, key: str) -> None:
    with pytest.raises(ValueError, match="1 to 1024 bytes"):
        archive.put(key, b"x")
