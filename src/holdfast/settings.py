"""The settings: from the environment, the project's file, the user's file, or the defaults.

The project's file counts only if the user has trusted it (see `trust`).

Every hook process imports this module, so it imports little itself.
"""

from __future__ import annotations

import os
import stat
import sys

from holdfast import fast_json
from holdfast.errors import BadSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

Value = int | bool | str | tuple[str, ...] | tuple[int, ...]

DEFAULTS: dict[str, Value] = {
    "brief_tokens": 3000,
    "role": "",
    "guidance": True,
    "command_sources": (),
    "notes": True,
    "restore_on_clear": "off",
    "zones": (50, 70, 85, 95),
    "save_at_remaining": (30, 15, 5),
    "save_from_tokens": 50_000,
    "save_every_tokens": 10_000,
    "save_on_growth": 3,
    "keep_snapshots": 30,
    "keep_compactions": 20,
    "suggest": True,
    "suggest_at_calls": (50, 100, 150),
    "suggest_every_calls": 50,
}
DESCRIPTIONS = {
    "brief_tokens": "the most tokens a brief may take (100 to 3000)",
    "role": "the role that briefs are written for, from `holdfast roles`; without it the agent's "
    "type decides",
    "guidance": "whether PreCompact tells the host's summarizer what to keep verbatim",
    "command_sources": "folders of the project that hold slash commands, searched first "
    "(in the variable, separated by commas)",
    "notes": "whether notes are kept in projects that have a `.holdfast` folder",
    "restore_on_clear": "what the new conversation gets after `/clear`: `off` for nothing, or "
    "`rules` for the user's rules and what was ruled out, within 500 tokens",
    "zones": "the shares of the window, in percent, from which the gauge is yellow, orange, red "
    "and critical",
    "save_at_remaining": "take a snapshot when this much of the window is left, in percent",
    "save_from_tokens": "from this many tokens on, take snapshots at intervals",
    "save_every_tokens": "the interval between these snapshots, in tokens",
    "save_on_growth": "also take a snapshot after a turn that adds this many times as many "
    "tokens as usual (0: never)",
    "keep_snapshots": "how many of a session's threshold snapshots are kept; those before a "
    "compaction and the most complete one always are",
    "keep_compactions": "how many of a session's last compactions are kept with summary and brief; "
    "older ones are kept without them",
    "suggest": "whether to suggest to the user when it is a good moment to compact",
    "suggest_at_calls": "suggest it after this many tool calls since the last compaction",
    "suggest_every_calls": "and again after this many more tool calls (0: never again)",
}
MAX_FILE_BYTES = 1 << 20
# A project's settings cannot make briefs shorter than this: the user's rules need room.
MIN_PROJECT_BRIEF_TOKENS = 500
MAX_NAME_CHARS = 60
_LIMITS = {
    "brief_tokens": (100, 3000),
    "save_from_tokens": (1000, 10_000_000),
    "save_every_tokens": (1000, 10_000_000),
    "save_on_growth": (0, 1000),
    "keep_snapshots": (1, 100_000),
    "keep_compactions": (1, 100_000),
    "suggest_every_calls": (0, 100_000),
}
_CHOICES = {"restore_on_clear": ("off", "rules")}
_SWITCH_WORDS = {"on": True, "true": True, "1": True, "yes": True} | {
    "off": False,
    "false": False,
    "0": False,
    "no": False,
}


class Settings:
    """The value of every setting; not changed after `load`."""

    __slots__ = (*DEFAULTS, "home", "ignores_project", "problems")
    home: str
    problems: tuple[str, ...]
    ignores_project: bool
    """Whether the project has settings that the user has not trusted, so that they are ignored."""
    brief_tokens: int
    role: str
    guidance: bool
    command_sources: tuple[str, ...]
    notes: bool
    restore_on_clear: str
    zones: tuple[int, ...]
    save_at_remaining: tuple[int, ...]
    save_from_tokens: int
    save_every_tokens: int
    save_on_growth: int
    keep_snapshots: int
    keep_compactions: int
    suggest: bool
    suggest_at_calls: tuple[int, ...]
    suggest_every_calls: int

    def __init__(
        self,
        home: str,
        values: Mapping[str, Value],
        problems: tuple[str, ...],
        *,
        ignores_project: bool = False,
    ) -> None:
        self.home = home
        self.problems = problems
        self.ignores_project = ignores_project
        for name, value in values.items():
            setattr(self, name, value)

    @property
    def database(self) -> str:
        """The path of the store."""
        return os.path.join(self.home, "holdfast.db")

    @property
    def ledger(self) -> str:
        """The path of the ledger."""
        return os.path.join(self.home, "ledger.db")

    @property
    def index(self) -> str:
        """The path of the search index."""
        return os.path.join(self.home, "recall.db")

    @property
    def log(self) -> str:
        """The path of the log file."""
        return os.path.join(self.home, "holdfast.log")


