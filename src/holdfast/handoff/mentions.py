"""Extract file names, identifiers, links, ids and commands from text."""

from __future__ import annotations

import re

from holdfast.redaction import strip_terminal_codes
from holdfast.state import shell_parser

# Characters that can be one name: no quotes, brackets or commas. Some frameworks have folders and
# files such as `[slug]`, `(auth)` and `$id`.
CANDIDATE = re.compile(
    r"(?<![*\w@~./#$])[A-Za-z0-9_@~.#/$](?:[\w@~./\\:#+\-?=&%]"
    r"|(?<=/)(?:[\[(][\w.\-]{1,40}[\])](?=[/.])|\$(?=\w))){4,199}|#\d{2,5}\b"
)
IDENTIFIER = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]{5,79}")
# camelCase, HTTPServer, snake_case, CONSTANT_NAME.
COMPOUND = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SHA = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
# `a.py:12`, `a.py:12:5`, `a.py.` at the end of a sentence.
TRAILER = re.compile(r"(?::\d+)*[.:,;]*$")
# `HEAD:src/a.py`, `app.worker:worker.py`; a path with a drive letter is one name.
PREFIX = re.compile(r"^(?![A-Za-z]:[\\/])[^:]+:(?=[^:]+$)")
# In a text that is quoted as a string, `\n` is a line end and not a folder. A name right after
# one cannot be found again by searching for it.
ESCAPED_NEWLINE, DRIVE = re.compile(r"\\n(?!\w)"), re.compile(r"\b[A-Za-z]:\\")
AFTER_ESCAPE = re.compile(r"(?:\\[nrt])+[\w./\-]*")
# The `a/` and `b/` that a diff puts before file names.
DIFF_SIDES = re.compile(r"^((?:---|\+\+\+) )[ab]/|^(diff --git )a/(\S+) b/", re.MULTILINE)
SUFFIX = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})$")
KNOWN_SUFFIXES = """
    astro bash bat bib c cc cfg cjs clj conf cpp cs css csv cts cue cxx dart desktop diff eex
    env erb erl ex exs feature fish fs gif go gql gradle graphql h hbs hcl heex hh hpp hrl hs
    htm html ico ini ipynb j2 java jl jpeg jpg js json json5 jsonc jsonl jsx kt kts leex less
    lock log lua m md mdx mjs ml mm mod mts nim nix patch pdf php pl plist pm png prisma
    properties proto ps1 py pyi pyx rb rego rs rst sass scala scss service sh snap sql sum
    svelte svg swift tex tf tfvars tmpl toml tpl ts tsv tsx txt vue wasm webp xml yaml yml zig
    zsh
"""
SUFFIXES = frozenset(KNOWN_SUFFIXES.split())
# Calls and products that look like file names.
NOT_FILES = frozenset(
    [
        "console.log",
        "Math.log",
        "process.env",
        "import.meta.env",
        "Alpine.js",
        "Chart.js",
        "D3.js",
        "Ember.js",
        "Express.js",
        "Nest.js",
        "Next.js",
        "Node.js",
        "Nuxt.js",
        "React.js",
        "Three.js",
        "Vue.js",
    ]
)
MAX_CACHED_CANDIDATES = 50_000
# Longer ones are colours: `#12345f`.
MAX_ISSUE_CHARS = len("#12345")
# Suffixes that only these files have; elsewhere they are calls, such as `Enum.sum`.
FILES_BY_SUFFIX = {"sum": ("go.sum", "go.work.sum"), "mod": ("go.mod",)}
# The beginning of a placeholder that the publisher of a log put in the place of a secret.
REDACTED_PREFIX = "REDACTED"
# Identifiers that hosts use in results and reminders, which do not belong to any project.
HOST_IDENTIFIERS = frozenset(
    [
        "agentId",
        "tool_uses",
        "duration_ms",
        "subagent_tokens",
        "total_tokens",
        "SendMessage",
        "TaskCreate",
        "TaskUpdate",
        "TaskList",
        "TaskGet",
        "TaskOutput",
        "TaskStop",
        "ToolSearch",
        "AskUserQuestion",
        "ExitPlanMode",
        "EnterPlanMode",
        "BashOutput",
        "KillShell",
        "run_in_background",
        "yield_time_ms",
        "write_stdin",
        "max_output_tokens",
    ]
)

