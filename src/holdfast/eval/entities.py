"""Extract entities from texts: files, identifiers, links and ids (classes P, I and U).

An entity is a pair of class and text, as defined in docs/why/quality.md. Nothing here is shared
with the code that writes a brief.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

Entity = tuple[str, str]
CLASSES = {"P": "files", "I": "identifiers", "C": "commands", "U": "links and ids"}
MAX_NAME_CHARS = 200

KNOWN_EXTENSIONS = """
    py pyi pyx ipynb js jsx ts tsx mjs cjs mts cts go rs java kt kts scala c h cc cpp cxx hpp hh
    cs fs rb erb php swift m mm ex exs heex eex leex erl hrl clj cljs hs ml lua dart zig nim pl pm
    jl sh bash zsh fish ps1 bat sql html htm css scss sass less vue svelte astro json jsonl json5
    yaml yml toml ini cfg conf md mdx rst txt csv tsv xml svg png jpg jpeg gif webp ico lock mod sum
    proto graphql gql prisma tf tfvars hcl nix gradle properties plist log pdf snap tmpl tpl j2
    patch diff service desktop feature rego cue wasm
"""
EXTENSIONS = frozenset(KNOWN_EXTENSIONS.split())
PART = r"\w@~.+\-/\\\[\]"
PATH = re.compile(
    rf"(?<![{PART}])[{PART}]*[\w\]]\.(?:{'|'.join(sorted(EXTENSIONS))})(?![\w(\-/\\]|\.\w)"
)
WORD = re.compile(r"(?<![^\W_])[A-Za-z_]\w{5,}", re.ASCII)
COMPOUND = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
LINK = re.compile(r"https?://[^\s\"'<>()\[\]{}`\\|]+")
ISSUE = re.compile(r"(?<![\w#&/])#\d{1,5}(?!\w)")
TICKET = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![\w-])")
NOT_TICKETS = re.compile(r"(?:UTF|SHA|ISO|RFC|HTTP|GPT|AES|RSA|MD|CVE|TLS|ES|X|PEP|ED|P)-", re.I)
UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])")
SHA = re.compile(r"(?<![\w#-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])")


def extract_entities(text: str, paths: Paths) -> set[Entity]:
    """Return every file, identifier, link and id in a text."""
    entities = {("P", path) for path in paths.extract(text)}
    # A part of a path is not an identifier.
    words = set(WORD.findall(PATH.sub(" ", text)))
    entities |= {("I", word) for word in words if _is_identifier(word)}
    entities |= {("U", name) for name in _find_ids(text)}
    return entities


@lru_cache(maxsize=200_000)
def _is_identifier(word: str) -> bool:
    # The publisher of the transcript masked it.
    is_masked = word.startswith("REDACTED")
    return not is_masked and len(word) <= MAX_NAME_CHARS and bool(COMPOUND.search(word.strip("_")))


def _find_ids(text: str) -> Iterator[str]:
    for link in LINK.findall(text):
        if len(link) <= MAX_NAME_CHARS:
            yield link.rstrip(".,;:!?*_")
    yield from ISSUE.findall(text)
    yield from (name for name in TICKET.findall(text) if not NOT_TICKETS.match(name))
    yield from UUID.findall(text)
    yield from SHA.findall(text)


class Paths:
    """Gives each file one spelling: relative to the folders that the session worked in."""

    def __init__(self, cwds: Iterable[str]) -> None:
        self.roots: list[str] = []
        for cwd in cwds:
            cwd = cwd.rstrip("/")
            if cwd and not any(cwd == root or cwd.startswith(root + "/") for root in self.roots):
                self.roots.append(cwd)
        self._longest_first = sorted(self.roots, key=len, reverse=True)

    def extract(self, text: str, cwd: str = "") -> set[str]:
        """Return the paths in a text, normalized."""
        paths = {self.normalize(path, cwd) for path in set(PATH.findall(text))}
        paths.discard("")
        return paths

    def normalize(self, path: str, cwd: str = "") -> str:
        """Return a path relative to its root, or "" if it is no path or too long.

        With `cwd`, a path that is relative to that folder is resolved.
        """
        if path.startswith("//") or len(path) > MAX_NAME_CHARS:
            return ""
        for root in self._longest_first:
            if path.startswith(root + "/"):
                return path[len(root) + 1 :]
            if cwd.startswith(root + "/") and path[:1] not in "/~":
                return _join(cwd[len(root) + 1 :], path)
        return path.removeprefix("./")

    def spellings(self, path: str) -> list[str]:
        """Return its spellings: relative, and absolute under each root."""
        if path.startswith(("/", "~")):
            return [path]
        return [path, *(f"{root}/{path}" for root in self.roots)]


def _join(folder: str, path: str) -> str:
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
    """Whether the path has one of the known file extensions."""
    return path.rpartition(".")[2] in EXTENSIONS and len(path) <= MAX_NAME_CHARS
