"""Whether a shell condition held, where what is known of the files settles it."""

from __future__ import annotations

from typing import Protocol

from tree_sitter import Node

from tests.golden.file_trail.words import Scope, one, source
from tests.golden.file_trail.world import World

ABOUT_FILES = {"-f", "-e", "-s", "-r", "-w", "-x", "-a"}


class Knowing(Scope, Protocol):
    """A shell, as far as conditions need one."""

    world: World

    def key(self, path: str | None) -> str | None: ...


def holds(node: Node, shell: Knowing) -> bool | None:
    """The value of `[ … ]` or `[[ … ]]`; None if it cannot be known."""
    operator = node.child_by_field_name("operator")
    sign = source(operator) if operator is not None else ""
    parts = [child for child in node.named_children if child != operator]
    if node.type == "unary_expression" and parts:
        if sign == "!":
            return _not(holds(parts[0], shell))
        return _about(sign, one(parts[0], shell), shell)
    if node.type == "binary_expression" and len(parts) == 2:
        if sign in ("&&", "||", "-a", "-o"):
            return _both(sign in ("&&", "-a"), holds(parts[0], shell), holds(parts[1], shell))
        return _compared(sign, one(parts[0], shell), one(parts[1], shell))
    if node.type == "parenthesized_expression" and parts:
        return holds(parts[0], shell)
    return None


def holds_words(words: list[str | None], shell: Knowing) -> bool | None:
    """The same for the `test` command, whose condition comes as words."""
    if words[:1] == ["!"]:
        return _not(holds_words(words[1:], shell))
    if len(words) == 2:
        return _about(words[0] or "", words[1], shell)
    if len(words) == 3:
        return _compared(words[1] or "", words[0], words[2])
    return None


def _about(sign: str, value: str | None, shell: Knowing) -> bool | None:
    if value is None:
        return None
    if sign in ("-n", "-z"):
        return bool(value) == (sign == "-n")
    key = shell.key(value)
    if key is None:
        return None
    if sign == "-d":
        return True if shell.world.is_folder(key) else None
    if sign in ABOUT_FILES:
        if sign != "-f" and shell.world.is_folder(key):
            return True
        return shell.world.exists(key)
    return None


def _compared(sign: str, left: str | None, right: str | None) -> bool | None:
    if left is None or right is None or sign not in ("=", "==", "!=") or "*" in right:
        return None
    return (left == right) == (sign != "!=")


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _both(both: bool, left: bool | None, right: bool | None) -> bool | None:
    if both:
        return False if False in (left, right) else (None if None in (left, right) else True)
    return True if True in (left, right) else (None if None in (left, right) else False)
