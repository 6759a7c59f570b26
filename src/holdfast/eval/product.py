"""What Holdfast makes of a transcript, for the measurements that compare it with labels.

These functions run the code that is measured. Modules that score do not import it themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.brief.render import build_brief
from holdfast.eval.probe_report import BriefTexts
from holdfast.eval.sentences import Statement
from holdfast.hosts import claude_code
from holdfast.services.compaction.restore import find_recall_command
from holdfast.services.recall.from_file import load_state
from holdfast.tokens.scales import load_scale


def build_brief_texts(
    path: str, lines: int, summary: str, budgets: Iterable[int], home: str
) -> list[BriefTexts]:
    """Return the briefs that `holdfast brief` prints for the first lines of a transcript.

    `home` is the folder with calibrated token estimates. Raises UnreadableTranscript.
    """
    state = load_state(path, lines)
    scale = load_scale(home, state["usage"]["model"])

    def build(budget: int, known: str | None) -> str:
        return build_brief(
            state,
            tokens=budget,
            characters=claude_code.MAX_BRIEF_UNITS,
            summary=known,
            recall=find_recall_command(),
            scale=scale,
        ).text

    return [
        BriefTexts(budget=budget, alone=build(budget, None), beside_summary=build(budget, summary))
        for budget in budgets
    ]


def find_statements(path: str) -> tuple[list[Statement], list[Statement]]:
    """Return the rules and the user's decisions in the state at the end of a transcript.

    Decisions that come from a tool call, such as an answer to a question, are left out: the user
    typed no sentence. Raises UnreadableTranscript.
    """
    state = load_state(path)
    rules = [Statement(text=rule["text"], line=rule["line"]) for rule in state["rules"]]
    decisions = [
        Statement(text=decision["text"], line=decision["line"])
        for decision in state["decisions"]
        if decision["by"] == "user" and not decision.get("quotes")
    ]
    return rules, decisions
