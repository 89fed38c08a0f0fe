"""``rearview doctor`` on real folders, real ports and a real store."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rearview.adapters.embedded.database import FILE
from rearview.adapters.embedded.probes import LocalMachine
from rearview.entrypoints.cli.main import app
from tests.house import house

Run = Callable[..., Result]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def run(store: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("REARVIEW_EMBEDDER", "hashing")
    monkeypatch.setenv("REARVIEW_DATA", str(store))
    for name in (
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)

    def call(*arguments: str) -> Result:
        if arguments[0] == "doctor" and "--port" not in arguments:
            arguments += ("--port", str(free_port()))
        return CliRunner().invoke(app, list(arguments))

    return call


def findings(result: Result) -> dict[str, dict[str, Any]]:
    found = {item["check"]: item for item in json.loads(result.stdout)["findings"]}
    assert all(item["advice"] for item in found.values() if item["status"] != "ok")
    return found


def meddle(store: Path, sort: str, old: str, new: str) -> None:
    """Changes stored bodies behind the store's back."""
    with closing(sqlite3.connect(store / FILE, isolation_level=None)) as connection:
        changed = connection.execute(
            "UPDATE items SET body = replace(body, ?, ?) WHERE sort LIKE ? AND instr(body, ?)",
            (old, new, sort, old),
        )
        assert changed.rowcount > 0


def test_a_machine_without_a_store_is_well_and_stays_without_one(run: Run, store: Path) -> None:
    result = run("doctor", "--json")
    assert result.exit_code == 0
    assert findings(result)["store_file"]["status"] == "ok"
    assert not store.exists()


def test_a_store_in_use_is_well(run: Run) -> None:
    run("write", "我住在杭州的西湖边上。")
    result = run("doctor", "--json")
    found = findings(result)
    assert (result.exit_code, json.loads(result.stdout)["counts"]["fail"]) == (0, 0)
    assert {"clock", "disk", "wal", "fingerprint", "pending", "failed", "ledger"} <= found.keys()
    assert found["ledger"]["seen"] == "1 entries of 1 users hold"
    # Only the embedder, which is one for tests, is worth a word.
    assert [name for name, item in found.items() if item["status"] != "ok"] == ["embedder"]


def test_people_get_a_table_and_what_to_do(run: Run) -> None:
    shown = run("doctor").stdout
    assert "what was seen" in shown
    assert "REARVIEW_EMBEDDER" in shown
    assert "0 failed" in shown


def test_a_change_of_the_model_is_found_with_its_remedy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("write", "The boiler is serviced in March.")

    class Another:
        name, dims, max_weight, noise, fingerprint = "another", 256, 100, None, "another/1"

        def embed_queries(self, texts: list[str]) -> Any:
            from rearview.adapters.models.hashing import HashingEmbedder

            return HashingEmbedder().embed_queries(texts)

    monkeypatch.setattr("rearview.bootstrap_doctor.make_embedder", lambda _settings: Another())
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert "rearview reindex" in findings(result)["fingerprint"]["advice"]


def test_a_tampered_ledger_is_found(run: Run, store: Path) -> None:
    run("write", "The boiler is serviced in March.")
    meddle(store, "L#%", '"action":"', '"action":"un')
    result = run("doctor", "--json")
    assert (result.exit_code, findings(result)["ledger"]["status"]) == (1, "fail")


def test_what_enrichment_gave_up_on_is_found(run: Run, store: Path) -> None:
    run("write", "The boiler is serviced in March.")
    meddle(store, "M#%", '"enrichment":"done"', '"enrichment":"failed"')
    result = run("doctor", "--json")
    failed = findings(result)["failed"]
    assert (result.exit_code, failed["status"]) == (1, "fail")
    assert failed["seen"].startswith("1 records of 1 users")


def test_work_that_waits_for_a_worker_is_counted(run: Run, store: Path) -> None:
    # The house's clock stands in the past: what is written there has waited for long.
    with house(store) as here:
        here.write("The boiler is serviced in March.", wait=False)
        here.write("我住在杭州的西湖边上。", user="v", wait=False)
    waits = findings(run("doctor", "--json"))["pending"]
    assert (waits["status"], waits["seen"].split(" wait")[0]) == ("warn", "2 records of 2 users")
    assert "rearview serve" in waits["advice"]


