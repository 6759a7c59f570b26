"""The user's standing rules, verbatim; a later correction marks what it supersedes."""

from __future__ import annotations

from holdfast.state.rules.question_answers import find_typed_answers
from holdfast.state.rules.sentence_classifier import classify_sentence, is_prohibition
from holdfast.state.text import (
    Cues,
    TokenizedText,
    clip,
    padded_words,
    redact_and_clip,
    split_sentences,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("prompt", "command", "tool")
TOOLS = ("AskUserQuestion",)
MAX_RULES = 200
MIN_RULE_CHARS, MAX_RULE_CHARS = 8, 400
# The prefix of a prompt that contains the agent's own plan: its sentences are not the user's.
PLAN_PROMPT_PREFIX = "Implement the following plan:"
# A longer text has something pasted into it: only its beginning and end are the user's.
LONG_TEXT_CHARS, HEAD_CHARS, TAIL_CHARS = 4000, 1500, 800
# Characters at the beginning of terminal output, and the beginning of a JSON object.
BOX_CHARS = tuple("│┃║╭╮╰╯├┤┌┐└┘─━═⎿⏺❯")
JSON_START = '{"'
# Begin a line of quoted mail or of a shell's prompt; list marks and invisible signs may precede.
QUOTE_MARKS, BEFORE_QUOTE = (">", "&gt;"), " \t-*•+\u200b\u200c\u200d\u2060\ufeff"
# Precedes the mail that an answer quotes.
FORWARDED_MARK = "-----Original Message-----"

CORRECTIONS = Cues(
    "actually", "instead", "no longer", "scratch that", "changed my mind", "change of plan",
    "forget", "anymore", "after all", "from now on", "correction", "on second thought",
)  # fmt: skip
# What begins the scope of a rule; the second only if the name of a file or folder follows.
SCOPE_CUES = (
    " in this ",
    " for this ",
    " for now",
    " until ",
    " unless ",
    " whenever ",
    " during ",
)
PLACE_CUES = (" in ", " under ", " inside ", " within ", " outside ", " for ")
MAX_SCOPE_CHARS = 120


def apply(state: State, event: Event) -> None:
    for text in _find_user_texts(event):
        for sentence in split_sentences(text):
            if MIN_RULE_CHARS <= len(sentence) <= MAX_RULE_CHARS:
                _add_rule(state, sentence, event["line"])
    del state["rules"][:-MAX_RULES]


def _find_user_texts(event: Event) -> list[str]:
    """Return what the user typed, as a prompt, with a command or as an answer."""
    if event["kind"] != "tool":
        text = event["text"]
        # A document given to a command contains the document's demands, not the user's.
        is_document = event["kind"] == "command" and text.startswith("# ")
        return [] if is_document else find_typed_texts(text)
    return [answer for _, answer in find_typed_answers(event)]


def find_typed_texts(text: str) -> list[str]:
    """Return the parts of a message that the user typed, without a plan, quoted lines (`> …`) or a
    long pasted text.
    """
    if text.startswith(PLAN_PROMPT_PREFIX):
        return []
    if ">" in text or "&gt;" in text or FORWARDED_MARK in text:
        kept = text.partition(FORWARDED_MARK)[0].splitlines()
        text = "\n".join("" if is_quoted_line(line) else line for line in kept)
    return [text] if len(text) <= LONG_TEXT_CHARS else [_take_head(text), _take_tail(text)]


def is_quoted_line(line: str) -> bool:
    """Whether a line of a message is quoted mail."""
    return line.lstrip(BEFORE_QUOTE).startswith(QUOTE_MARKS)


def _take_head(text: str) -> str:
    """Return the first whole lines, or whole sentences if there is only one line."""
    cut = text.rfind("\n", 0, HEAD_CHARS)
    return text[:cut] if cut > 0 else text[:HEAD_CHARS].rpartition(". ")[0] + "."


def _take_tail(text: str) -> str:
    """Return the last whole lines, or whole sentences if there is only one line."""
    cut = text.find("\n", len(text) - TAIL_CHARS)
    if cut < 0:
        return text[-TAIL_CHARS:].partition(". ")[2]
    fences = sum(line.lstrip().startswith("```") for line in text[:cut].splitlines())
    # A code fence that opens before the cut must stay open after it.
    return "```" + text[cut:] if fences % 2 else text[cut:]


def _add_rule(state: State, sentence: str, line: int) -> None:
    """Add a sentence if it is a standing rule, and mark the earlier rules that it corrects."""
    if sentence.startswith(BOX_CHARS) or JSON_START in sentence:
        return
    tokens = TokenizedText(sentence)
    if CORRECTIONS.match(tokens) and not sentence.endswith(("?", "？")):
        _mark_superseded(state, tokens.padded, line)
    if classify_sentence(sentence) != "standing":
        return
    kind: Literal["prohibition", "requirement"]
    kind = "prohibition" if is_prohibition(sentence) else "requirement"
    # Bold type that an earlier sentence opened may be closed at the end of this one.
    text = redact_and_clip(sentence.removesuffix("**"), MAX_RULE_CHARS)
    if all(rule["text"] != text or rule["superseded"] for rule in state["rules"]):
        state["rules"].append(
            {"text": text, "kind": kind, "line": line, "superseded": 0, "scope": find_scope(text)}
        )


def find_scope(sentence: str) -> str:
    """Return the part of a rule that says what it is limited to, or ""."""
    for cue in SCOPE_CUES:
        before, separator, rest = sentence.partition(cue)
        if separator and before:
            return clip(_first_clause((cue + rest).strip()), MAX_SCOPE_CHARS)
    for cue in PLACE_CUES:
        before, separator, rest = sentence.partition(cue)
        first = rest.split(maxsplit=1)[0] if rest.strip() else ""
        if separator and before and ("/" in first or "`" in first or "." in first[:-1]):
            return clip(f"{cue.strip()} {first.rstrip('.,;:')}", MAX_SCOPE_CHARS)
    return ""


def _first_clause(text: str) -> str:
    ends = [at for mark in (", ", "; ", " - ", " — ", ". ") if (at := text.find(mark)) > 0]
    return text[: min(ends)] if ends else text.rstrip(".!;,")


def _mark_superseded(state: State, correction: str, line: int) -> None:
    """Mark earlier rules that share at least a third of their long words with a correction."""
    new = _find_long_words(correction)
    for rule in state["rules"]:
        old = _find_long_words(padded_words(rule["text"]))
        if not rule["superseded"] and rule["line"] < line and len(new & old) * 3 >= len(new | old):
            rule["superseded"] = line


def _find_long_words(padded: str) -> set[str]:
    return {word for word in padded.split() if len(word) > 3}
