"""Takes here-documents out of a command before it is parsed.

tree-sitter-bash 0.25 misreads `cat <<A > f; rm x`, two here-documents on one line, and
`<<A &&` at the end of a line, the last without saying so; it also stumbles over a here-string
after `> f` and over `<>`. Each becomes `< name`, which it reads well; for a here-document the
name stands for its body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MARK = "__here_document_{}__"
MARKED = re.compile(r"^__here_document_(\d+)__$")
DELIMITER = re.compile(r"""[ \t]*((?:\\.|'[^']*'|"[^"]*"|[^\s\\'";&|<>()])+)""")
ENDS_A_WORD = " \t\n;&|("


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    text: str
    literal: bool  # the delimiter was quoted: `$x` stands for itself


@dataclass(slots=True)
class _Reader:
    """Walks the command once, aware of quotes and nesting; `closers` is what is still open."""

    source: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    closers: list[str] = field(default_factory=list)
    waiting: list[tuple[str, bool, bool]] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)

    def run(self) -> None:
        while self.at < len(self.source):
            if self.closers and self.closers[-1] == '"':
                self._in_double_quotes()
            else:
                self._in_code()

    def _take(self, length: int) -> None:
        self.out.append(self.source[self.at : self.at + length])
        self.at += length

    def _opens(self, text: str) -> bool:
        return self.source.startswith(text, self.at)

    def _nest(self, opening: str, closer: str) -> None:
        self.closers.append(closer)
        self._take(len(opening))

    def _in_double_quotes(self) -> None:
        if self._opens("\\"):
            self._take(2)
        elif self._opens('"'):
            self.closers.pop()
            self._take(1)
        elif self._opens("$(("):
            self._nest("$((", "))")
        elif self._opens("$("):
            self._nest("$(", ")")
        elif self._opens("`"):
            self._nest("`", "`")
        else:
            self._take(1)

    def _in_code(self) -> None:
        inside = self.closers[-1] if self.closers else ""
        if self._opens("\\"):
            self._take(2)
        elif inside and self._opens(inside):
            self.closers.pop()
            self._take(len(inside))
        elif self._opens("'") or self._opens("$'"):
            self._take(self._single_quoted())
        elif self._opens('"'):
            self._nest('"', '"')
        elif self._opens("$(("):
            self._nest("$((", "))")
        elif self._opens("$(") or self._opens("("):
            self._nest("$(" if self._opens("$(") else "(", ")")
        elif self._opens("`"):
            self._nest("`", "`")
        elif self._opens("#") and (not self.at or self.source[self.at - 1] in ENDS_A_WORD):
            end = self.source.find("\n", self.at)
            self._take((end if end >= 0 else len(self.source)) - self.at)
        elif self._opens("<<<") or self._opens("<>"):
            self.out.append("<")
            self.at += 3 if self._opens("<<<") else 2
        elif self._opens("<<") and inside != "))":
            self._here_document()
        elif self._opens("\n") and self.waiting:
            self._bodies_after_this_line()
        else:
            self._take(1)

    def _single_quoted(self) -> int:
        escapes = self._opens("$'")
        end = re.compile(r"\$'(?:\\.|[^'\\])*'?" if escapes else r"'[^']*'?", re.S)
        found = end.match(self.source, self.at)
        return len(found[0]) if found else 1

    def _here_document(self) -> None:
        indented = self._opens("<<-")
        delimiter = DELIMITER.match(self.source, self.at + (3 if indented else 2))
        if not delimiter:
            self._take(2)
            return
        word = delimiter[1]
        literal = bool(re.search(r"""[\\'"]""", word))
        self.waiting.append((re.sub(r"""\\(.)|['"]""", r"\1", word), literal, indented))
        self.out.append("< " + MARK.format(len(self.bodies) + len(self.waiting) - 1))
        self.at = delimiter.end()

    def _bodies_after_this_line(self) -> None:
        self._take(1)
        for delimiter, literal, indented in self.waiting:
            lines: list[str] = []
            while self.at < len(self.source):
                end = self.source.find("\n", self.at)
                end = len(self.source) if end < 0 else end
                line = self.source[self.at : end]
                self.at = end + 1
                line = line.lstrip("\t") if indented else line
                if line.rstrip("\r") == delimiter:
                    break
                lines.append(line + "\n")
            self.bodies.append(Body(text="".join(lines), literal=literal))
        self.waiting.clear()


def lifted(command: str) -> tuple[str, list[Body]]:
    """The command without the bodies, and the bodies in the order of their marks."""
    reader = _Reader(command)
    reader.run()
    reader.bodies += [Body(text="", literal=True) for _ in reader.waiting]
    return "".join(reader.out), reader.bodies


def marked(word: str) -> int | None:
    """Which body the name after `<` stands for."""
    found = MARKED.match(word)
    return int(found[1]) if found else None
