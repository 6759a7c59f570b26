"""What the agent reported: the closing text of each turn, and findings on the way.

A closing report is the last text before the user's next message or a compaction. A finding is a
sentence between tool calls that states a cause or a result.
"""

from __future__ import annotations

from holdfast.state.text import (
    Cues,
    TokenizedText,
    clip,
    redact_and_clip,
    split_sentences,
    tokenize,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

# Runs before `current_work`, so that the agent's last text is still that of the turn that ended.
HANDLES = ("prompt", "command", "reply", "compaction")
MAX_REPORTS, MAX_FINDINGS = 30, 60
MIN_REPORT_CHARS, MAX_REPORT_CHARS = 40, 2000
MIN_FINDING_CHARS, MAX_FINDING_CHARS = 25, 300

FINDING = Cues(
    "the issue is", "the problem is", "issue was", "problem was", "root cause", "because",
    "actually", "turns out", "it seems", "the reason", "caused by", "this means", "that means",
    "instead of", "the bug", "the fix", "found the", "i found", "i see the", "i see that",
    "is missing", "was missing", "doesn't exist", "does not exist", "revert", "reverting",
    "no longer", "pre-existing", "unrelated", "already", "works", "still fails", "not installed",
    "won't", "doesn't", "can't", "cannot", "i ran", "i changed", "i had changed", "i added",
    "i fixed", "i removed", "i updated",
)  # fmt: skip
# How sentences begin that announce a step rather than state a result.
ANNOUNCEMENTS = (
    "let me", "now let", "now i", "i'll ", "i will ", "i need to", "next", "wait", "let's",
    "first,", "right,",
)  # fmt: skip


def apply(state: State, event: Event) -> None:
    if event["kind"] == "reply":
        _add_findings(state, event)
    else:
        _close_turn(state)


def _close_turn(state: State) -> None:
    """Keep the last text of the turn that a message of the user or a compaction has ended."""
    last = state["doing"]
    reports = state["reports"]
    if last is None or len(last["text"]) < MIN_REPORT_CHARS:
        return
    if reports and reports[-1]["line"] >= last["line"]:
        return
    text = redact_and_clip(last["text"], MAX_REPORT_CHARS)
    reports.append({"text": text, "line": last["line"]})
    del reports[:-MAX_REPORTS]
    # The report has been kept whole.
    state["findings"] = [one for one in state["findings"] if one["line"] != last["line"]]


def _add_findings(state: State, event: Event) -> None:
    if not FINDING.match(tokenize(event["text"])):
        return
    findings = state["findings"]
    for sentence in split_sentences(event["text"]):
        if len(sentence) < MIN_FINDING_CHARS or sentence.endswith(("?", ":")):
            continue
        is_announcement = sentence.lower().startswith(ANNOUNCEMENTS)
        if is_announcement or not FINDING.match(TokenizedText(sentence)):
            continue
        text = redact_and_clip(clip(sentence.rstrip(":"), MAX_FINDING_CHARS), MAX_FINDING_CHARS)
        if all(known["text"] != text for known in findings[-10:]):
            findings.append({"text": text, "line": event["line"]})
    del findings[:-MAX_FINDINGS]
