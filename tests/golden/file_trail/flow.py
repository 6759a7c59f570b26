"""Replays a shell command that succeeded as a whole.

If a branch depends on something unknown, the usual case is assumed: `a && b` ran both, `a || b` ran
only `a`, `if` took its first branch, and a loop over unknown values ran once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node, Parser

from tests.golden.file_trail.conditions import evaluate_condition
from tests.golden.file_trail.disk import Disk
from tests.golden.file_trail.heredocs import extract_heredocs
from tests.golden.file_trail.paths import PathKeys
from tests.golden.file_trail.shell import Shell, Streams
from tests.golden.file_trail.words import escape_non_ascii, single_value, source_text

MAX_DEPTH = 60
MAX_STEPS = 10_000


def replay_command(command: str, cwd: str, output: str, disk: Disk, path_keys: PathKeys) -> None:
    """Apply the effects of a command to `disk`; `output` is its real output."""
    ScriptReplay(disk, path_keys, cwd or None, output).run_script(command)


@lru_cache(maxsize=1)
def bash_parser() -> Parser:
    """The parser of tree-sitter-bash, loaded once."""
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class ScriptReplay(Shell):
    """Runs the statements of a script; each returns whether it succeeded, None if unknown."""

    def run_script(self, command: str) -> None:
        if self.depth > MAX_DEPTH:
            return
        text, here_documents = extract_heredocs(command)
        outer, self.here_documents = self.here_documents, here_documents
        self.run(bash_parser().parse(escape_non_ascii(text).encode()).root_node, Streams())
        self.here_documents = outer

    def run(self, node: Node, streams: Streams) -> bool | None:
        # Skip what the parser cannot read; the shell could, so the rest still counts.
        if node.is_error or self.depth > MAX_DEPTH or self.steps[0] > MAX_STEPS:
            return None
        self.depth += 1
        self.steps[0] += 1
        try:
            return self._step(node, streams)
        finally:
            self.depth -= 1

    def _step(self, node: Node, streams: Streams) -> bool | None:
        match node.type:
            case "command":
                return self.command(node, streams)
            case "redirected_statement":
                return self._redirected(node, streams)
            case "list":
                return self._list(node, streams)
            case "pipeline":
                return self._pipeline(node, streams)
            case "negated_command":
                status = self.run(node.named_children[-1], streams)
                return None if status is None else not status
            case "variable_assignment":
                self.assign(node)
                return True
            case "variable_assignments" | "declaration_command":
                return self._run_all(node.named_children, Streams())
            case "function_definition":
                return self._define(node)
        _, stdin = self.redirect(streams)
        return self._compound(node, Streams(stdin=stdin))

    def _compound(self, node: Node, inside: Streams) -> bool | None:
        match node.type:
            case "program" | "compound_statement" | "do_group":
                return self._run_all(node.named_children, inside)
            case "subshell":
                inner = self.subshell()
                status = inner._run_all(node.named_children, inside)
                self.stdout = inner.stdout
                return status
            case "test_command":
                return (
                    evaluate_condition(node.named_children[0], self)
                    if node.named_children
                    else None
                )
            case "if_statement":
                return self._if(node, inside)
            case "for_statement":
                return self._for(node, inside)
            case "while_statement" | "c_style_for_statement":
                return self._while(node, inside)
            case "case_statement":
                return self._case(node, inside)
        return None

    def _run_all(self, nodes: Iterable[Node], streams: Streams) -> bool | None:
        status: bool | None = True
        for node in nodes:
            if node.type != "comment":
                status = self.run(node, streams)
        return status

    def _redirected(self, node: Node, streams: Streams) -> bool | None:
        own_redirects = tuple(node.children_by_field_name("redirect"))
        streams = Streams(redirects=(*own_redirects, *streams.redirects), stdin=streams.stdin)
        body = node.child_by_field_name("body")
        if body is not None:
            return self.run(body, streams)
        self.redirect(streams)
        return True

    def _list(self, node: Node, streams: Streams) -> bool | None:
        # The parser attaches a redirection to the whole list; it belongs to the last command.
        left, right = node.named_children[0], node.named_children[-1]
        first = self.run(left, Streams(stdin=streams.stdin))
        is_or = any(child.type == "||" for child in node.children)
        return self.run(right, streams) if (first is False) == is_or else first

    def _pipeline(self, node: Node, streams: Streams) -> bool | None:
        stages = [child for child in node.named_children if child.type != "comment"]
        status, stdin = None, streams.stdin
        for number, stage in enumerate(stages, 1):
            inner = self.subshell()
            redirects = streams.redirects if number == len(stages) else ()
            status = inner.run(stage, Streams(redirects=redirects, stdin=stdin))
            stdin = self.stdout = inner.stdout
        return status

    def _define(self, node: Node) -> bool:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[source_text(name)] = (body, self.here_documents)
        return True

    def _if(self, node: Node, inside: Streams) -> bool | None:
        for condition, body in _branches(node):
            if not condition or self._run_all(condition, inside) is not False:
                return self._run_all(body, inside)
        return True

    def _for(self, node: Node, inside: Streams) -> bool | None:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if name is not None and body is not None:
            for value in self.expand_words(node.children_by_field_name("value")):
                self.variables[source_text(name)] = None if value is None else [value]
                self.run(body, inside)
        return None

    def _while(self, node: Node, inside: Streams) -> bool | None:
        body = node.child_by_field_name("body")
        conditions = [child for child in node.children_by_field_name("condition") if child.is_named]
        negated = any(child.type == "until" for child in node.children)
        if node.type == "c_style_for_statement":
            conditions = []
        condition = self._run_all(conditions, inside) if conditions else None
        if body is not None and (condition is None or condition != negated):
            self.run(body, inside)
        return None

    def _case(self, node: Node, inside: Streams) -> bool | None:
        subject = node.child_by_field_name("value")
        value = single_value(subject, self) if subject is not None else None
        for item in node.named_children:
            patterns = item.children_by_field_name("value") if item.type == "case_item" else []
            if value is not None and any(
                fnmatchcase(value, source_text(pattern)) for pattern in patterns
            ):
                return self._run_all(item.named_children[len(patterns) :], inside)
        return None


def _branches(node: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """Return condition (empty for `else`) and body of each branch of an `if`."""
    condition: list[Node] = []
    body: list[Node] = []
    after_then = False
    for child in node.children:
        if child.type in ("elif_clause", "else_clause"):
            if body:
                yield condition, body
            condition, body = [], []
            yield from _branches(child)
        elif child.type in ("then", "else"):
            after_then = True
        elif child.is_named and child.type != "comment":
            (body if after_then else condition).append(child)
    if body:
        yield condition, body
