"""The user's sentences that bind the agent, verbatim; a later correction marks what it supersedes.

A sentence is a rule if it contains a cue word such as “never” or “always”. Rules that may only be
statements are kept as weak ones.
"""

from __future__ import annotations

from holdfast.state.rules.question_answers import find_typed_answers
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

PROHIBITIONS = Cues(
    "never", "don't", "dont", "do not", "must not", "mustn't", "should not", "shouldn't",
    "avoid", "without", "no longer", "not allowed", "forbidden", "stop", "leave alone",
    "hands off", "off limits", "rather not", "no need to",
    # Prohibitions in other languages.
    "niemals", "auf keinen fall", "bitte nicht", "jamais", "ne touche", "ne touchez", "nunca",
    "jamás", "não", "mai", "не надо",
    anywhere=("하지 마", "하지마", "지 말", "금지", "절대", "しないで", "禁止", "ないでください",
              "不要", "不能", "别", "никогда", "нельзя"),
)  # fmt: skip
REQUIREMENTS = Cues(
    "always", "only", "must", "make sure", "ensure", "keep", "should", "prefer", "instead",
    "have to", "has to", "need to", "needs to", "required", "rather than", "at least",
    "at most", "exactly", "from now on", "correction", "leave", "please use", "remember",
    "ideally", "regardless of",
    "immer", "unbedingt", "nur", "muss", "toujours", "il faut", "siempre", "sempre", "deve",
    "hay que",
    anywhere=("반드시", "항상", "해야", "만 사용", "유지", "必ず", "常に", "だけ", "必须", "总是",
              "只", "务必", "всегда", "обязательно", "только", "должен"),
)  # fmt: skip
CORRECTIONS = Cues(
    "actually", "instead", "no longer", "scratch that", "changed my mind", "change of plan",
    "forget", "anymore", "after all", "from now on", "correction", "on second thought",
)  # fmt: skip
# These forbid, whatever the subject; the negations below forbid only without a subject.
STRONG_PROHIBITIONS = Cues(
    "never", "must not", "mustn't", "avoid", "forbidden", "we don't want", "i don't want",
    "i do not want", "we do not want", "please",
)  # fmt: skip
SUBJECTS = ("i", "we", "they", "it", "still", "just", "if we", "that", "which", "users", "who")
NEGATIONS = ("don't", "dont", "do not", "stop")
HEDGES = ("probably", "really", "actually", "usually", "currently", "maybe")
# What the user has to do binds only the user; but what they “need to be able to” do is a rule.
USER_DUTIES = (
    " i keep ",
    *(
        f" {subject} {duty} "
        for subject in ("i", "i will", "i'll", "i would", "i'd", "i still")
        for duty in ("have to", "need to", "must")
    ),
)
NEED = " be able "
# Nor does a sentence bind that only says what the user does not see or know.
USER_UNAWARE = tuple(
    f" {subject} {negation} {verb} "
    for subject in ("i", "we", "they", "it", "still", "really")
    for negation in ("don't", "dont", "do not")
    for verb in ("see", "know", "think", "understand", "remember", "believe", "get", "mind")
)
USER_REMARKS = (*USER_DUTIES, *USER_UNAWARE)
# Figures of speech that contain a cue and ask for nothing.
IDIOMS = (
    " keep going ", " keep in mind ", " keep an eye ", " leave this for ", " leave that for ",
    " leave it for ", " the only ", " not only ", " if only ", " should have ", " should you ",
    " should we ", " should i ", " i'd prefer that ", " we don't need ", " you don't need ",
    " they don't need ", " don't really need ",
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
            is_question = sentence.rstrip(")\"'”").endswith(("?", "？"))
            if MIN_RULE_CHARS <= len(sentence) <= MAX_RULE_CHARS and not is_question:
                _add_rule(state, sentence, event["line"])
    del state["rules"][:-MAX_RULES]


def _find_user_texts(event: Event) -> list[str]:
    """Return what the user typed, as a prompt, with a command or as an answer."""
    if event["kind"] != "tool":
        text = event["text"]
        # A document given to a command contains the document's demands, not the user's.
        is_document = event["kind"] == "command" and text.startswith("# ")
        if is_document or text.startswith(PLAN_PROMPT_PREFIX):
            return []
        return [text] if len(text) <= LONG_TEXT_CHARS else [_take_head(text), _take_tail(text)]
    return [answer for _, answer in find_typed_answers(event)]


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
    """Add a sentence if it is a rule, and mark the earlier rules that it corrects."""
    tokens = TokenizedText(sentence)
    kind: Literal["prohibition", "requirement"]
    if sentence.startswith(BOX_CHARS) or JSON_START in sentence or _is_output(tokens):
        return
    if PROHIBITIONS.match(tokens):
        kind = "prohibition"
    elif REQUIREMENTS.match(tokens):
        kind = "requirement"
    else:
        return
    if _is_user_remark(tokens):
        return
    if CORRECTIONS.match(tokens):
        _mark_superseded(state, tokens.padded, line)
    # Bold type that an earlier sentence opened may be closed at the end of this one.
    text = redact_and_clip(sentence.removesuffix("**"), MAX_RULE_CHARS)
    if all(rule["text"] != text or rule["superseded"] for rule in state["rules"]):
        state["rules"].append(
            {
                "text": text,
                "kind": kind,
                "line": line,
                "superseded": 0,
                "scope": find_scope(text),
                "weak": _is_statement(tokens) if kind == "prohibition" else _is_idiom(tokens),
            }
        )


def _is_output(tokens: TokenizedText) -> bool:
    """Whether this is pasted output: less than half of its tokens are words."""
    words = sum(word.replace("'", "").replace("-", "").isalpha() for word in tokens.words)
    return words * 2 < len(tokens.words)


def _is_user_remark(tokens: TokenizedText) -> bool:
    """Whether a sentence is only about the user: `I have to ask support`, `I do not see it`."""
    text = tokens.padded
    if NEED in text or not any(remark in text for remark in USER_REMARKS):
        return False
    for remark in USER_REMARKS:
        text = text.replace(remark, " ")
    rest = TokenizedText(text)
    return not PROHIBITIONS.match(rest) and not REQUIREMENTS.match(rest)


def _is_idiom(tokens: TokenizedText) -> bool:
    """Whether the only cue is in a figure of speech: `ok let's keep going`."""
    text = tokens.padded
    for idiom in IDIOMS:
        text = text.replace(idiom, " ")
    return text != tokens.padded and not REQUIREMENTS.match(TokenizedText(text))


def _is_statement(tokens: TokenizedText) -> bool:
    """Whether a negation states a fact: `I don't know`, but not `don't push`."""
    if STRONG_PROHIBITIONS.match(tokens):
        return False
    # “One with an icon and one without” forbids nothing.
    text = tokens.padded.removesuffix("without ")
    for hedge in (*HEDGES, *(idiom.strip() for idiom in IDIOMS)):
        text = text.replace(f" {hedge} ", " ")
    for subject in SUBJECTS:
        for negation in NEGATIONS:
            text = text.replace(f" {subject} {negation} ", " ")
    return not PROHIBITIONS.match(TokenizedText(text))


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
