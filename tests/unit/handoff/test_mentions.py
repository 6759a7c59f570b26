"""Extracting mentions and commands from text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.handoff.mentions import extract_commands, extract_mentions


def test_files_identifiers_links_and_ids_are_extracted() -> None:
    cases = [
        ("see src/a/login.py:42 and go.mod.", {("file", "src/a/login.py"), ("file", "go.mod")}),
        ("retryLimit, max_backoff, HTTPServer", {"retryLimit", "max_backoff", "HTTPServer"}),
        ("plain words, Titles and x_y", set()),
        ("https://example.com/a?b=1.", {("link", "https://example.com/a?b=1")}),
        ("ENT-250, #172 and #2", {("link", "ENT-250"), ("link", "#172")}),
        ("commit 3f2c1ab9 is in", {("link", "3f2c1ab9")}),
        ("*_test.go", set()),
        ("cat $skill_dir/references/lanes.md", {"skill_dir"}),
        (r"rg 'CONCEPTS\.md|src/load_plan\.py'", {"load_plan"}),
        ("$maxRetries and $HOME/.zshrc.sh", {"maxRetries"}),
        ("version 1.2.3 of it", set()),
        ("git show HEAD:src/a.py", {("file", "src/a.py")}),
        ("ERROR app.worker:worker.py:49 failed", {("file", "worker.py")}),
        (r"C:\src\a.py", {("file", r"C:\src\a.py")}),
        (r"{\"diff\": \"a\n\n\tfoundID := x.maxAge\n\tsrc/b.go\"}", {"maxAge"}),
        (r"src\new\test.py", {("file", r"src\new\test.py")}),
        ("diff --git a/src/a.go b/src/a.go\n+++ b/src/a.go", {("file", "src/a.go")}),
        (" .../cli/strategy/manual_commit.go | 4 ++--", set()),
        ("go test ./pkg/... -run=maxAge", {"maxAge"}),
        ("see a/src.py and b/src.py", {("file", "a/src.py"), ("file", "b/src.py")}),
        ("src/app/[slug]/page.tsx", {("file", "src/app/[slug]/page.tsx")}),
        ("app/(auth)/login/page.tsx!", {("file", "app/(auth)/login/page.tsx")}),
        ("see routes/$id.tsx", {("file", "routes/$id.tsx")}),
        ("see pages/[id].tsx", {("file", "pages/[id].tsx")}),
        ("call f(maxAge)/2 or list[maxAge].size", {"maxAge"}),
        ("\x1b[0msrc/sync/queue.rs\x1b[1A", {("file", "src/sync/queue.rs")}),
        ("console.log(x) in Node.js, not app.js", {"console.log", "Node.js", ("file", "app.js")}),
        (r'"src=\"https://a.example/x.png\""', {("link", "https://a.example/x.png")}),
        ("see @docs/guide.md", {("file", "docs/guide.md")}),
        ("colours #003322 and #12345", {("link", "#12345")}),
        ("Enum.sum of a/go.sum, go.mod", {("file", "a/go.sum"), ("file", "go.mod")}),
        ("REDACTED_EMAIL wrote to max_output_tokens", set()),
        ("", set()),
    ]
    for text, names in cases:
        expected = {name if isinstance(name, tuple) else ("identifier", name) for name in names}
        assert extract_mentions(text) == expected, text


@given(st.text(max_size=500))
def test_every_mention_is_part_of_the_text(text: str) -> None:
    assert all(name in text for _, name in extract_mentions(text))


def test_commands_are_extracted_in_a_form_that_can_be_run_again() -> None:
    cases = [
        ("cd src && go test ./... -run TestX", ["go test ./... -run TestX"]),
        ("mise run lint 2>&1 | tail -5", ["mise run lint"]),
        ("FOO=1 make test; ls", ["make test"]),
        ("nl -ba src/a.py | sed -n '1,90p'", ["nl -ba src/a.py"]),
        ("sed -n '1,90p' src/a.py", ["sed -n '1,90p' src/a.py"]),
        ('git commit -m "a  b"', ['git commit -m "a b"']),
        ("ls", []),
        ("x", []),
    ]
    for script, commands in cases:
        assert extract_commands(script) == commands, script


def test_terminal_colours_are_not_part_of_names() -> None:
    assert ("identifier", "mFailed") not in extract_mentions("[31mFailed to load")