def test_a_file_that_is_no_database_is_said_to_be_one(run: Run, store: Path) -> None:
    store.mkdir(mode=0o700)
    (store / FILE).write_bytes(b"no database, but long enough to be looked at " * 100)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert "backup" in findings(result)["store_file"]["advice"]


def test_another_programs_database_is_left_alone(run: Run, store: Path) -> None:
    store.mkdir(mode=0o700)
    with closing(sqlite3.connect(store / FILE)) as connection:
        connection.execute("PRAGMA application_id = 77")
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()
    before = (store / FILE).read_bytes()
    result = run("doctor", "--json")
    assert findings(result)["store_file"]["status"] == "fail"
    assert (store / FILE).read_bytes() == before


def test_a_folder_below_a_file_cannot_be_made(run: Run, store: Path) -> None:
    store.write_text("a file")
    result = run("doctor", "--json", "--data", str(store / "inside"))
    assert (result.exit_code, findings(result)["folder"]["status"]) == (1, "fail")


def test_weights_that_are_not_the_measured_ones_are_found(store: Path) -> None:
    expected = "0" * 64
    facts = LocalMachine(store, 1, ("rearview", "settings.py", expected)).weights()
    assert facts is not None
    assert facts.path is not None
    assert facts.sha256 != expected
    absent = LocalMachine(store, 1, ("rearview", "nothing.bin", expected)).weights()
    assert absent is not None
    assert absent.path is None
    unknown = LocalMachine(store, 1, ("no_such_package", "nothing.bin", expected)).weights()
    assert unknown is not None
    assert unknown.path is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_found(store: Path) -> None:
    store.mkdir(mode=0o500)
    assert LocalMachine(store, 1).folder().error


def test_a_folder_that_others_may_enter_is_found(store: Path) -> None:
    store.mkdir()
    for mode, expected in ((0o755, True), (0o700, False)):
        store.chmod(mode)
        facts = LocalMachine(store, 1).folder()
        assert (facts.error, facts.open_to_others) == (None, expected)
        assert facts.skew_seconds == pytest.approx(0, abs=2)
    assert list(store.iterdir()) == []


# --- the port


@contextmanager
def answering(bodies: dict[str, tuple[int, Any]]) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = bodies.get(self.path, (404, {}))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


READY = {"status": "ready", "checks": {"store": "ok", "index": "ok", "embedder": "ok"}, "degraded": []}


@pytest.mark.parametrize(
    ("bodies", "holder", "ready"),
    [
        ({"/health": (200, {"status": "ok"}), "/ready": (200, READY)}, "rearview", True),
        (
            {"/health": (200, {"status": "ok"}), "/ready": (503, {"checks": {"embedder": "loading"}})},
            "rearview",
            False,
        ),
        ({"/health": (200, {"status": "ok"})}, "another", False),
        ({"/health": (200, [])}, "another", False),
        ({}, "another", False),
    ],
)
def test_who_holds_the_port_is_told(store: Path, bodies: Any, holder: str, ready: bool) -> None:
    with answering(bodies) as port:
        facts = LocalMachine(store, port).port()
    assert (facts.holder, facts.ready) == (holder, ready)


def test_a_held_port_is_worth_a_warning_and_no_failure(run: Run) -> None:
    with answering({}) as port:
        result = run("doctor", "--json", "--port", str(port))
    assert (result.exit_code, findings(result)["port"]["status"]) == (0, "warn")


# --- an account, as far as one machine goes


def test_an_account_without_credentials_says_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    result = run("doctor", "--aws", "--json")
    found = findings(result)
    assert result.exit_code == 1
    assert "sign in" in found["identity"]["advice"]
    assert {"table", "queue", "index", "bucket"} <= found.keys()


def test_secrets_are_not_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDSHOWN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2secret")
    monkeypatch.setenv("REARVIEW_OPENSEARCH_URL", f"http://admin:hunter2word@127.0.0.1:{port}")
    monkeypatch.setenv("REARVIEW_OPENSEARCH_AUTH", "none")
    result = run("doctor", "--aws", "--json")
    assert result.exit_code == 1
    assert findings(result)["index"]["status"] == "fail"
    for secret in ("hunter2", "AKIDSHOWN"):
        assert secret not in result.stdout + result.stderr


def test_a_setting_that_is_wrong_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("REARVIEW_OPENSEARCH_AUTH", "hunter2")
    result = run("doctor", "--aws", "--json")
    assert "REARVIEW_OPENSEARCH_AUTH" in findings(result)["settings"]["seen"]
    assert "hunter2" not in result.stdout
