"""Extracts here-documents from a command before it is parsed.

tree-sitter-bash 0.25 misreads `cat <<A > f; rm x`, two here-documents in one line, and `<<A &&` at
the end of a line, the last without an error. It also fails on a here-string after `> f` and on
`<>`. Each is replaced with `< name`, which it parses correctly; the name of a here-document is a
placeholder for its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PLACEHOLDER = "__here_document_{}__"
PLACEHOLDER_PATTERN = re.compile(r"^__here_document_(\d+)__$")
DELIMITER = re.compile(r"""[ \t]*((?:\\.|'[^']*'|"[^"]*"|[^\s\\'";&|<>()])+)""")
WORD_SEPARATORS = " \t\n;&|("


@dataclass(frozen=True, slots=True, kw_only=True)
class HereDocument:
    text: str
    literal: bool  # the delimiter was quoted, so `$x` is not expanded


@dataclass(slots=True)
class _Scanner:
    """Scans the command once; `closers` are the closing marks of open quotes and brackets."""

    source: str
    position: int = 0
    out: list[str] = field(default_factory=list)
    closers: list[str] = field(default_factory=list)
    pending: list[tuple[str, bool, bool]] = field(default_factory=list)
    here_documents: list[HereDocument] = field(default_factory=list)

    def run(self) -> None:
        while self.position < len(self.source):
            if self.closers and self.closers[-1] == '"':
                self._in_double_quotes()
            else:
                self._in_code()

    def _copy(self, length: int) -> None:
        self.out.append(self.source[self.position : self.position + length])
        self.position += length

    def _looking_at(self, text: str) -> bool:
        return self.source.startswith(text, self.position)

    def _open(self, opening: str, closer: str) -> None:
        self.closers.append(closer)
        self._copy(len(opening))

    def _in_double_quotes(self) -> None:
        if self._looking_at("\\"):
            self._copy(2)
        elif self._looking_at('"'):
            self.closers.pop()
            self._copy(1)
        elif self._looking_at("$(("):
            self._open("$((", "))")
        elif self._looking_at("$("):
            self._open("$(", ")")
        elif self._looking_at("`"):
            self._open("`", "`")
        else:
            self._copy(1)

    def _in_code(self) -> None:
        inside = self.closers[-1] if self.closers else ""
        if self._looking_at("\\"):
            self._copy(2)
        elif inside and self._looking_at(inside):
            self.closers.pop()
            self._copy(len(inside))
        elif self._looking_at("'") or self._looking_at("$'"):
            self._copy(self._single_quoted())
        elif self._looking_at('"'):
            self._open('"', '"')
        elif self._looking_at("$(("):
            self._open("$((", "))")
        elif self._looking_at("$(") or self._looking_at("("):
            self._open("$(" if self._looking_at("$(") else "(", ")")
        elif self._looking_at("`"):
            self._open("`", "`")
        elif self._looking_at("#") and (
            not self.position or self.source[self.position - 1] in WORD_SEPARATORS
        ):
            end = self.source.find("\n", self.position)
            self._copy((end if end >= 0 else len(self.source)) - self.position)
        elif self._looking_at("<<<") or self._looking_at("<>"):
            self.out.append("<")
            self.position += 3 if self._looking_at("<<<") else 2
        elif self._looking_at("<<") and inside != "))":
            self._here_document()
        elif self._looking_at("\n") and self.pending:
            self._read_here_documents()
        else:
            self._copy(1)

    def _single_quoted(self) -> int:
        escapes = self._looking_at("$'")
        end = re.compile(r"\$'(?:\\.|[^'\\])*'?" if escapes else r"'[^']*'?", re.S)
        match = end.match(self.source, self.position)
        return len(match[0]) if match else 1

    def _here_document(self) -> None:
        indented = self._looking_at("<<-")
        delimiter = DELIMITER.match(self.source, self.position + (3 if indented else 2))
        if not delimiter:
            self._copy(2)
            return
        word = delimiter[1]
        literal = bool(re.search(r"""[\\'"]""", word))
        self.pending.append((re.sub(r"""\\(.)|['"]""", r"\1", word), literal, indented))
        self.out.append("< " + PLACEHOLDER.format(len(self.here_documents) + len(self.pending) - 1))
        self.position = delimiter.end()

    def _read_here_documents(self) -> None:
        self._copy(1)
        for delimiter, literal, indented in self.pending:
            lines: list[str] = []
            while self.position < len(self.source):
                end = self.source.find("\n", self.position)
                end = len(self.source) if end < 0 else end
                line = self.source[self.position : end]
                self.position = end + 1
                line = line.lstrip("\t") if indented else line
                if line.rstrip("\r") == delimiter:
                    break
                lines.append(line + "\n")
            self.here_documents.append(HereDocument(text="".join(lines), literal=literal))
        self.pending.clear()


def extract_heredocs(command: str) -> tuple[str, list[HereDocument]]:
    """Return the command with placeholders, and the here-documents in the order of these."""
    scanner = _Scanner(command)
    scanner.run()
    scanner.here_documents += [HereDocument(text="", literal=True) for _ in scanner.pending]
    return "".join(scanner.out), scanner.here_documents


def heredoc_index(word: str) -> int | None:
    """Return the index of the here-document if the word is a placeholder."""
    match = PLACEHOLDER_PATTERN.match(word)
    return int(match[1]) if match else None
