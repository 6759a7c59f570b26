"""A baseline that fills a fixed template, as older compaction tools do.

It is the developer's template of the DCM system: task, recent changes, code context, issues, tools,
next action. If it is too long, its end is cut off, with a notice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from holdfast.eval.baselines.context import CutContext
from holdfast.eval.budget import TokenBudget
from holdfast.eval.todos import read_todos

EDITORS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
NOTICE = "\n---\n*[Brief truncated due to token limit]*"
MAX_FILES = 20
MAX_ISSUES, MAX_ISSUE_CHARS = 3, 160


def template(context: CutContext, budget: TokenBudget) -> str:
    if "template" not in context.rankings:
        context.rankings["template"] = _lines(context)
    lines = context.rankings["template"]
    text = "\n".join(lines)
    if budget.fits(text):
        return text
    return budget.fill(lines, lambda kept: "\n".join(kept) + NOTICE)


def _lines(context: CutContext) -> list[str]:
    pieces, plan = context.pieces, read_todos(context.pieces)
    prompts = [piece.text for piece in pieces if piece.kind == "prompt"]
    calls = [piece for piece in pieces if piece.kind == "call"]
    edits = [call for call in calls if call.tool in EDITORS]
    changed = {
        str(call.arguments.get("file_path") or call.arguments.get("notebook_path")): call
        for call in edits
    }
    failed = [piece.text for piece in pieces if piece.kind == "result" and not piece.ok]
    tools = Counter(call.tool for call in calls[-100:])
    done = f"{len(plan.done)} of {len(plan.done) + len(plan.open)} done"
    return [
        "# Restored Context - Development View",
        "## Current Task",
        (prompts[-1] if prompts else "")[:500],
        f"Status: in progress ({done})",
        "## Recent Changes",
        *(
            f"- {path} ({call.tool}, L{call.line})"
            for path, call in [*changed.items()][-MAX_FILES:]
        ),
        "## Code Context",
        f"Language: {_language(changed)}",
        "## Active Issues",
        *(f"- {' '.join(text.split())[:MAX_ISSUE_CHARS]}" for text in failed[-MAX_ISSUES:]),
        "## Tools Recently Used",
        *(f"- {name} ({count} times)" for name, count in tools.most_common(8)),
        "## Next Action",
        *plan.open[:3],
    ]


def _language(paths: Iterable[str]) -> str:
    endings = Counter(path.rpartition(".")[2] for path in paths)
    return endings.most_common(1)[0][0] if endings else "unknown"
