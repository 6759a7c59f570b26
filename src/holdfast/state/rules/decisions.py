"""What was decided and what was ruled out: by the user, by the agent, or by a question asked."""

from __future__ import annotations

from holdfast.foreign_json import Unread, told
from holdfast.state import shell
from holdfast.state.rules.answers import answers
from holdfast.state.wording import Cues, Heard, clip, heard, keep, one_line, plain, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.state.model import Decision, State
    from holdfast.transcript.model import Event

HANDLES = ("prompt", "reply", "tool")
MOST = 80
SHORTEST, LONGEST, LONGEST_REASON, LONGEST_TARGET = 15, 400, 200, 200
REFUSED_BY_USER = "the user refused "

RULED_OUT = (
    "ruled out", "ruling out", "won't work", "will not work", "doesn't work because",
    "does not work because", "dead end", "not viable", "backed out", "gave up on",
    "not an option", "deadlocks", "decided against",
)  # fmt: skip
# Agents speak of what their programs reject and revert, and of what they tried, all the time.
REJECTED_BY_AGENT = Cues(*RULED_OUT, "i reverted", "i abandoned", "i rejected")
REJECTED_BY_USER = Cues(*RULED_OUT, "rejected", "abandoned", "abandoning", "reverted", "tried")
CHOSEN_BY_USER = Cues(
    "let's use", "lets use", "let's go with", "lets go with", "go with", "we'll use",
    "we will use", "i decided", "we decided", "decision", "i prefer", "agreed", "let's keep",
)  # fmt: skip
CHOSEN_BY_AGENT = Cues(
    "i'll go with", "going with", "decided to", "we'll use", "settled on",
    "opted for", "i chose", "i've chosen", "root cause is", "root cause was", "the fix is to",
)  # fmt: skip
# How somebody begins who writes one down.
DECLARED = ("Decision:", "Decided:", "Decision**:", "Decided**:")
OVER = (" rather than ", " instead of ", ", not ")
# One thing is also chosen `over` another, but tests are gone over.
WEIGHED = Cues(
    "use", "using", "prefer", "chose", "chosen", "choose", "picked", "pick", "settled on",
    "opted for", "go with", "going with",
)  # fmt: skip
WHY = (" because ", " since ", " so that ", " due to ", " as it ", " — ")
REFUSED = "The user doesn't want to proceed with this tool use"
PLANS = ("ExitPlanMode", "exit_plan_mode")
# Who answers so has decided nothing.
LEFT_TO_AGENT = ("you decide", "your call", "up to you")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "tool":
        _asked(state, event)
        return
    by: Literal["user", "agent"] = "user" if event["kind"] == "prompt" else "agent"
    chosen = CHOSEN_BY_USER if by == "user" else CHOSEN_BY_AGENT
    rejected = REJECTED_BY_USER if by == "user" else REJECTED_BY_AGENT
    whole = heard(event["text"])
    contrast = by == "user" and {"use", "not"}.issubset(whole.in_order)
    declared = any(word in event["text"] for word in DECLARED)
    if not (contrast or declared or chosen.among(whole) or rejected.among(whole)):
        return
    for sentence in sentences(event["text"]):
        if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith("?"):
            continue
        said = Heard(sentence)
        if rejected.among(said):
            _add(state, sentence, "rejected", by, event["line"])
        elif (
            chosen.among(said)
            or (contrast and _contrasts(said.padded))
            or (declared and sentence.lstrip("*_-# ").startswith(DECLARED))
        ):
            _add(state, sentence, "chosen", by, event["line"])


def _contrasts(padded: str) -> bool:
    """Use this, not that."""
    return " not " in padded.partition(" use ")[2]


def _asked(state: State, event: Event) -> None:
    """Questions that the agent put to the user, plans, and calls that the user refused."""
    name, line = event["name"], event["line"]
    if not event["ok"]:
        if event.get("text", "").startswith(REFUSED):
            _refused(state, event)
        return
    _done_after_all(state, event)
    if name == "AskUserQuestion":
        for question, said, others in answers(event):
            if said.lower().startswith(LEFT_TO_AGENT):
                continue
            _add(
                state, f"{question} — {said}", "chosen", "user", line,
                over=", ".join(others), quotes=[question, said], call=event.get("call_line", 0),
            )  # fmt: skip
    elif name in PLANS:
        plan = _approved(event)
        if plan:
            words = one_line(plan, LONGEST - 20)
            _add(
                state, f"plan approved: {words}", "chosen", "user", line,
                label="plan approved", quotes=[words], call=event.get("call_line", 0),
            )  # fmt: skip


