"""One shell: where it stands, what it knows, and what its simple commands do."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import basename
from typing import Self

from tree_sitter import Node

from tests.golden.file_trail.commands import COMMANDS, said, without_wrappers
from tests.golden.file_trail.conditions import holds_words
from tests.golden.file_trail.heredocs import Body, marked
from tests.golden.file_trail.paths import Names
from tests.golden.file_trail.words import QUOTED, fields, glob_pattern, one, source
from tests.golden.file_trail.world import World

SHELLS = {"bash", "sh", "zsh", "dash"}
WRITES = {">", ">|", "&>", ">&"}
APPENDS = {">>", "&>>"}
COMPLAINTS = ("no such file", "cannot", "can't", "not permitted", "denied", "is a directory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """What a statement is given from outside: redirections, and the text it reads if known."""

    redirects: tuple[Node, ...] = ()
    stdin: str | None = None


class Shell(ABC):
    """State and simple commands; what a script is made of is in `flow`."""

    def __init__(self, world: World, names: Names, cwd: str | None, output: str) -> None:
        self.world, self.names, self.cwd, self.output = world, names, cwd, output
        self.variables: dict[str, list[str] | None] = {}
        self.arguments: list[str] | None = []
        self.functions: dict[str, tuple[Node, list[Body]]] = {}
        self.bodies: list[Body] = []
        self.left: list[str | None] = []
        self.said: str | None = None
        self.depth = 0
        self.steps = [0]  # shared with subshells

    def subshell(self) -> Self:
        """A shell of its own, whose `cd` and variables end with it."""
        inner = type(self)(self.world, self.names, self.cwd, self.output)
        inner.variables, inner.functions = dict(self.variables), dict(self.functions)
        inner.arguments, inner.bodies = self.arguments, self.bodies
        inner.depth, inner.steps = self.depth + 1, self.steps
        return inner

    @abstractmethod
    def run(self, node: Node, streams: Streams) -> bool | None:
        """One statement; whether it succeeded, if that can be known."""

    @abstractmethod
    def script(self, command: str) -> None:
        """A whole script."""

    # -- what words and commands ask

    def key(self, path: str | None) -> str | None:
        if not path or (self.cwd is None and not path.startswith(("/", "~"))):
            return None
        return self.names.key(path, self.cwd or "")

    def variable(self, name: str) -> list[str] | None:
        if name in ("@", "*"):
            return self.arguments
        if name.isdigit():
            given = self.arguments if self.arguments and name != "0" else None
            return given[int(name) - 1 : int(name)] if given else None
        if name in self.variables:
            return self.variables[name]
        known = {"HOME": "~", "PWD": self.cwd}.get(name)
        return None if known is None else [known]

    def substituted(self, node: Node) -> str | None:
        inner = self.subshell()
        for child in node.named_children:
            inner.run(child, Streams())
        if node.type == "process_substitution":
            return "/dev/fd/63"
        return None if inner.said is None else inner.said.rstrip("\n")

    def matching(self, pattern: str) -> list[str]:
        """Globs see only the files and folders that the session has come across."""
        if self.cwd is None and not pattern.startswith(("/", "~")):
            return []
        if self.names.home and pattern.startswith("~/"):
            pattern = self.names.home.translate(QUOTED) + pattern[1:]
        wanted = glob_pattern(self.names.key(pattern, (self.cwd or "").translate(QUOTED)))
        folders = [key for key in self.world.present_folders() if wanted.match(key)]
        if pattern.endswith("/"):
            return sorted(folder + "/" for folder in folders)
        return sorted({*folders, *(key for key in self.world.now if wanted.match(key))})

    def refused(self, tool: str, path: str) -> bool:
        """Whether the output says that this very path could not be worked on."""
        named = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w./-])")
        return any(
            named.search(line) and any(word in line.lower() for word in COMPLAINTS)
            for line in self.output.splitlines()
            if f"{tool}: " in line
        )

    def words(self, nodes: Iterable[Node]) -> list[str | None]:
        return [field for node in nodes for field in fields(node, self)]

    # -- simple commands

    def command(self, node: Node, streams: Streams) -> bool | None:
        name = node.child_by_field_name("name")
        words = [*([name] if name is not None else []), *node.children_by_field_name("argument")]
        given = self.words(words)
        mine = tuple(node.children_by_field_name("redirect"))
        more, stdin = self.redirect(
            Streams(redirects=(*mine, *streams.redirects), stdin=streams.stdin)
        )
        return self.call([*given, *more], stdin)

    def redirect(self, streams: Streams) -> tuple[list[str | None], str | None]:
        """Opens the targets; gives back words that belong to the command, and its input."""
        more: list[str | None] = []
        stdin = streams.stdin
        for node in streams.redirects:
            targets = node.children_by_field_name("destination")
            operator = next((child.type for child in node.children if not child.is_named), "")
            if not targets:
                continue
            # In `rm 2>/dev/null a b` the parser takes all three for targets.
            opened = self.words(targets[:1])
            target = opened[0] if len(opened) == 1 else None
            more += self.words(targets[1:])
            if operator == "<":
                body = marked(target or "")
                stdin = (
                    self.bodies[body].text if body is not None and body < len(self.bodies) else None
                )
            else:
                self._open(operator, target)
        return more, stdin

    def _open(self, operator: str, target: str | None) -> None:
        key = self.key(target)
        if (
            key is None
            or target is None
            or (operator == ">&" and (target.isdigit() or target == "-"))
        ):
            return
        if any(self.refused(shell, target) for shell in SHELLS):
            return
        if operator in WRITES:
            self.world.write(key)
        elif operator in APPENDS:
            self.world.change(key)

    def assign(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return
        key, values = source(name), self._values(value)
        if any(child.type == "+=" for child in node.children):
            old = self.variables.get(key)
            if values is not None and old is not None:
                several = value is not None and value.type == "array"
                values = [*old, *values] if several else ["".join([*old, *values])]
            else:
                values = None
        self.variables[key] = values

    def _values(self, value: Node | None) -> list[str] | None:
        if value is None:
            return [""]
        found = self.words(value.named_children) if value.type == "array" else [one(value, self)]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    def call(self, given: list[str | None], stdin: str | None) -> bool | None:
        """Runs one command with its words known; None stands for a word that is not."""
        self.said = None
        given = without_wrappers(given)
        if not given or given[0] is None:
            return None
        name, rest = basename(given[0]), given[1:]
        if name in self.functions:
            self._call_function(name, rest)
        elif name in ("true", ":", "false"):
            return name != "false"
        elif name in ("test", "["):
            return holds_words([word for word in rest if word != "]"], self)
        elif name in ("cd", "pushd", "popd"):
            self._go(name, rest)
        elif name in SHELLS or name in ("eval", "read"):
            self._run_text(name, rest, stdin)
        elif name in COMMANDS:
            COMMANDS[name](self, rest, stdin)
        self.said = said(name, rest, stdin, self.cwd)
        return None

    def _call_function(self, name: str, rest: list[str | None]) -> None:
        body, bodies = self.functions[name]
        known = [word for word in rest if word is not None]
        before = self.arguments, self.bodies
        self.arguments, self.bodies = known if len(known) == len(rest) else None, bodies
        self.run(body, Streams())
        self.arguments, self.bodies = before

    def _go(self, name: str, rest: list[str | None]) -> None:
        wanted = [word for word in rest if word is None or word == "-" or not word.startswith("-")]
        target = wanted[0] if wanted else "~"
        here = self.cwd
        if name == "popd" or target == "-":
            self.cwd = self.left.pop() if self.left else None
        else:
            self.cwd = self.key(target)
        if name != "popd":
            self.left.append(here)
        if self.cwd:
            self.world.folders.add(self.cwd)

    def _run_text(self, name: str, rest: list[str | None], stdin: str | None) -> None:
        if name == "read":
            self.variables.update({word: None for word in rest if word and word[0] != "-"})
        elif name == "eval":
            if None not in rest:
                self.script(" ".join(word or "" for word in rest))
        elif rest[:1] and rest[0] and rest[0].startswith("-") and rest[0].endswith("c"):
            inner = self.subshell()
            inner.arguments = [word for word in rest[3:] if word is not None]
            inner.script(rest[1] or "" if len(rest) > 1 else "")
        elif not [word for word in rest if word is None or not word.startswith("-")] and stdin:
            self.subshell().script(stdin)
