"""A shell: its current folder, its variables, and the effects of simple commands."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import basename
from typing import Self

from tree_sitter import Node

from tests.golden.file_trail.commands import COMMANDS, known_output, without_wrappers
from tests.golden.file_trail.conditions import evaluate_test_command
from tests.golden.file_trail.disk import Disk
from tests.golden.file_trail.heredocs import HereDocument, heredoc_index
from tests.golden.file_trail.paths import PathKeys
from tests.golden.file_trail.words import (
    QUOTED,
    expand_word,
    glob_pattern,
    single_value,
    source_text,
)

SHELLS = {"bash", "sh", "zsh", "dash"}
WRITES = {">", ">|", "&>", ">&"}
APPENDS = {">>", "&>>"}
ERROR_PHRASES = ("no such file", "cannot", "can't", "not permitted", "denied", "is a directory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """The redirections of a statement, and its standard input if known."""

    redirects: tuple[Node, ...] = ()
    stdin: str | None = None


class Shell(ABC):
    """State and simple commands; control flow is in `flow`."""

    def __init__(self, disk: Disk, path_keys: PathKeys, cwd: str | None, output: str) -> None:
        self.disk, self.path_keys, self.cwd, self.output = disk, path_keys, cwd, output
        self.variables: dict[str, list[str] | None] = {}
        self.arguments: list[str] | None = []
        self.functions: dict[str, tuple[Node, list[HereDocument]]] = {}
        self.here_documents: list[HereDocument] = []
        self.previous_folders: list[str | None] = []
        self.stdout: str | None = None
        self.depth = 0
        self.steps = [0]  # shared with subshells

    def subshell(self) -> Self:
        """Return a new shell whose `cd` and variables do not affect this one."""
        inner = type(self)(self.disk, self.path_keys, self.cwd, self.output)
        inner.variables, inner.functions = dict(self.variables), dict(self.functions)
        inner.arguments, inner.here_documents = self.arguments, self.here_documents
        inner.depth, inner.steps = self.depth + 1, self.steps
        return inner

    @abstractmethod
    def run(self, node: Node, streams: Streams) -> bool | None:
        """Run one statement; return whether it succeeded, or None if that is unknown."""

    @abstractmethod
    def run_script(self, command: str) -> None:
        """Run a whole script."""

    # -- used by words and commands

    def key(self, path: str | None) -> str | None:
        if not path or (self.cwd is None and not path.startswith(("/", "~"))):
            return None
        return self.path_keys.key(path, self.cwd or "")

    def variable(self, name: str) -> list[str] | None:
        if name in ("@", "*"):
            return self.arguments
        if name.isdigit():
            arguments = self.arguments if self.arguments and name != "0" else None
            return arguments[int(name) - 1 : int(name)] if arguments else None
        if name in self.variables:
            return self.variables[name]
        value = {"HOME": "~", "PWD": self.cwd}.get(name)
        return None if value is None else [value]

    def substitute_command(self, node: Node) -> str | None:
        inner = self.subshell()
        for child in node.named_children:
            inner.run(child, Streams())
        if node.type == "process_substitution":
            return "/dev/fd/63"
        return None if inner.stdout is None else inner.stdout.rstrip("\n")

    def match_glob(self, pattern: str) -> list[str]:
        """Match a glob against the files and folders that the session has mentioned."""
        if self.cwd is None and not pattern.startswith(("/", "~")):
            return []
        if self.path_keys.home and pattern.startswith("~/"):
            pattern = self.path_keys.home.translate(QUOTED) + pattern[1:]
        glob = glob_pattern(self.path_keys.key(pattern, (self.cwd or "").translate(QUOTED)))
        folders = [key for key in self.disk.present_folders() if glob.match(key)]
        if pattern.endswith("/"):
            return sorted(folder + "/" for folder in folders)
        return sorted({*folders, *(key for key in self.disk.now if glob.match(key))})

    def reported_error(self, tool: str, path: str) -> bool:
        """Return whether the output has an error of this tool about this path."""
        named = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w./-])")
        return any(
            named.search(line) and any(word in line.lower() for word in ERROR_PHRASES)
            for line in self.output.splitlines()
            if f"{tool}: " in line
        )

    def expand_words(self, nodes: Iterable[Node]) -> list[str | None]:
        return [word for node in nodes for word in expand_word(node, self)]

    # -- simple commands

    def command(self, node: Node, streams: Streams) -> bool | None:
        name = node.child_by_field_name("name")
        words = [*([name] if name is not None else []), *node.children_by_field_name("argument")]
        arguments = self.expand_words(words)
        own_redirects = tuple(node.children_by_field_name("redirect"))
        more, stdin = self.redirect(
            Streams(redirects=(*own_redirects, *streams.redirects), stdin=streams.stdin)
        )
        return self.call([*arguments, *more], stdin)

    def redirect(self, streams: Streams) -> tuple[list[str | None], str | None]:
        """Open the targets; return words that belong to the command, and its standard input."""
        more: list[str | None] = []
        stdin = streams.stdin
        for node in streams.redirects:
            targets = node.children_by_field_name("destination")
            operator = next((child.type for child in node.children if not child.is_named), "")
            if not targets:
                continue
            # In `rm 2>/dev/null a b` the parser takes all three for targets.
            opened = self.expand_words(targets[:1])
            target = opened[0] if len(opened) == 1 else None
            more += self.expand_words(targets[1:])
            if operator == "<":
                index = heredoc_index(target or "")
                is_known = index is not None and index < len(self.here_documents)
                stdin = self.here_documents[index or 0].text if is_known else None
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
        if any(self.reported_error(shell, target) for shell in SHELLS):
            return
        if operator in WRITES:
            self.disk.write(key)
        elif operator in APPENDS:
            self.disk.change(key)

    def assign(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return
        key, values = source_text(name), self._values(value)
        if any(child.type == "+=" for child in node.children):
            old = self.variables.get(key)
            if values is not None and old is not None:
                is_array = value is not None and value.type == "array"
                values = [*old, *values] if is_array else ["".join([*old, *values])]
            else:
                values = None
        self.variables[key] = values

    def _values(self, value: Node | None) -> list[str] | None:
        if value is None:
            return [""]
        expanded = (
            self.expand_words(value.named_children)
            if value.type == "array"
            else [single_value(value, self)]
        )
        known = [text for text in expanded if text is not None]
        return known if len(known) == len(expanded) else None

    def call(self, words: list[str | None], stdin: str | None) -> bool | None:
        """Run one command; a word of unknown value is None."""
        self.stdout = None
        words = without_wrappers(words)
        if not words or words[0] is None:
            return None
        name, rest = basename(words[0]), words[1:]
        if name in self.functions:
            self._call_function(name, rest)
        elif name in ("true", ":", "false"):
            return name != "false"
        elif name in ("test", "["):
            return evaluate_test_command([word for word in rest if word != "]"], self)
        elif name in ("cd", "pushd", "popd"):
            self._change_folder(name, rest)
        elif name in SHELLS or name in ("eval", "read"):
            self._run_script_text(name, rest, stdin)
        elif name in COMMANDS:
            COMMANDS[name](self, rest, stdin)
        self.stdout = known_output(name, rest, stdin, self.cwd)
        return None

    def _call_function(self, name: str, rest: list[str | None]) -> None:
        body, here_documents = self.functions[name]
        known = [word for word in rest if word is not None]
        before = self.arguments, self.here_documents
        self.arguments = known if len(known) == len(rest) else None
        self.here_documents = here_documents
        self.run(body, Streams())
        self.arguments, self.here_documents = before

    def _change_folder(self, name: str, rest: list[str | None]) -> None:
        operands = [
            word for word in rest if word is None or word == "-" or not word.startswith("-")
        ]
        target = operands[0] if operands else "~"
        previous = self.cwd
        if name == "popd" or target == "-":
            self.cwd = self.previous_folders.pop() if self.previous_folders else None
        else:
            self.cwd = self.key(target)
        if name != "popd":
            self.previous_folders.append(previous)
        if self.cwd:
            self.disk.folders.add(self.cwd)

    def _run_script_text(self, name: str, rest: list[str | None], stdin: str | None) -> None:
        if name == "read":
            self.variables.update({word: None for word in rest if word and word[0] != "-"})
        elif name == "eval":
            if None not in rest:
                self.run_script(" ".join(word or "" for word in rest))
        elif rest[:1] and rest[0] and rest[0].startswith("-") and rest[0].endswith("c"):
            inner = self.subshell()
            inner.arguments = [word for word in rest[3:] if word is not None]
            inner.run_script(rest[1] or "" if len(rest) > 1 else "")
        elif not [word for word in rest if word is None or not word.startswith("-")] and stdin:
            self.subshell().run_script(stdin)
