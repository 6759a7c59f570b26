"""Parsing shell scripts as a shell does."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.state.shell_parser import parse_commands


def parse_words(script: str) -> list[list[str | None]]:
    return [command.words for command in parse_commands(script)]


def test_words_are_split_as_a_shell_does() -> None:
    cases = [
        ("rm a b", [["rm", "a", "b"]]),
        ("rm 'a b' \"c d\" e\\ f", [["rm", "a b", "c d", "e f"]]),
        (
            "cd /tmp && rm -rf x; ls | wc -l || true",
            [["cd", "/tmp"], ["rm", "-rf", "x"], ["ls"], ["wc", "-l"], ["true"]],
        ),
        ("echo one\necho two", [["echo", "one"], ["echo", "two"]]),
        ("echo a \\\n  b", [["echo", "a", "b"]]),
        ("rm a # rm b", [["rm", "a"]]),
        ("echo a#b", [["echo", "a#b"]]),
        ("echo 'it''s' \"it's\"", [["echo", "its", "it's"]]),
        ("echo $'a b'", [["echo", "a b"]]),
        ("if [ -f a ]; then rm a; fi", [["[", "-f", "a", "]"], ["rm", "a"]]),
        ("while true; do rm a; done", [["true"], ["rm", "a"]]),
        ("! rm a", [["rm", "a"]]),
        ("FOO=bar BAZ=1 make test", [["make", "test"]]),
        ("", []),
        ("   \n\n ;; ", []),
        ("echo 'never closed", [["echo", "never closed"]]),
        ('echo "never closed', [["echo", "never closed"]]),
    ]
    for script, expected in cases:
        assert parse_words(script) == expected, script


def test_values_that_only_a_running_shell_has_are_unknown() -> None:
    assert parse_words('rm $(find . -name x) `ls` "$HOME/y" ${UNSET} z') == [
        ["rm", None, None, None, None, "z"]
    ]


def test_a_variable_set_in_the_same_script_is_expanded() -> None:
    assert parse_words('D=/x; rm "$D/a" ${D}/b') == [["rm", "/x/a", "/x/b"]]


def test_the_variable_of_a_loop_over_literal_words_is_expanded() -> None:
    assert parse_words("for f in a b; do rm $f.txt; done") == [["rm", "a.txt", "b.txt"]]


def test_braces_with_commas_are_several_words() -> None:
    assert parse_words("rm build/{a,b}.o {x} '{c,d}'") == [
        ["rm", "build/a.o", "build/b.o", "{x}", "{c,d}"]
    ]


def test_a_here_document_is_data() -> None:
    (first, second) = parse_commands("cat > f <<'EOF'\nrm -rf /\nEOF\nrm g")
    assert first.words == ["cat"]
    assert first.redirections == [(">", "f"), ("<<", "EOF")]
    assert first.heredoc == "rm -rf /"
    assert second.words == ["rm", "g"]


def test_a_here_document_inside_a_substitution_is_data() -> None:
    script = "git commit -m \"$(cat <<'EOF'\nfix: a > b (see c)\nrm x\nEOF\n)\" && rm y"
    assert parse_words(script) == [["git", "commit", "-m", None], ["rm", "y"]]


def test_an_indented_here_document_ends_at_its_indented_delimiter() -> None:
    assert parse_words("cat <<-E\n\trm x\n\tE\nrm y") == [["cat"], ["rm", "y"]]


def test_redirections_are_found() -> None:
    cases = [
        ("a > b", [(">", "b")]),
        ("a >>b 2>&1", [(">>", "b"), (">&", "1")]),
        ("a 2>/dev/null <c", [(">", "/dev/null"), ("<", "c")]),
        ("a &> b", [("&>", "b")]),
        ("a >| b", [(">|", "b")]),
        ("a > 'b c'", [(">", "b c")]),
        ("a > $(date).log", [(">", None)]),
        ("echo '>' \">\"", []),
        ("gh api --jq '.[] | select(.a > \"b\")'", []),
    ]
    for script, expected in cases:
        assert parse_commands(script)[0].redirections == expected, script


def test_operators_and_subshells_are_found() -> None:
    commands = parse_commands("a && (b; c) || d & e")
    assert [(command.words[0], command.operator, command.depth) for command in commands] == [
        ("a", "\n", 0), ("b", "(", 1), ("c", ";", 1), ("d", "||", 0), ("e", "&", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "script", ["rm\0 a.py", "\0rm a.py", "rm a.py\0", 'rm "a\0.py"', "r\0m a.py"]
)
def test_a_nul_character_is_ignored(script: str) -> None:
    assert parse_words(script) == [["rm", "a.py"]]


@given(st.text(max_size=200))
def test_any_text_is_parsed_without_an_error(script: str) -> None:
    for command in parse_commands(script):
        assert command.words or command.redirections


@given(st.text(alphabet="$(){}'\"`\\<>|&; \nab=#\0", max_size=80))
def test_any_mix_of_special_characters_is_parsed_without_an_error(script: str) -> None:
    assert isinstance(parse_commands(script), list)


def test_hostile_input_takes_no_more_than_linear_time() -> None:
    for script in ("(" * 50_000, '"$(' * 20_000, "<<a " * 20_000, "$" * 100_000, "a" * 200_000):
        assert isinstance(parse_commands(script), list)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(alphabet="ab /.'\"\\$*?[]{}~!#&;|<>()=-\t", min_size=0, max_size=8),
        min_size=1,
        max_size=4,
    )
)
def test_words_quoted_by_bash_are_parsed_back(texts: list[str]) -> None:
    quoted = subprocess.run(
        ["bash", "-c", 'printf "%q " "$@"', "_", *texts], capture_output=True, text=True, check=True
    ).stdout
    assert parse_words(f"echo {quoted}") == [["echo", *texts]]
