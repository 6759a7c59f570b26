"""The names that stand in a text."""

from __future__ import annotations

import re

from holdfast.state.wording import without_colours

# A run of signs that can be one name: no quotes, brackets or commas.
# Some frameworks have folders like `[slug]`, `(auth)` and `$id`, and files.
RUN = re.compile(
    r"(?<![*\w@~./#$])[A-Za-z0-9_@~.#/$](?:[\w@~./\\:#+\-?=&%]"
    r"|(?<=/)(?:[\[(][\w.\-]{1,40}[\])](?=[/.])|\$(?=\w))){4,199}|#\d{2,5}\b"
)
IDENTIFIER = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]{5,79}")
# camelCase, HTTPServer, snake_case, CONSTANT_NAME.
JOINED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
LINK = re.compile(r"https?://[^\s]{4,190}")
TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SHA = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
# `a.py:12`, `a.py:12:5`, `a.py.` at the end of a sentence.
BEHIND = re.compile(r"(?::\d+)*[.:,;]*$")
# `HEAD:src/a.py`, `app.worker:worker.py`; what has a drive before it is one name.
BEFORE = re.compile(r"^(?![A-Za-z]:[\\/])[^:]+:(?=[^:]+$)")
# A text that stands in another as a string: its line ends and tabs are spelled out, no folder is
# meant, and what comes right behind one cannot be found there by its name.
SPELLED_OUT, DRIVE = re.compile(r"\\n(?!\w)"), re.compile(r"\b[A-Za-z]:\\")
BEHIND_ONE = re.compile(r"(?:\\[nrt])+[\w./\-]*")
# What a diff puts before the names of files.
SIDES = re.compile(r"^((?:---|\+\+\+) )[ab]/|^(diff --git )a/(\S+) b/", re.MULTILINE)
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
# Calls and products that look like files.
NO_FILES = frozenset(
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
MOST_KNOWN = 50_000
LONGEST_NUMBER = len("#12345")
# Suffixes that only these files have; otherwise they are calls, as in `Enum.sum`.
OF_GO = {"sum": ("go.sum", "go.work.sum"), "mod": ("go.mod",)}
# What somebody masked before a log was published.
MASKED = "REDACTED"
# What hosts say of themselves in results and reminders is nobody's code.
OF_HOSTS = frozenset(
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

FILE, IDENT, LINKED, COMMAND = "file", "identifier", "link", "command"
Name = tuple[str, str]


def names(text: str) -> set[Name]:
    """Every file, identifier, link and id in a text, each with its kind."""
    found: set[Name] = set()
    for run in set(RUN.findall(_plain(text))):
        known = _known.get(run)
        if known is None:
            if len(_known) > MOST_KNOWN:
                _known.clear()
            known = _known[run] = tuple(_of_run(run))
        found.update(known)
    return found


def _plain(text: str) -> str:
    """As the names in it are meant."""
    text = without_colours(text)
    if "\\n" in text and SPELLED_OUT.search(text) and not DRIVE.search(text):
        text = BEHIND_ONE.sub(" ", text)
    if "+++ " in text or "diff --git " in text:
        text = SIDES.sub(r"\1\2\3 ", text)
    return text


# The same runs of signs come again and again.
_known: dict[str, tuple[Name, ...]] = {}


def _of_run(run: str) -> list[Name]:
    if run.startswith(("http://", "https://")):
        return [(LINKED, run.rstrip(".,;:!?*_\\"))]
    if ".../" in run:
        # Git shortens long names so: nobody can open that.
        return []
    bare = BEHIND.sub("", run)
    if bare in NO_FILES:
        return [(IDENT, bare)]
    if _is_file(bare):
        # People point a host at a file with `@`.
        return [(FILE, BEFORE.sub("", bare).removeprefix("@"))]
    if run[0] == "#" and run[1:].isdigit():
        # Six digits are a colour.
        return [(LINKED, run)] if len(run) <= LONGEST_NUMBER else []
    if "-" in bare and (TICKET.fullmatch(bare) or UUID.fullmatch(bare)):
        return [(LINKED, bare)]
    if SHA.fullmatch(bare):
        return [(LINKED, bare)]
    return [
        (IDENT, word)
        for word in IDENTIFIER.findall(run)
        if JOINED.search(word.strip("_")) and word not in OF_HOSTS and not word.startswith(MASKED)
    ]


def _is_file(run: str) -> bool:
    suffix = SUFFIX.search(run)
    if suffix is None or "=" in run or "://" in run:
        return False
    # Below a folder that only a shell knows, or as an expression spells it, it is no file's name.
    if run.startswith(("//", "$")) or "\\." in run:
        return False
    if suffix[1] in OF_GO and run.rpartition("/")[2] not in OF_GO[suffix[1]]:
        return False
    return suffix[1] in SUFFIXES and run[: suffix.start()].strip("./") != ""
