"""The user's sentences that bind, verbatim; a later correction marks what it supersedes."""

from __future__ import annotations

from holdfast.state.rules.answers import own_words
from holdfast.state.wording import Cues, Heard, clip, keep, sentences, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("prompt", "command", "tool")
TOOLS = ("AskUserQuestion",)
MOST = 200
SHORTEST, LONGEST = 8, 400
# A plan that the user had the agent carry out: its sentences are the agent's.
CARRY_OUT = "Implement the following plan:"
# In a longer text something is pasted; what the user says of it stands before or after.
LONG, HEAD, TAIL = 4000, 1500, 800
# What a terminal draws around its output, and what begins a JSON object.
DRAWN = tuple("│┃║╭╮╰╯├┤┌┐└┘─━═⎿⏺❯")
DATA = '{"'

PROHIBITIONS = Cues(
    "never", "don't", "dont", "do not", "must not", "mustn't", "should not", "shouldn't",
    "avoid", "without", "no longer", "not allowed", "forbidden", "stop", "leave alone",
    "hands off", "off limits", "rather not", "no need to",
    # Strong words of other languages.
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
# Words that forbid whoever the subject is, and negations that forbid only without one.
STRONG = Cues("never", "must not", "mustn't", "avoid", "forbidden", "we don't want", "i don't want",
              "i do not want", "we do not want", "please")  # fmt: skip
SUBJECTS = ("i", "we", "they", "it", "still", "just", "if we", "that", "which", "users", "who")
NEGATIONS = ("don't", "dont", "do not", "stop")
HEDGES = ("probably", "really", "actually", "usually", "currently", "maybe")
# What the person has to do themselves binds nobody else; what they need to be able to do does.
OWN_DUTIES = (
    " i keep ",
    *(
        f" {who} {duty} "
        for who in ("i", "i will", "i'll", "i would", "i'd", "i still")
        for duty in ("have to", "need to", "must")
    ),
)
WISH = " be able "
# Nor does what they do not see or know, whatever it says “not” to.
UNAWARE = tuple(
    f" {who} {negation} {verb} "
    for who in ("i", "we", "they", "it", "still", "really")
    for negation in ("don't", "dont", "do not")
    for verb in ("see", "know", "think", "understand", "remember", "believe", "get", "mind")
)
REMARKS = (*OWN_DUTIES, *UNAWARE)
# Figures of speech that have a cue in them and ask for nothing.
FIGURES = (
    " keep going ", " keep in mind ", " keep an eye ", " leave this for ", " leave that for ",
    " leave it for ", " the only ", " not only ", " if only ", " should have ", " should you ",
    " should we ", " should i ", " i'd prefer that ", " we don't need ", " you don't need ",
    " they don't need ", " don't really need ",
)  # fmt: skip
# Where a sentence says how far it goes, and where it does so only before the name of a place.
SCOPES = (" in this ", " for this ", " for now", " until ", " unless ", " whenever ", " during ")
PLACES = (" in ", " under ", " inside ", " within ", " outside ", " for ")
LONGEST_SCOPE = 120


def apply(state: State, event: Event) -> None:
    for text in _texts(event):
        for sentence in sentences(text):
            asks = sentence.rstrip(")\"'”").endswith(("?", "？"))
            if SHORTEST <= len(sentence) <= LONGEST and not asks:
                _consider(state, sentence, event["line"])
    del state["rules"][:-MOST]


def _texts(event: Event) -> list[str]:
    """A person's words: what was typed, said with a command, or answered in own words."""
    if event["kind"] != "tool":
        text = event["text"]
        # A document that is handed to a command says what the document asks for.
        handed = event["kind"] == "command" and text.startswith("# ")
        if handed or text.startswith(CARRY_OUT):
            return []
        return [text] if len(text) <= LONG else [_beginning(text), _end(text)]
    return [said for _, said in own_words(event)]


def _beginning(text: str) -> str:
    """Whole lines, or whole sentences if there is but one line."""
    cut = text.rfind("\n", 0, HEAD)
    return text[:cut] if cut > 0 else text[:HEAD].rpartition(". ")[0] + "."


def _end(text: str) -> str:
    cut = text.find("\n", len(text) - TAIL)
    if cut < 0:
        return text[-TAIL:].partition(". ")[2]
    fences = sum(line.lstrip().startswith("```") for line in text[:cut].splitlines())
    # What is pasted between fences may begin before the cut.
    return "```" + text[cut:] if fences % 2 else text[cut:]


def _consider(state: State, sentence: str, line: int) -> None:
    heard = Heard(sentence)
    kind: Literal["prohibition", "requirement"]
    if sentence.startswith(DRAWN) or DATA in sentence or _is_output(heard):
        return
    if PROHIBITIONS.among(heard):
        kind = "prohibition"
    elif REQUIREMENTS.among(heard):
        kind = "requirement"
    else:
        return
    if _is_remark(heard):
        return
    if CORRECTIONS.among(heard):
        _supersede(state, heard.padded, line)
    # What closes bold type that another sentence opened is no part of this one.
    text = keep(sentence.removesuffix("**"), LONGEST)
    if all(rule["text"] != text or rule["superseded"] for rule in state["rules"]):
        state["rules"].append(
            {
                "text": text,
                "kind": kind,
                "line": line,
                "superseded": 0,
                "scope": scope(text),
                "weak": _only_tells(heard) if kind == "prohibition" else _is_figure(heard),
            }
        )


def _is_output(heard: Heard) -> bool:
    """Pasted output: most of its words are none."""
    spelled = sum(word.replace("'", "").replace("-", "").isalpha() for word in heard.in_order)
    return spelled * 2 < len(heard.in_order)


def _is_remark(heard: Heard) -> bool:
    """`I have to ask support` and `I do not see it` are about the person; nothing else binds."""
    told = heard.padded
    if WISH in told or not any(remark in told for remark in REMARKS):
        return False
    for remark in REMARKS:
        told = told.replace(remark, " ")
    rest = Heard(told)
    return not PROHIBITIONS.among(rest) and not REQUIREMENTS.among(rest)


def _is_figure(heard: Heard) -> bool:
    """`ok let's keep going` asks for nothing that lasts."""
    told = heard.padded
    for figure in FIGURES:
        told = told.replace(figure, " ")
    return told != heard.padded and not REQUIREMENTS.among(Heard(told))


def _only_tells(heard: Heard) -> bool:
    """`I don't know` and `it does not start` tell something; `don't push` forbids it."""
    if STRONG.among(heard):
        return False
    # “One with an icon and one without” forbids nothing.
    told = heard.padded.removesuffix("without ")
    for hedge in (*HEDGES, *(figure.strip() for figure in FIGURES)):
        told = told.replace(f" {hedge} ", " ")
    for subject in SUBJECTS:
        for negation in NEGATIONS:
            told = told.replace(f" {subject} {negation} ", " ")
    return not PROHIBITIONS.among(Heard(told))


def scope(sentence: str) -> str:
    """The part of a rule that says what it is limited to, if it has one."""
    for cue in SCOPES:
        before, found, rest = sentence.partition(cue)
        if found and before:
            return clip(_clause((cue + rest).strip()), LONGEST_SCOPE)
    for cue in PLACES:
        before, found, rest = sentence.partition(cue)
        first = rest.split(maxsplit=1)[0] if rest.strip() else ""
        if found and before and ("/" in first or "`" in first or "." in first[:-1]):
            return clip(f"{cue.strip()} {first.rstrip('.,;:')}", LONGEST_SCOPE)
    return ""


def _clause(text: str) -> str:
    ends = [at for sign in (", ", "; ", " - ", " — ", ". ") if (at := text.find(sign)) > 0]
    return text[: min(ends)] if ends else text.rstrip(".!;,")


def _supersede(state: State, correction: str, line: int) -> None:
    """An earlier rule about the same things no longer holds."""
    new = _subjects(correction)
    for rule in state["rules"]:
        old = _subjects(words(rule["text"]))
        if not rule["superseded"] and rule["line"] < line and len(new & old) * 3 >= len(new | old):
            rule["superseded"] = line


def _subjects(padded: str) -> set[str]:
    return {word for word in padded.split() if len(word) > 3}
