"""A fixed template filled from a snapshot, as compaction tools of the first generation do.

The developer's template of the DCM system: task, recent changes, code context, issues, tools,
next action; cut from the end when it is too long, with a notice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from holdfast.eval.baselines.material import Material
from holdfast.eval.budget import Budget
from holdfast.eval.todos import todos

EDITORS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
NOTICE = "\n---\n*[Brief truncated due to token limit]*"
MOST_FILES = 20
MOST_ISSUES, LONGEST_ISSUE = 3, 160


def template(material: Material, budget: Budget) -> str:
    if "template" not in material.rankings:
        material.rankings["template"] = _lines(material)
    lines = material.rankings["template"]
    whole = "\n".join(lines)
    if budget.fits(whole):
        return whole
    return budget.most(lines, lambda kept: "\n".join(kept) + NOTICE)


def _lines(material: Material) -> list[str]:
    pieces, plan = material.pieces, todos(material.pieces)
    prompts = [piece.text for piece in pieces if piece.kind == "prompt"]
    calls = [piece for piece in pieces if piece.kind == "call"]
    edits = [call for call in calls if call.tool in EDITORS]
    changed = {
        str(call.given.get("file_path") or call.given.get("notebook_path")): call for call in edits
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
            for path, call in [*changed.items()][-MOST_FILES:]
        ),
        "## Code Context",
        f"Language: {_language(changed)}",
        "## Active Issues",
        *(f"- {' '.join(text.split())[:LONGEST_ISSUE]}" for text in failed[-MOST_ISSUES:]),
        "## Tools Recently Used",
        *(f"- {name} ({count} times)" for name, count in tools.most_common(8)),
        "## Next Action",
        *plan.open[:3],
    ]


def _language(paths: Iterable[str]) -> str:
    endings = Counter(path.rpartition(".")[2] for path in paths)
    return endings.most_common(1)[0][0] if endings else "unknown"
