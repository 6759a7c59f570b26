"""What the scorer takes for a name."""

from __future__ import annotations

import pytest

from holdfast.eval.commands import split_commands
from holdfast.eval.entities import Paths, extract_entities

REPO = Paths(["/repo"])


def named(kind: str, text: str, paths: Paths = REPO) -> set[str]:
    return {name for found, name in extract_entities(text, paths) if found == kind}


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
    for text, found in cases:
        assert named("P", text) == found, text


def test_a_path_given_in_a_folder_below_is_resolved_from_the_root() -> None:
    assert REPO.extract("cat src/x.py ../y.py", "/repo/web") == {"web/src/x.py", "y.py"}


def test_a_second_working_folder_is_a_root_of_its_own() -> None:
    paths = Paths(["/repo", "/repo/web", "/other"])
    assert paths.roots == ["/repo", "/other"]
    assert named("P", "/other/z.py /repo/web/a.py", paths) == {"z.py", "web/a.py"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call parseConfig and load_settings", {"parseConfig", "load_settings"}),
        ("MAX_RETRIES HTTPServer", {"MAX_RETRIES", "HTTPServer"}),
        ("plain words, getX (too short), __init__", set()),
        ("tests/test_login_flow.py names a file only", set()),
        ("masked REDACTED_PHONE", set()),
    ],
)
def test_identifiers_are_camel_or_snake_case_and_six_characters_long(
    text: str, found: set[str]
) -> None:
    assert named("I", text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://example.org/x?y=1.", {"https://example.org/x?y=1"}),
        ("fixes #123 and PROJ-45", {"#123", "PROJ-45"}),
        ("commit 2d6f7eb", {"2d6f7eb"}),
        ("1e0816ef-6f89-4f05-b331-dab09bb14485", {"1e0816ef-6f89-4f05-b331-dab09bb14485"}),
        ("UTF-8, SHA-256, 1234567, deadline &#039;", set()),
    ],
)
def test_links_and_ids(text: str, found: set[str]) -> None:
    assert named("U", text) == found


@pytest.mark.parametrize(
    ("script", "found"),
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
def test_commands_are_what_can_be_run_again(script: str, found: list[str]) -> None:
    assert list(split_commands(script)) == found