def find_home(environ: Mapping[str, str]) -> str:
    """Return the folder of the store: HOLDFAST_HOME, else one in the platform's state folder."""
    if folder := environ.get("HOLDFAST_HOME"):
        return os.path.abspath(os.path.expanduser(folder))
    user_home = environ.get("HOME") or os.path.expanduser("~")
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(user_home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(user_home, "Library", "Application Support")
    else:
        base = environ.get("XDG_STATE_HOME", "")
        # According to the XDG specification a relative path is invalid and must be ignored.
        base = base if os.path.isabs(base) else os.path.join(user_home, ".local", "state")
    return os.path.join(base, "holdfast")


def load(environ: Mapping[str, str], project: str | None = None) -> Settings:
    """Load every setting. An invalid value is ignored and described in `problems`.

    Does not raise, because a hook must go on. `project` is the folder of the project, if any.
    """
    folder = find_home(environ)
    layers = [_read_file(os.path.join(folder, "settings.json"))]
    project_file, ignores_project = "", False
    if project:
        project_file, layer = _read_file(os.path.join(project, ".holdfast", "settings.json"))
        if layer:
            from holdfast import trust

            ignores_project = not trust.is_trusted(folder, project)
        layers.append((project_file, {} if ignores_project else layer))
    layers.append(_read_environment(environ))
    values: dict[str, Value] = dict(DEFAULTS)
    problems: list[str] = []
    for source, layer in layers:
        for name, raw in layer.items():
            try:
                value = _parse(name, raw)
                if source == project_file and name == "brief_tokens":
                    value = max(value, MIN_PROJECT_BRIEF_TOKENS)
                values[name] = value
            except BadSetting as problem:
                problems.append(f"{source}: {problem.detail}")
    return Settings(folder, values, tuple(problems), ignores_project=ignores_project)


def _read_environment(environ: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    values: dict[str, object] = {}
    for name in DEFAULTS:
        if (raw := environ.get(f"HOLDFAST_{name.upper()}")) is not None:
            values[name] = raw
    return "environment", values


def _read_file(path: str) -> tuple[str, dict[str, object]]:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            # A repository may contain a link to a device, and reading one could never end.
            return path, {"(file)": "not a small regular file"}
        with open(path, encoding="utf-8") as file:
            content = fast_json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return path, {}
    except (OSError, ValueError, RecursionError) as problem:
        return path, {"(file)": str(problem)}
    return path, content if isinstance(content, dict) else {"(file)": "not a JSON object"}


def _parse(name: str, raw: object) -> Value:
    if name not in DEFAULTS:
        raise BadSetting(f"{name}: {raw}" if name == "(file)" else f"unknown setting {name!r}")
    if isinstance(DEFAULTS[name], bool):
        value = raw if isinstance(raw, bool) else _SWITCH_WORDS.get(str(raw).lower())
        if value is None:
            raise BadSetting(f"{name} must be on or off, not {raw!r}")
        return value
    if isinstance(DEFAULTS[name], tuple):
        return _parse_list(name, raw)
    if name == "role":
        return _parse_name(name, raw)
    if name in _CHOICES:
        return _parse_choice(name, raw)
    try:
        number = int(str(raw))
    except ValueError:
        raise BadSetting(f"{name} must be a whole number, not {raw!r}") from None
    low, high = _LIMITS[name]
    if not low <= number <= high:
        raise BadSetting(f"{name} must be between {low} and {high}, not {number}")
    return number


def _parse_name(name: str, raw: object) -> str:
    text = raw if isinstance(raw, str) else "?"
    if len(text) > MAX_NAME_CHARS or text.replace("-", "").replace("_", "x").isalnum() != bool(
        text
    ):
        raise BadSetting(f"{name} must be a name of letters, digits, - and _, not {raw!r}")
    return text


def _parse_choice(name: str, raw: object) -> str:
    word = "off" if raw is False else str(raw).lower()
    if word not in _CHOICES[name]:
        raise BadSetting(f"{name} must be {' or '.join(_CHOICES[name])}, not {raw!r}")
    return word


def _parse_list(name: str, raw: object) -> Value:
    """Parse a list of texts or of whole numbers, or one text with commas between them."""
    parts = raw.split(",") if isinstance(raw, str) else raw
    kind = "whole numbers" if DEFAULTS[name] else "texts"
    if not isinstance(parts, list) or not all(_is_item_of(part, kind) for part in parts):
        raise BadSetting(f"{name} must be a list of {kind}, not {raw!r}")
    if kind == "texts":
        return tuple(part.strip() for part in parts if part.strip())
    return tuple(int(part) for part in parts if str(part).strip())


def _is_item_of(part: object, kind: str) -> bool:
    if isinstance(part, str):
        text = part.strip()
        return kind == "texts" or not text or (text.isdecimal() and len(text) < 10)
    return kind != "texts" and isinstance(part, int) and not isinstance(part, bool) and part >= 0
