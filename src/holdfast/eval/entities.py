"""What a text names: files, identifiers, links and ids (entity classes P, I and U).

An entity is a pair of class and text. Written from the definitions in docs/why/quality.md;
nothing here is shared with the code that writes a brief.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

Entity = tuple[str, str]
CLASSES = {"P": "files", "I": "identifiers", "C": "commands", "U": "links and ids"}
LONGEST = 200

KINDS_OF_FILES = """
    py pyi pyx ipynb js jsx ts tsx mjs cjs mts cts go rs java kt kts scala c h cc cpp cxx hpp hh
    cs fs rb erb php swift m mm ex exs heex eex leex erl hrl clj cljs hs ml lua dart zig nim pl pm
    jl sh bash zsh fish ps1 bat sql html htm css scss sass less vue svelte astro json jsonl json5
    yaml yml toml ini cfg conf md mdx rst txt csv tsv xml svg png jpg jpeg gif webp ico lock mod sum
    proto graphql gql prisma tf tfvars hcl nix gradle properties plist log pdf snap tmpl tpl j2
    patch diff service desktop feature rego cue wasm
"""
EXTENSIONS = frozenset(KINDS_OF_FILES.split())
PART = r"\w@~.+\-/\\\[\]"
PATH = re.compile(
    rf"(?<![{PART}])[{PART}]*[\w\]]\.(?:{'|'.join(sorted(EXTENSIONS))})(?![\w(\-/\\]|\.\w)"
)
WORD = re.compile(r"(?<![^\W_])[A-Za-z_]\w{5,}", re.ASCII)
CODE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
LINK = re.compile(r"https?://[^\s\"'<>()\[\]{}`\\|]+")
NUMBERED = re.compile(r"(?<![\w#&/])#\d{1,5}(?!\w)")
TICKET = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![\w-])")
NOT_TICKETS = re.compile(r"(?:UTF|SHA|ISO|RFC|HTTP|GPT|AES|RSA|MD|CVE|TLS|ES|X|PEP|ED|P)-", re.I)
UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])")
SHA = re.compile(r"(?<![\w#-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])")


def entities(text: str, paths: Paths) -> set[Entity]:
    """Every P, I and U that this text names."""
    found = {("P", path) for path in paths.of_text(text)}
    # A part of a path is no identifier of its own.
    words = set(WORD.findall(PATH.sub(" ", text)))
    found |= {("I", word) for word in words if _is_code(word)}
    found |= {("U", name) for name in _ids(text)}
    return found


@lru_cache(maxsize=200_000)
def _is_code(word: str) -> bool:
    masked = word.startswith("REDACTED")  # by who published the transcript
    return not masked and len(word) <= LONGEST and bool(CODE.search(word.strip("_")))


def _ids(text: str) -> Iterator[str]:
    for link in LINK.findall(text):
        if len(link) <= LONGEST:
            yield link.rstrip(".,;:!?*_")
    yield from NUMBERED.findall(text)
    yield from (name for name in TICKET.findall(text) if not NOT_TICKETS.match(name))
    yield from UUID.findall(text)
    yield from SHA.findall(text)


class Paths:
    """One spelling for each file: relative to the folders that the session worked in."""

    def __init__(self, cwds: Iterable[str]) -> None:
        self.roots: list[str] = []
        for cwd in cwds:
            cwd = cwd.rstrip("/")
            if cwd and not any(cwd == root or cwd.startswith(root + "/") for root in self.roots):
                self.roots.append(cwd)
        self._longest_first = sorted(self.roots, key=len, reverse=True)

    def of_text(self, text: str, cwd: str = "") -> set[str]:
        found = {self.normal(path, cwd) for path in set(PATH.findall(text))}
        found.discard("")
        return found

    def normal(self, path: str, cwd: str = "") -> str:
        """Relative to its root; one given relative to a folder below the root is resolved."""
        if path.startswith("//") or len(path) > LONGEST:
            return ""
        for root in self._longest_first:
            if path.startswith(root + "/"):
                return path[len(root) + 1 :]
            if cwd.startswith(root + "/") and path[:1] not in "/~":
                return _joined(cwd[len(root) + 1 :], path)
        return path.removeprefix("./")

    def spellings(self, path: str) -> list[str]:
        """As it may stand in a text: relative, or absolute under any root."""
        if path.startswith(("/", "~")):
            return [path]
        return [path, *(f"{root}/{path}" for root in self.roots)]


def _joined(folder: str, path: str) -> str:
    parts = folder.split("/")
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return path
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def is_file(path: str) -> bool:
    """Whether a path that a file tool was given is of a kind that counts."""
    return path.rpartition(".")[2] in EXTENSIONS and len(path) <= LONGEST