# Commands that only inspect or connect others: not worth repeating in a brief.
HELPER_COMMAND_NAMES = """
    . : [ [[ alias awk basename break cat cd clear column continue cut date dirname echo env
    eval exit export false head kill less local ls ll mkdir more popd printf pushd pwd read
    readlink realpath return seq set shift sleep sort source tac tail tee test touch tr true
    type uniq unset wait wc which whoami xargs yes
"""
HELPER_COMMANDS = frozenset(HELPER_COMMAND_NAMES.split())
PIPES = ("|", "|&")
MIN_COMMAND_CHARS, MAX_COMMAND_CHARS = 6, 300

FILE_KIND, IDENTIFIER_KIND, LINK_KIND, COMMAND_KIND = "file", "identifier", "link", "command"
Mention = tuple[str, str]

# The same candidates occur again and again.
_mentions_by_candidate: dict[str, tuple[Mention, ...]] = {}


def extract_mentions(text: str) -> set[Mention]:
    """Return every file, identifier, link and id in a text as (kind, name)."""
    mentions: set[Mention] = set()
    for candidate in set(CANDIDATE.findall(_clean(text))):
        cached = _mentions_by_candidate.get(candidate)
        if cached is None:
            if len(_mentions_by_candidate) > MAX_CACHED_CANDIDATES:
                _mentions_by_candidate.clear()
            cached = _mentions_by_candidate[candidate] = tuple(_classify(candidate))
        mentions.update(cached)
    return mentions


def _clean(text: str) -> str:
    """Remove colours, escaped line ends and the `a/` and `b/` of diffs."""
    text = strip_terminal_codes(text)
    if "\\n" in text and ESCAPED_NEWLINE.search(text) and not DRIVE.search(text):
        text = AFTER_ESCAPE.sub(" ", text)
    if "+++ " in text or "diff --git " in text:
        text = DIFF_SIDES.sub(r"\1\2\3 ", text)
    return text


def _classify(candidate: str) -> list[Mention]:
    if candidate.startswith(("http://", "https://")):
        return [(LINK_KIND, candidate.rstrip(".,;:!?*_\\"))]
    if ".../" in candidate:
        # Git abbreviates long names like this: no file has that name.
        return []
    bare = TRAILER.sub("", candidate)
    if bare in NOT_FILES:
        return [(IDENTIFIER_KIND, bare)]
    if _is_file(bare):
        # In a prompt, `@` before a file name attaches the file.
        return [(FILE_KIND, PREFIX.sub("", bare).removeprefix("@"))]
    if candidate[0] == "#" and candidate[1:].isdigit():
        return [(LINK_KIND, candidate)] if len(candidate) <= MAX_ISSUE_CHARS else []
    if "-" in bare and (TICKET.fullmatch(bare) or UUID.fullmatch(bare)):
        return [(LINK_KIND, bare)]
    if SHA.fullmatch(bare):
        return [(LINK_KIND, bare)]
    return [
        (IDENTIFIER_KIND, word)
        for word in IDENTIFIER.findall(candidate)
        if COMPOUND.search(word.strip("_"))
        and word not in HOST_IDENTIFIERS
        and not word.startswith(REDACTED_PREFIX)
    ]


def _is_file(name: str) -> bool:
    suffix = SUFFIX.search(name)
    if suffix is None or "=" in name or "://" in name:
        return False
    # A path below a shell variable, or inside a regular expression, names no file.
    if name.startswith(("//", "$")) or "\\." in name:
        return False
    if suffix[1] in FILES_BY_SUFFIX and name.rpartition("/")[2] not in FILES_BY_SUFFIX[suffix[1]]:
        return False
    return suffix[1] in SUFFIXES and name[: suffix.start()].strip("./") != ""


def extract_commands(script: str) -> list[str]:
    """Return the commands of a shell script, each as it could be run again.

    Changes of folder, redirections, helper commands and here-documents are left out.
    """
    commands = []
    for command in shell_parser.parse_commands(script):
        first = command.words[0] if command.words else None
        if first is None or first.rpartition("/")[2] in HELPER_COMMANDS:
            continue
        if first == "sed" and command.operator in PIPES:
            # It only filters another command's output.
            continue
        text = " ".join(" ".join(command.raw_words).split())
        if MIN_COMMAND_CHARS <= len(text) <= MAX_COMMAND_CHARS and not command.heredoc:
            commands.append(text)
    return commands
