"""Each metric on a text made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.cuts import REAL, Cut, find_cuts
from holdfast.eval.entities import Paths
from holdfast.eval.failures import CheckRun
from holdfast.eval.ground_truth import GroundTruth
from holdfast.eval.instructions import Instruction
from holdfast.eval.line_refs import find_refs, names_lookup
from holdfast.eval.matching import TextMatcher
from holdfast.eval.measure import check_limits
from holdfast.eval.methods import Candidate
from holdfast.eval.metrics.provenance import (
    find_unsupported_claims,
    measure_provenance,
    split_statements,
)
from holdfast.eval.metrics.recall import measure_precision, measure_recall
from holdfast.eval.metrics.recovery import measure_recovery
from holdfast.eval.metrics.retention import measure_last_error, measure_retention
from holdfast.eval.metrics.staleness import measure_staleness
from holdfast.eval.multi_compaction import find_first_spans, measure_survival
from holdfast.eval.references import References, find_references
from holdfast.eval.session import load_session
from holdfast.eval.todos import Todos
from tests.unit.eval.transcript import bash, read, said, session_file, summarised

REPO = Paths(["/repo"])


def about(text: str) -> TextMatcher:
    return TextMatcher(text, REPO)


NEEDED = References(
    weights={("P", "src/a.py"): 2.0, ("I", "load_settings"): 1.0, ("C", "npm run test"): 1.0},
    from_memory=frozenset({("P", "src/a.py")}),
    known=frozenset(
        {
            ("P", "src/a.py"),
            ("P", "src/b.py"),
            ("I", "load_settings"),
            ("C", "npm run test"),
            ("C", "npm run"),
        }
    ),
)


def test_recall_is_weighted_and_split_by_class_and_origin() -> None:
    found = measure_recall(about("a.py and load_settings"), NEEDED)
    assert found["frr"] == 0.25
    assert found["frr_basename"] == 0.75
    assert (found["frr_P"], found["frr_I"], found["frr_C"]) == (0.0, 1.0, 0.0)
    assert (found["frr_memory"], found["frr_rediscovered"]) == (0.0, 0.5)
    assert "frr_U" not in found  # nothing of that class was needed


def test_precision_counts_what_was_named_in_vain() -> None:
    found = measure_precision(about("src/a.py src/b.py, run `npm run test`; otherThing"), NEEDED)
    assert found["frp"] == pytest.approx(2 / 4)


def test_files_under_their_folder_are_named_once() -> None:
    assert measure_precision(about("src/: a.py, b.py"), NEEDED)["frp"] == 0.5


def test_a_line_of_names_alone_is_a_bare_list() -> None:
    bare = "src/a.py src/b.py load_settings"
    told = "src/a.py was edited so that load_settings no longer needs what src/b.py gave it"
    found = measure_precision(about(f"{bare}\n{told}"), NEEDED)["bare_list_share"]
    assert found == pytest.approx(len(bare) / len(bare + told))


def test_a_list_is_a_list_also_with_one_name_to_a_line() -> None:
    names = "- src/a.py\n- src/b.py\n- load_settings"
    assert measure_precision(about(names), NEEDED)["bare_list_share"] == 1.0
    told = "- src/a.py — edited\n- src/b.py — read\n- load_settings — new"
    assert measure_precision(about(told), NEEDED)["bare_list_share"] == 0.0


def test_sentences_are_kept_word_for_word_or_not_at_all() -> None:
    told = [
        Instruction(text="Never push to main.", line=1, constraint=True, prohibition=True),
        Instruction(text="Always run the linter.", line=2, constraint=True, prohibition=False),
        Instruction(text="Look at the parser first.", line=3, constraint=False, prohibition=False),
    ]
    found = measure_retention("- “Never push  to main” (L1)\n- run the linter, always", told)
    assert found == {"instructions": pytest.approx(1 / 3), "constraints": 0.5, "prohibitions": 1.0}


def truth(**more: object) -> GroundTruth:
    given = {
        "session": None,
        "cut": Cut(arm=REAL, line=9, first=10, last=20),
        "references": NEEDED,
        "instructions": [],
        "todos": Todos(open=("Write the parser tests",), done=("Add retries to the client",)),
        "runs": [],
        "error": None,
        "branch": "main",
    }
    return GroundTruth(**{**given, **more})  # type: ignore[arg-type]


def run(command: str, ok: bool) -> CheckRun:
    return CheckRun(command=command, kind="test", line=1, ok=ok, output="")


def test_what_is_no_longer_so_is_counted() -> None:
    cases = [
        ("- pending: Write the parser tests", 0, 1),
        ("- pending: Add retries to the client", 1, 1),
        ("## Next steps\n- Add retries to the client", 1, 1),
        ("- done: Add retries to the client, nothing pending", 0, 0),
        ("- Add retries to the client (pending)", 1, 1),
        ("- Add retries to the pending client", 0, 0),
        ("- “pending: Add retries to the client”", 0, 0),
        ("- branch main", 0, 1),
        ("- branch feature/x", 1, 1),
    ]
    for text, errors, checked in cases:
        found = measure_staleness(about(text), truth())
        assert (found["stale_errors"], found["stale_checked"]) == (errors, checked), text


def test_a_check_that_passes_must_not_be_said_to_fail() -> None:
    now = truth(runs=[run("make test", False), run("make test", True), run("make lint", False)])
    found = measure_staleness(about("- `make test` fails\n- `make lint` fails"), now)
    assert (found["stale_errors"], found["stale_checked"]) == (1, 2)


def test_a_command_that_looks_for_failures_says_of_no_other_that_it_fails() -> None:
    now = truth(runs=[run("make test", True)])
    found = measure_staleness(about('- `grep -E "FAIL|fails"` · `make test` (L3)'), now)
    assert (found["stale_errors"], found["stale_checked"]) == (0, 0)


def test_open_items_are_kept_or_not() -> None:
    assert measure_staleness(about("- Write the parser tests"), truth())["open_todos"] == 1.0
    assert measure_staleness(about("- something else"), truth())["open_todos"] == 0.0


def test_the_last_error_is_there_as_it_was_printed() -> None:
    error = CheckRun(
        command="make test", kind="test", line=3, ok=False, output="E  KeyError: 'port'"
    )
    kept = measure_last_error(about("`make test` fails\n  `E  KeyError: 'port'`"), error)
    assert kept == {"last_error": 1.0, "last_error_command": 1.0}
    assert measure_last_error(about("a KeyError about a port"), error)["last_error"] == 0.0
    assert measure_last_error(about("x"), None) == {}


def test_budgets_and_bytes_are_checked_by_the_scorer_itself() -> None:
    fine = Candidate(method="brief", budget=100, text="short", ours="short", rebuilt="short")
    assert set(check_limits(fine, 1000).values()) == {0.0}
    long = Candidate(method="brief", budget=10, text="", ours="𝄞" * 5001, rebuilt="other")
    found = check_limits(long, 100)
    assert [
        found[name] for name in ("overshoots", "over_cap", "not_repeatable", "not_shorter")
    ] == [1.0] * 4


# -- references to lines


def test_references_are_read_in_every_form() -> None:
    assert list(find_refs("a (L12), b (L3–5) and (L7, L9)")) == [12, 3, 4, 5, 7, 9]
    assert list(find_refs("HTML5, XL12")) == []
    assert names_lookup('`holdfast recall "words"`')


def test_a_statement_is_held_to_the_lines_it_refers_to(tmp_path: Path) -> None:
    session = load_session(
        session_file(
            tmp_path,
            said("Please keep   the port at 8080."),
            bash("npm run test", stdout="loadSettings failed in src/a.py"),
        )
    )
    good = (
        "# Title (holdfast:1234abcd)\n\n“quotes” are verbatim, (L12) is transcript line 12.\n"
        "- “keep the port at 8080” (L1)\n- “Please keep … 8080” (L1)\n"
        "- src/a.py — edited 14× · loadSettings (L3)\n"
        "- `npm run test` fails (L2, L3)\n  `loadSettings failed`\n"
        'Everything else: `holdfast recall "words"`, or `holdfast recall L12`.\n'
    )
    assert find_unsupported_claims(good, session) == []
    assert set(measure_provenance(good, session).values()) == {1.0}
    bad = "- port 9090 (L1)\n- src/b.py (L3)\n- “keep the port open” (L1)\n- no ref to parseConfig"
    assert [shown for _, shown in find_unsupported_claims(bad, session)] == [
        "9090",
        "src/b.py",
        "keep the port open",
        "parseConfig",
    ]
    assert measure_provenance(bad, session)["lines_with_ref"] == 0.75
    assert measure_provenance(bad, session)["refs_hold"] == 0.0


def test_a_result_without_its_call_is_told_apart(tmp_path: Path) -> None:
    session = load_session(session_file(tmp_path, bash("npm run test", stdout="1 failed")))
    found = measure_provenance("- `npm run test` fails (L2)", session)
    assert (found["refs_hold"], found["refs_hold_with_calls"]) == (0.0, 1.0)


def test_what_is_indented_belongs_to_the_line_above() -> None:
    assert list(split_statements("## A\n- one\n  two\n- three\n\nsrc/auth/\n- four")) == [
        "- one\n  two",
        "- three",
        "- four",
    ]


def test_a_command_counts_as_it_was_typed_and_not_as_the_host_wrote_it_down(
    tmp_path: Path,
) -> None:
    typed = (
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>this branch</command-args>"
    )
    session = load_session(session_file(tmp_path, said(typed), bash("git add a.py \\\n  b.py")))
    assert (
        find_unsupported_claims("- “/review this branch” (L1)\n- `git add a.py b.py` (L2)", session)
        == []
    )


def test_output_counts_as_a_terminal_shows_it(tmp_path: Path) -> None:
    red = "\x1b[31mError:\x1b[0m \x1b[2mmaxRetries\x1b[22m is 3"
    session = load_session(session_file(tmp_path, bash("npm test", stdout=red)))
    assert find_unsupported_claims("- `Error: maxRetries is 3` (L2)", session) == []


def test_what_an_item_quotes_is_not_about_the_brief_itself(tmp_path: Path) -> None:
    session = load_session(session_file(tmp_path, said("Make the lookup 8080.")))
    assert list(split_statements("- “Make the lookup 8080.” (L1)")) == [
        "- “Make the lookup 8080.” (L1)"
    ]
    assert measure_provenance("- “Make the lookup 8080.” (L1)", session)["lines_with_ref"] == 1.0


def test_what_is_not_in_the_brief_is_behind_a_reference_or_a_search_or_lost(tmp_path: Path) -> None:
    session = load_session(session_file(tmp_path, read("src/a.py"), said("call load_settings")))
    told = about("- something (L3); more: `holdfast recall`")
    found = measure_recovery(
        told, NEEDED, session, lambda words: f"L1 {words}" if "/" in words else ""
    )
    assert found == {
        "retained": 0.0,
        "by_reference": pytest.approx(1 / 3),
        "by_search": pytest.approx(1 / 3),
        "lost": pytest.approx(1 / 3),
    }


def test_survival_is_of_what_is_old(tmp_path: Path) -> None:
    files = [each for number in range(9) for each in read(f"f{number}.py")]
    steps = (read("old.py"), summarised("x"), read("newer.py"), summarised("y"))
    after = [*read("old.py"), *read("newer.py"), *files]
    session = load_session(session_file(tmp_path, *steps, after))
    last = [cut for cut in find_cuts(session) if cut.arm == REAL][-1]
    needed = find_references(session, last)
    seen = find_first_spans(session)
    assert measure_survival(about("newer.py"), needed, seen, last) == {"survival_1": 0.0}
    assert measure_survival(about("old.py"), needed, seen, last) == {"survival_1": 1.0}
