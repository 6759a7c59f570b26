"""Secrets of every known format with new values, disguised, through real hooks and commands."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from holdfast.redaction import redact
from holdfast.redaction.values import is_placeholder, is_wordlike
from tests.process.hook_session import HookSession
from tests.torture.report import Run
from tests.unit.redaction.shapes import HERE, fill
from tests.unit.redaction.test_formats import find_leaks
from tests.unit.transcript_lines import bash, reply, user

# How a tool may print a text that contains a secret.
DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in colour": lambda text: f"\x1b[32m{text}\x1b[0m",
    "between words": lambda text: f"It printed this.\n{text}\nThen it ended.",
    "by grep -n": lambda text: _add_prefixes(text, "{number}:"),
    "by grep -rn": lambda text: _add_prefixes(text, "config/app.env:{number}:"),
    "by cat -n": lambda text: _add_prefixes(text, "{number:>6}\t"),
    "by an agent's file viewer": lambda text: _add_prefixes(text, "{number:>6}→"),
    "with times": lambda text: _add_prefixes(text, "2026-11-18T15:30:{number}Z "),
}
SECRETS_PER_SESSION = 40
COMMANDS = (
    ["recall", "printed", "--all-projects"], ["state", "--json", "--session", "s1"],
    ["timeline", "--session", "s1"], ["brief", "--session", "s1"],
)  # fmt: skip


def _add_prefixes(text: str, prefix: str) -> str:
    lines = enumerate(text.split("\n"), 12)
    return "\n".join(prefix.format(number=number) + line for number, line in lines)


def run(run: Run, folder: Path) -> None:
    texts, sessions = run.split(2)
    redact_texts(texts)
    search_sessions(sessions, folder)


def redact_texts(run: Run) -> None:
    """Redact every format with new values, until the time is over."""
    templates = _load_templates()
    while run.has_time():
        kind, template = run.random.choice(templates)
        name = _choose_disguise(run.random, kind)
        text, secrets = fill(template, run.random)
        if any(is_wordlike(secret) or is_placeholder(secret) for secret in secrets):
            continue  # By chance it looks like words or a mask.
        leaks = find_leaks(redact(DISGUISES[name](text)), secrets)
        run.row("secrets in texts", "texts").check(not leaks, f"{name}: {template}")


def search_sessions(run: Run, folder: Path) -> None:
    """Let hooks and commands work on transcripts with secrets; search all files and outputs."""
    templates = _load_templates()
    number = 0
    while run.has_time():
        number += 1
        session = HookSession(root=folder / str(number))
        made = [
            (template, *fill(template, run.random))
            for _, template in run.random.sample(templates, SECRETS_PER_SESSION)
        ]
        session.write(_make_transcript(run.random, [text for _, text, _ in made]))
        outputs = [
            session.run_hook(event, **fields).stdout
            for event, fields in (
                ("UserPromptSubmit", {}), ("Stop", {}), ("PreCompact", {}), ("SubagentStop", {}),
                ("SessionStart", {"source": "compact"}),
            )
        ]  # fmt: skip
        outputs += [_run_command(session, words) for words in COMMANDS]
        stored = "".join(
            file.read_bytes().decode("utf-8", "replace")
            for file in sorted(session.home.rglob("*"))
            if file.is_file()
        )
        everything = "\n".join([*outputs, stored])
        for template, _, secrets in made:
            if any(is_wordlike(secret) or is_placeholder(secret) for secret in secrets):
                continue
            leaks = find_leaks(everything, secrets)
            run.row("secrets in sessions", "secrets").check(not leaks, template)


def _make_transcript(source: random.Random, texts: list[str]) -> list[dict[str, object]]:
    lines = [user("Print all of it, and never change the port.")]
    for text in texts:
        place = source.randrange(3)
        if place == 0:
            lines.append(user(f"Here it is:\n{text}"))
        elif place == 1:
            lines.append(reply(f"I found out that it printed this:\n{text}"))
        else:
            lines += bash("make show", f"printed\n{text}", ok=source.random() < 0.5)
    return [*lines, user("Go on with the next one.")]


def _run_command(session: HookSession, words: list[str]) -> str:
    process = subprocess.run(
        [sys.executable, "-m", "holdfast", *words], env=session.environment, cwd=session.root,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return process.stdout + process.stderr


def _load_templates() -> list[tuple[str, str]]:
    """The kind and the template of each row of the table."""
    lines = (HERE / "formats.tsv").read_text("utf-8").splitlines()
    rows = [line.partition("\t") for line in lines if not line.startswith("#")]
    return [(kind, template) for kind, _, template in rows]


def _choose_disguise(source: random.Random, kind: str) -> str:
    """A way to print a text of this kind; the table has some disguised ones itself."""
    names = [*DISGUISES]
    return source.choice(names[:1] if kind == "disguise" else names)
