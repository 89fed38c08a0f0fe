"""The command line: answers for people and for scripts, exit codes, problems with field and rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rearview.entrypoints.cli.main import app

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("REARVIEW_EMBEDDER", "hashing")
    monkeypatch.setenv("REARVIEW_DATA", str(tmp_path / "store"))
    for name in ("REARVIEW_USER", "REARVIEW_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin)

    return call


def body(result: Result) -> Any:
    return json.loads(result.stdout)


def problem(result: Result) -> Any:
    return json.loads(result.stderr)


def test_what_is_written_is_recalled(run: Run) -> None:
    wrote = run("write", "我对花生过敏。", "--json")
    assert (wrote.exit_code, body(wrote)["verdict"]) == (0, "admit")
    assert not body(wrote)["memory"]["pending"]
    found = run("recall", "花生过敏", "--json")
    assert found.exit_code == 0
    assert body(found)["hits"][0]["id"] == body(wrote)["id"]


def test_tables_are_for_people_and_hold_the_whole_id(run: Run) -> None:
    memory_id = body(run("write", "The boiler is serviced in March.", "--json"))["id"]
    shown = run("recall", "boiler serviced")
    assert memory_id in shown.stdout
    assert "The boiler is serviced in March." in shown.stdout


def test_stored_text_cannot_steer_the_terminal_or_the_markup(run: Run) -> None:
    run("write", "Key \x1b[31mred\x1b[0m [bold]x[/bold] [/] \u202etxt.exe hangs by the door.")
    shown = run("recall", "key hangs by the door").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold]x" in shown


def test_a_dropped_write_says_why_and_exits_3(run: Run) -> None:
    dropped = run("write", "thanks!")
    assert dropped.exit_code == 3
    assert dropped.stdout.startswith("dropped: ")


def test_content_comes_from_standard_input(run: Run) -> None:
    wrote = run("write", "-", "--json", stdin="Parking row C, bay 12.\n")
    assert body(wrote)["memory"]["content"] == "Parking row C, bay 12."


def test_all_fields_of_a_write_arrive(run: Run) -> None:
    wrote = run(
        "write", "Bakes rye on Fridays.", "--user", "u/1", "--namespace", "kitchen", "--type", "short_term",
        "--kind", "event", "--tag", "a", "--tag", "b", "--importance", "0.7", "--confidence", "0", "--origin",
        "tool", "--occurred-at", "2026-01-02", "--ttl", "900", "--agent", "baker", "--session", "s",
        "--speaker", "Ida", "--metadata", '{"n": 1}', "--admission", "force", "--json",
    )  # fmt: skip
    memory = body(wrote)["memory"]
    assert (memory["user_id"], memory["namespace"], memory["memory_type"]) == ("u/1", "kitchen", "short_term")
    assert (memory["kind"], memory["tags"], memory["importance"]) == ("event", ["a", "b"], 0.7)
    assert (memory["confidence"], memory["origin"], memory["agent_id"]) == (0.0, "tool", "baker")
    assert (memory["source"]["speaker"], memory["metadata"], memory["session_id"]) == ("Ida", {"n": 1}, "s")
    assert memory["valid_from"].startswith("2026-01-02T00:00:00")
    assert memory["expires_at"] is not None


def test_a_namespace_searched_besides_does_not_replace_the_default_one(run: Run) -> None:
    run("write", "The tuba stands in the loft.")
    run("write", "The tuba case is blue.", "--namespace", "band")
    found = body(run("recall", "tuba", "--also", "band", "--json"))
    assert {hit["namespace"] for hit in found["hits"]} == {"default", "band"}


@pytest.mark.parametrize(
    ("arguments", "field", "rule"),
    [
        (("write", "   "), "content", "not_blank"),
        (("write", "x", "--user", ""), "user_id", "not_blank"),
        (("write", "x", "--namespace", "a b"), "namespace", "pattern"),
        (("write", "x", "--ttl", "0"), "ttl_seconds", "greater_than_equal"),
        (("write", "x", "--importance", "nan"), "importance", "finite_number"),
        (("write", "x", "--kind", "rumour"), "kind", "literal_error"),
        (("write", "x", "--metadata", "{"), "metadata", "json"),
        (("write", "x", "--occurred-at", "soon"), "occurred_at", "rfc3339"),
        (("recall", "x", "--top-k", "0"), "top_k", "greater_than_equal"),
        (("recall", "x", "--max-tokens", "50"), "max_tokens", "needs_context"),
        (("audit", "--check", "mood"), "checks[0]", "literal_error"),
        (("import", "nowhere.jsonl"), "files", "file"),
    ],
)
def test_bad_input_names_field_and_rule_and_exits_2(
    run: Run, arguments: tuple[str, ...], field: str, rule: str
) -> None:
    told = run(*arguments, "--json")
    assert (told.exit_code, told.stdout) == (2, "")
    assert (field, rule) in [(item["field"], item["rule"]) for item in problem(told)["errors"]]
    shown = run(*arguments)
    assert field in shown.stderr
    assert f"[{rule}]" in shown.stderr


@pytest.mark.parametrize(
    "command", [("recall", "x"), ("audit",), ("export",), ("reindex",), ("precedents", "x")]
)
def test_a_folder_without_a_store_is_told_and_none_is_made(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert run(*command, "--data", str(tmp_path / "typo")).exit_code == 3
    assert not (tmp_path / "typo").exists()


def test_a_wrong_environment_variable_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REARVIEW_EMBEDDER", "magic")
    told = run("write", "x", "--json")
    assert told.exit_code == 2
    assert problem(told)["errors"][0]["field"] == "REARVIEW_EMBEDDER"


def test_an_abstaining_recall_exits_3(run: Run) -> None:
    run("write", "The boiler is serviced in March.")
    assert run("recall", "zzyzx qwv", "--user", "nobody").exit_code == 3


def test_recall_shows_an_open_conflict_with_its_question(run: Run) -> None:
    run("write", "我住在杭州。")
    wrote = run("write", "我搬到上海了。")
    assert "conflict" in wrote.stdout
    assert "open conflict" in run("recall", "住在哪里").stdout


def test_a_context_block_is_printed_as_it_is(run: Run) -> None:
    run(
        "write",
        "The boiler is serviced in March by a rather long-named firm, whose number hangs [beside] it.",
    )
    block = run("recall", "boiler serviced", "--context", "--max-tokens", "200").stdout
    assert block.startswith("<<<MEMORY BEGIN>>>\n")
    assert block.endswith("<<<MEMORY END>>>\n")
    assert "[beside]" in block


def test_a_decision_its_outcome_and_its_precedent(run: Run) -> None:
    memory_id = body(run("write", "The lift is out of order on Mondays.", "--json"))["id"]
    decided = run(
        "decide",
        "Deliver the piano",
        "by the stairs",
        "--memory",
        memory_id,
        "--because",
        "no lift",
        "--json",
    )
    decision_id = body(decided)["id"]
    went = run("outcome", decision_id, "failure", "--score", "-0.5", "--note", "too heavy", "--json")
    assert (went.exit_code, body(went)["score"]) == (0, -0.5)
    assert body(went)["effects"][0]["memory_id"] == memory_id
    found = body(run("precedents", "Deliver the piano", "--json"))
    assert found["actions"][0] | {"failures": 0} == found["actions"][0] | {
        "failures": 0,
        "action": "by the stairs",
    }
    shown = run("precedents", "Deliver the piano")
    assert "by the stairs" in shown.stdout
    assert run("audit", "--json").exit_code == 0


def test_an_unknown_decision_exits_3_and_no_precedent_too(run: Run) -> None:
    run("write", "The boiler is serviced in March.")
    assert run("outcome", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "success").exit_code == 3
    assert run("precedents", "Paint the fence").exit_code == 3


def test_an_audit_with_errors_exits_4_and_reindex_mends(run: Run, tmp_path: Path) -> None:
    memory_id = body(run("write", "The boiler is serviced in March.", "--json"))["id"]
    from rearview.bootstrap import opened
    from rearview.settings import Settings

    with opened(Settings(data=tmp_path / "store", embedder="hashing")) as runtime:
        runtime.app.services.index.delete([memory_id])
    told = run("audit")
    assert told.exit_code == 4
    assert "rearview reindex" in told.stdout
    assert body(run("reindex", "--json"))["records"] == 1
    assert run("audit").exit_code == 0


def test_export_goes_to_a_file_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    run("write", "我对花生过敏。", "--user", "a")
    run("write", "The boiler is serviced in March.", "--user", "b")
    out = tmp_path / "new" / "all.jsonl"
    told = run("export", "--out", str(out), "--json")
    assert body(told)["records"] == {"memory": 2}
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["type"] for line in lines] == ["rearview_export", "memory", "memory"]
    assert [path.name for path in out.parent.iterdir()] == ["all.jsonl"]
    one = run("export", "--user", "b").stdout.splitlines()
    assert [json.loads(line).get("user_id") for line in one] == ["b", "b"]
    assert run("export", "--user", "c").exit_code == 3


def test_a_round_trip_through_files_gives_the_same_export(run: Run, tmp_path: Path) -> None:
    run("write", "我住在杭州。")
    run("write", "我搬到上海了。")
    first = run("export").stdout
    other = str(tmp_path / "other")
    taken = run("import", "-", "--data", other, "--json", stdin=first)
    assert (taken.exit_code, body(taken)["written"]) == (0, {"memory": 2, "conflict": 1})
    second = run("export", "--data", other).stdout
    assert second.splitlines()[1:] == first.splitlines()[1:]


def test_refused_lines_are_shown_and_the_exit_code_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"content": "The hob is electric."}\n{"content": ""}\n', "utf-8")
    told = run("import", str(file))
    assert told.exit_code == 2
    assert "notes.jsonl:2: content:" in told.stderr
    assert "[not_blank]" in told.stderr
    assert "1 memory" in told.stdout
    again = run("import", str(file), "--json")
    assert (body(again)["unchanged"], body(again)["written"]) == (1, {})
    assert body(again)["refusals"][0]["line"] == 2
    strict = run("import", str(file), "--strict", "--json")
    assert body(strict)["stopped"] is True


def test_a_chat_file_becomes_memories_of_a_session_with_its_name(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "旅行 chat.json"
    file.write_text(json.dumps([{"role": "user", "content": "I am allergic to shellfish."}]), "utf-8")
    assert run("import", str(file), "--user", "ida").exit_code == 0
    hits = body(run("recall", "allergic shellfish", "--user", "ida", "--json"))["hits"]
    assert hits[0]["source"]["session_id"] == "旅行 chat"


def test_the_version_is_told(run: Run) -> None:
    assert run("--version").stdout.startswith("rearview ")
    assert body(run("version", "--json"))["rearview"]


def test_help_documents_the_exit_codes_and_all_commands(run: Run) -> None:
    shown = run("--help").stdout
    assert "Exit codes" in shown
    for name in [
        "serve",
        "demo",
        "mcp",
        "write",
        "recall",
        "decide",
        "outcome",
        "precedents",
        "audit",
        "import",
        "export",
        "reindex",
        "eval",
        "bench",
    ]:
        assert f"  {name} " in shown
        assert run(name, "--help").exit_code == 0


def test_eval_names_a_folder_that_is_none(run: Run, tmp_path: Path) -> None:
    told = run("eval", "--data", str(tmp_path / "none"), "--json")
    assert (told.exit_code, problem(told)["errors"][0]["field"]) == (2, "data")
