"""The evaluation's splitter of shell scripts, compared with tree-sitter-bash on real scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from posixpath import basename

import pytest
from tree_sitter import Node

from holdfast.eval.commands import MIN_COMMAND_CHARS, TRIVIAL, split_commands
from holdfast.eval.session import load_session
from tests.golden.corpus import some_and_all
from tests.golden.file_trail.flow import bash_parser
from tests.golden.file_trail.heredocs import PLACEHOLDER, extract_heredocs
from tests.golden.file_trail.words import escape_non_ascii, source_text

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(CORPUS.glob("*.jsonl.gz")) if CORPUS.is_dir() else []
# Commands inside these are not commands of the script itself.
NESTED = frozenset({"command_substitution", "process_substitution", "string"})


def parsed_commands(script: str) -> list[str]:
    text, _ = extract_heredocs(script)
    root = bash_parser().parse(escape_non_ascii(text).encode()).root_node
    return list(dict.fromkeys(filter(None, map(to_text, command_nodes(root)))))


def command_nodes(node: Node) -> Iterator[Node]:
    if node.type == "command":
        yield node
    elif node.type not in NESTED:
        for child in node.named_children:
            yield from command_nodes(child)


def to_text(node: Node) -> str:
    name = node.child_by_field_name("name")
    if name is None or basename(source_text(name)) in TRIVIAL:
        return ""
    words = [source_text(word) for word in (name, *node.children_by_field_name("argument"))]
    text = " ".join(" ".join(words).split())
    depends_on_here_document = PLACEHOLDER.partition("{")[0] in text
    return "" if len(text) < MIN_COMMAND_CHARS or depends_on_here_document else text


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("sessions", some_and_all(SESSIONS))
def test_the_splitter_finds_the_same_commands_as_tree_sitter(sessions: list[Path]) -> None:
    scripts = {
        str(call.arguments["command"])
        for path in sessions
        for call in load_session(str(path)).calls
        if call.tool == "Bash" and "command" in call.arguments
    }
    assert len(scripts) > 25 * len(sessions)
    assert [s for s in scripts if list(split_commands(s)) != parsed_commands(s)] == []