def _approved(event: Event) -> str:
    """The plan itself, or where it is."""
    if not isinstance(event.get("detail"), dict | Unread):
        return ""
    detail = told(event.get("detail"))
    given = plain(detail.get("plan")) or plain(event["input"].get("plan"))
    return given or plain(detail.get("filePath"))


def _refused(state: State, event: Event) -> None:
    given = event["input"]
    target = next(
        (plain(given[key]) for key in ("file_path", "command", "plan", "url") if given.get(key)), ""
    )
    why = event.get("text", "").partition("the user said:\n")[2].partition("\n\nNote: ")[0]
    kind = "plan" if event["name"] in PLANS else event["name"]
    label, target = f"{REFUSED_BY_USER}{kind}", one_line(target, LONGEST_TARGET)
    if event["name"] not in ("", "AskUserQuestion"):
        _add(
            state, f"{label}: {target}".rstrip(": "), "rejected", "user", event["line"],
            why=one_line(why, LONGEST_REASON), label=label, quotes=[target] if target else [],
            call=event.get("call_line", 0),
        )  # fmt: skip


def _done_after_all(state: State, event: Event) -> None:
    """What was refused once and done later was not ruled out."""
    if not any(decision["text"].startswith(REFUSED_BY_USER) for decision in state["decisions"]):
        return
    path, script = (plain(event["input"].get(key)) for key in ("file_path", "command"))
    heads = _heads(script)
    state["decisions"] = [
        decision
        for decision in state["decisions"]
        if not decision["text"].startswith(REFUSED_BY_USER)
        or not _is_that(decision, event["name"], path, heads)
    ]


def _is_that(decision: Decision, name: str, path: str, heads: set[str]) -> bool:
    kind = decision["text"].removeprefix(REFUSED_BY_USER).partition(":")[0]
    for quote in decision.get("quotes", ()):
        if kind == "Bash":
            return name == "Bash" and not heads.isdisjoint(_heads(quote))
        return bool(path) and name != "Read" and quote == one_line(path, LONGEST_TARGET)
    return False


def _heads(script: str) -> set[str]:
    """What commands do, without what they do it with, and where: `gh pr comment`, `git push`."""
    found = set()
    for command in shell.commands(script):
        words = [word for word in command.words[:3] if word and not word.startswith("-")]
        if words[:1] != ["cd"]:
            found.add(" ".join(words[:2] if words[:1] == ["git"] else words))
    return found


def _add(
    state: State,
    text: str,
    kind: Literal["chosen", "rejected"],
    by: Literal["user", "agent"],
    line: int,
    *,
    over: str = "",
    why: str = "",
    label: str = "",
    quotes: list[str] | None = None,
    call: int = 0,
) -> None:
    text = keep(text, LONGEST)
    decisions = state["decisions"]
    if any(decision["text"] == text for decision in decisions):
        return
    # Of what came of a call only those who said so know why.
    told = text if quotes is None else ""
    made: Decision = {
        "text": text,
        "kind": kind,
        "by": by,
        "line": line,
        "over": keep(over or _after(told, _over(told)), LONGEST_REASON),
        "why": keep(why or _after(told, WHY), LONGEST_REASON),
    }
    if quotes is not None:
        made["label"], made["told"] = label, call or line
        made["quotes"] = [keep(quote, LONGEST) for quote in quotes]
    decisions.append(made)
    if len(decisions) > MOST:
        # The user's own decisions outlive the agent's remarks.
        agents = [i for i, decision in enumerate(decisions) if decision["by"] == "agent"]
        del decisions[agents[0] if agents else 0]


def _over(text: str) -> tuple[str, ...]:
    weighed = " over " in text and WEIGHED.among(Heard(text))
    return (*OVER, " over ") if weighed else OVER


def _after(text: str, cues: tuple[str, ...]) -> str:
    """What a sentence says behind the first of these words, up to the end of that thought."""
    starts = [(at, cue) for cue in cues if (at := text.find(cue)) > 0]
    if not starts:
        return ""
    at, cue = min(starts)
    rest = text[at + len(cue) :]
    ends = [end for sign in (", ", "; ", ". ", *WHY, *OVER) if (end := rest.find(sign)) > 0]
    return clip(rest[: min(ends, default=len(rest))].strip().rstrip("."), LONGEST_REASON)
