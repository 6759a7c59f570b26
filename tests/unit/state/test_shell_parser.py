"""Parsing shell scripts as a shell does."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.state.shell_parser import parse_commands


def words(script: str) -> list[list[str | None]]:
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
        assert words(script) == expected, script


def test_what_only_a_running_shell_knows_is_unknown() -> None:
    assert words('rm $(find . -name x) `ls` "$HOME/y" ${UNSET} z') == [
        ["rm", None, None, None, None, "z"]
    ]


def test_a_variable_set_in_the_same_script_is_known() -> None:
    assert words('D=/x; rm "$D/a" ${D}/b') == [["rm", "/x/a", "/x/b"]]


def test_a_loop_over_literal_words_is_known() -> None:
    assert words("for f in a b; do rm $f.txt; done") == [["rm", "a.txt", "b.txt"]]


def test_braces_with_commas_are_several_words() -> None:
    assert words("rm build/{a,b}.o {x} '{c,d}'") == [
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
    assert words(script) == [["git", "commit", "-m", None], ["rm", "y"]]


def test_an_indented_here_document_ends_at_its_indented_mark() -> None:
    assert words("cat <<-E\n\trm x\n\tE\nrm y") == [["cat"], ["rm", "y"]]


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
    found = parse_commands("a && (b; c) || d & e")
    assert [(command.words[0], command.operator, command.depth) for command in found] == [
        ("a", "\n", 0), ("b", "(", 1), ("c", ";", 1), ("d", "||", 0), ("e", "&", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "script", ["rm\0 a.py", "\0rm a.py", "rm a.py\0", 'rm "a\0.py"', "r\0m a.py"]
)
def test_a_nul_is_no_part_of_a_command(script: str) -> None:
    assert words(script) == [["rm", "a.py"]]


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


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here to compare with")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(alphabet="ab /.'\"\\$*?[]{}~!#&;|<>()=-\t", min_size=0, max_size=8),
        min_size=1,
        max_size=4,
    )
)
def test_quoted_words_match_what_bash_prints(texts: list[str]) -> None:
    """Words that bash quoted are parsed back to the same words."""
    quote = subprocess.run(
        ["bash", "-c", 'printf "%q " "$@"', "_", *texts], capture_output=True, text=True, check=True
    ).stdout
    assert words(f"echo {quote}") == [["echo", *texts]]
