"""Names that the scorer extracts from text: paths, identifiers, links, ids and commands."""

from __future__ import annotations

import pytest

from holdfast.eval.commands import split_commands
from holdfast.eval.entities import Paths, extract_entities

REPO = Paths(["/repo"])


def extract(kind: str, text: str, paths: Paths = REPO) -> set[str]:
    return {name for entity_kind, name in extract_entities(text, paths) if entity_kind == kind}


def test_paths_end_in_a_known_extension_and_are_relative_to_the_repository() -> None:
    cases = [
        ("see src/auth/login.py:12", {"src/auth/login.py"}),
        ("edited `/repo/src/a.go`, then ./b.ts.", {"src/a.go", "b.ts"}),
        ("/elsewhere/c.md stays absolute", {"/elsewhere/c.md"}),
        ("app/[id]/page.tsx", {"app/[id]/page.tsx"}),
        ("await response.json() is a call", set()),
        ("backup.json.bak is no json", set()),
        ("https://example.org/a/b.html is a link", set()),
        ("os.path and e.g. this", set()),
    ]
    for text, expected in cases:
        assert extract("P", text) == expected, text


def test_a_path_relative_to_a_subfolder_is_resolved_from_the_root() -> None:
    assert REPO.extract("cat src/x.py ../y.py", "/repo/web") == {"web/src/x.py", "y.py"}


def test_a_second_working_folder_is_another_root() -> None:
    paths = Paths(["/repo", "/repo/web", "/other"])
    assert paths.roots == ["/repo", "/other"]
    assert extract("P", "/other/z.py /repo/web/a.py", paths) == {"z.py", "web/a.py"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call parseConfig and load_settings", {"parseConfig", "load_settings"}),
        ("MAX_RETRIES HTTPServer", {"MAX_RETRIES", "HTTPServer"}),
        ("plain words, getX (too short), __init__", set()),
        ("tests/test_login_flow.py names a file only", set()),
        ("masked REDACTED_PHONE", set()),
    ],
)
def test_identifiers_are_camel_or_snake_case_and_six_characters_long(
    text: str, expected: set[str]
) -> None:
    assert extract("I", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/x?y=1.", {"https://example.org/x?y=1"}),
        ("fixes #123 and PROJ-45", {"#123", "PROJ-45"}),
        ("commit 2d6f7eb", {"2d6f7eb"}),
        ("1e0816ef-6f89-4f05-b331-dab09bb14485", {"1e0816ef-6f89-4f05-b331-dab09bb14485"}),
        ("UTF-8, SHA-256, 1234567, deadline &#039;", set()),
    ],
)
def test_links_issue_numbers_commits_and_uuids_are_extracted(text: str, expected: set[str]) -> None:
    assert extract("U", text) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("cd web && FOO=1 npm test  -- --run 2>&1 | tail -20", ["npm test -- --run"]),
        ("go build ./...; ls -la || echo no", ["go build ./..."]),
        ("for f in a b; do ruff check $f; done", ["ruff check $f"]),
        ('git commit -m "a; b"', ['git commit -m "a; b"']),
        ("git commit -m \"$(cat <<'EOF'\nwords && more\nEOF\n)\"", []),
        ("make", []),
        ("if then fi ((", []),
    ],
)
def test_only_repeatable_commands_are_extracted(script: str, expected: list[str]) -> None:
    assert list(split_commands(script)) == expected
