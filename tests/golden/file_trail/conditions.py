"""Evaluates shell conditions, as far as the known files decide them."""

from __future__ import annotations

from typing import Protocol

from tree_sitter import Node

from tests.golden.file_trail.disk import Disk
from tests.golden.file_trail.words import Scope, single_value, source_text

FILE_OPERATORS = {"-f", "-e", "-s", "-r", "-w", "-x", "-a"}


class ConditionScope(Scope, Protocol):
    """The part of a shell that conditions need."""

    disk: Disk

    def key(self, path: str | None) -> str | None: ...


def evaluate_condition(node: Node, shell: ConditionScope) -> bool | None:
    """Return the value of `[ … ]` or `[[ … ]]`, or None if it is unknown."""
    operator = node.child_by_field_name("operator")
    operator_text = source_text(operator) if operator is not None else ""
    parts = [child for child in node.named_children if child != operator]
    if node.type == "unary_expression" and parts:
        if operator_text == "!":
            return _not(evaluate_condition(parts[0], shell))
        return _evaluate_unary(operator_text, single_value(parts[0], shell), shell)
    if node.type == "binary_expression" and len(parts) == 2:
        if operator_text in ("&&", "||", "-a", "-o"):
            return _combine(
                operator_text in ("&&", "-a"),
                evaluate_condition(parts[0], shell),
                evaluate_condition(parts[1], shell),
            )
        return _compare(operator_text, single_value(parts[0], shell), single_value(parts[1], shell))
    if node.type == "parenthesized_expression" and parts:
        return evaluate_condition(parts[0], shell)
    return None


def evaluate_test_command(words: list[str | None], shell: ConditionScope) -> bool | None:
    """Return the value of a `test` command, whose condition is a list of words."""
    if words[:1] == ["!"]:
        return _not(evaluate_test_command(words[1:], shell))
    if len(words) == 2:
        return _evaluate_unary(words[0] or "", words[1], shell)
    if len(words) == 3:
        return _compare(words[1] or "", words[0], words[2])
    return None


def _evaluate_unary(operator_text: str, value: str | None, shell: ConditionScope) -> bool | None:
    if value is None:
        return None
    if operator_text in ("-n", "-z"):
        return bool(value) == (operator_text == "-n")
    key = shell.key(value)
    if key is None:
        return None
    if operator_text == "-d":
        return True if shell.disk.is_folder(key) else None
    if operator_text in FILE_OPERATORS:
        if operator_text != "-f" and shell.disk.is_folder(key):
            return True
        return shell.disk.exists(key)
    return None


def _compare(operator_text: str, left: str | None, right: str | None) -> bool | None:
    if left is None or right is None or operator_text not in ("=", "==", "!=") or "*" in right:
        return None
    return (left == right) == (operator_text != "!=")


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _combine(is_and: bool, left: bool | None, right: bool | None) -> bool | None:
    if is_and:
        return False if False in (left, right) else (None if None in (left, right) else True)
    return True if True in (left, right) else (None if None in (left, right) else False)
