"""The simple commands of a shell script, as they can be run again (entity class C)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from posixpath import basename
from typing import TYPE_CHECKING

from holdfast.eval.artifacts.flow import parser
from holdfast.eval.artifacts.heredocs import MARK, lifted
from holdfast.eval.artifacts.words import in_ascii, source

if TYPE_CHECKING:
    from tree_sitter import Node

# Commands that only look around or glue others together: nobody needs to be told them again.
ONLY_GLUE = """
    cd ls ll echo cat pwd true false exit sleep head tail wc sort uniq test [ [[ printf export
    set unset source . clear which type tr cut tee read xargs date whoami wait kill pushd popd
    local return env shift break continue : alias eval column less more tac rev seq yes basename
    dirname realpath readlink mkdir touch
"""
TRIVIAL = frozenset(ONLY_GLUE.split())
SHORTEST = 6
HERE_DOCUMENT = MARK.partition("{")[0]
# What stands inside these is no command of the script itself.
INSIDE_WORDS = frozenset({"command_substitution", "process_substitution", "string"})


@lru_cache(maxsize=20_000)
def simple_commands(script: str) -> tuple[str, ...]:
    """Split on `&&`, `;`, `|` and lines; `cd`, environment, redirections and trivia left out."""
    text, _ = lifted(script)
    try:
        root = parser().parse(in_ascii(text).encode()).root_node
        return tuple(dict.fromkeys(filter(None, map(_written, _commands(root)))))
    except RecursionError:
        return ()


def _commands(node: Node) -> Iterator[Node]:
    if node.type == "command":
        yield node
    elif node.type not in INSIDE_WORDS:
        for child in node.named_children:
            yield from _commands(child)


def _written(node: Node) -> str:
    name = node.child_by_field_name("name")
    if name is None or basename(source(name)) in TRIVIAL:
        return ""
    words = [source(word) for word in (name, *node.children_by_field_name("argument"))]
    text = " ".join(" ".join(words).split())
    # What hangs on the text of a here-document cannot be run again by its name.
    return text if len(text) >= SHORTEST and HERE_DOCUMENT not in text else ""
