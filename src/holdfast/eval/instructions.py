"""What the user told the agent to do or not to do, sentence by sentence (M4's ground truth)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.eval.session import Piece

SHORTEST, LONGEST = 15, 400
# Prompts that the client wrote: the agent's own plan, approved by the user, and what a hook said.
NOT_TYPED = ("Implement the following plan:", "Operation stopped by hook:")
FENCE = re.compile(r"^\s*(?:```|~~~).*?^\s*(?:```|~~~)\s*$", re.M | re.S)
LIST_MARK = re.compile(r"^\s*(?:[-=]*>|[-*+•]|\d{1,2}[.)])\s+")
ENDS = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9`/])")
PLAIN_WORD = re.compile(r"[\"'(“‘]?[A-Za-z][A-Za-z'’-]*[\"')”’.,;:!?…]*$")
PROSE_SHARE = 0.6

PROHIBITION = re.compile(
    r"(?:^|[,;:.(–—-]\s*|\b(?:please|and|but|so|just|also|you|then|or)\s+)"
    r"(?:don['’]?t|do not|never|avoid|stop)\b"
    r"|\b(?:must|should|shall)(?:\s+not|n['’]?t)\b|\b(?:must|should) never\b|\bnot allowed\b"
    r"|\bwithout(?=\s+\w+ing\b)|\b(?:instead of|rather than)(?!\s+\d)"
    r"|\b(?:no longer|let['’]?s not|to not|not to)\b"
    r"|\bleave\b.*\b(?:alone|as is|untouched|unchanged)\b|\bforbidden\b|\brather not\b",
    re.I,
)
REQUIREMENT = re.compile(
    r"\b(?:must|always|only|instead|prefer|make sure|ensure|should|has to|have to|need(?:s)? to"
    r"|at least|at most|exactly|from now on|rather than|keep|required|without|no longer)\b",
    re.I,
)
# Cues in what is no instruction: questions, and what somebody thinks, knows or sees.
NO_INSTRUCTION = re.compile(
    r"\?\s*$|\b(?:I|they|we|it|he|she)\s+(?:don['’]?t|do not|never)\s+"
    r"(?:think|know|see|have|understand|remember|want to know|get|care|mind|believe|need)\b",
    re.I,
)
CORRECTION = re.compile(
    r"^(?:no[,. ]|actually|wait[,. ]|scratch that|forget (?:that|it|about)|never ?mind|on second"
    r" thought|instead[, ]|let['’]?s not|I changed my mind|change of plan|correction)",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    text: str
    line: int
    constraint: bool
    prohibition: bool


def instructions(pieces: Iterable[Piece]) -> list[Instruction]:
    """Every sentence that a person wrote; what a later correction takes back is left out."""
    found: list[Instruction] = []
    for piece in pieces:
        if piece.kind != "prompt" or piece.text.lstrip().startswith(NOT_TYPED):
            continue
        for text in sentences(piece.text):
            if CORRECTION.match(text):
                found = [one for one in found if not _taken_back(one.text, text)]
            found.append(_judged(text, piece.line))
    return list({one.text: one for one in found}.values())


def _judged(text: str, line: int) -> Instruction:
    instructs = not NO_INSTRUCTION.search(text)
    prohibition = instructs and bool(PROHIBITION.search(text))
    constraint = prohibition or (instructs and bool(REQUIREMENT.search(text)))
    return Instruction(text=text, line=line, constraint=constraint, prohibition=prohibition)


def sentences(text: str) -> Iterator[str]:
    """Prose only: what was pasted in a fence, or looks like a log, is no sentence."""
    for line in FENCE.sub("\n", text).splitlines():
        for sentence in ENDS.split(LIST_MARK.sub("", line)):
            sentence = sentence.strip()
            if SHORTEST <= len(sentence) <= LONGEST and _is_prose(sentence):
                yield sentence


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    plain = sum(bool(PLAIN_WORD.match(word)) for word in words)
    return len(words) >= 3 and plain >= PROSE_SHARE * len(words)


def _taken_back(old: str, correction: str) -> bool:
    """An explicit correction takes back what it shares half of its telling words with."""
    telling = _telling(old)
    return bool(telling) and len(telling & _telling(correction)) >= 0.5 * len(telling)


def _telling(text: str) -> set[str]:
    return {word for word in re.findall(r"\w{4,}", text.lower()) if word not in COMMON}


COMMON = {"that", "this", "with", "should", "must", "always", "never", "only", "make", "sure",
          "please", "have", "from", "want", "need", "actually", "instead", "will", "just", "then",
          "them", "they", "when", "what", "where", "which", "would", "could", "also"}  # fmt: skip


def normal(text: str) -> str:
    """As compared: white space, quotes and dashes in one spelling, the last full stop aside."""
    for signs, plain in (("“”„", '"'), ("’‘", "'"), ("–—", "-")):
        for sign in signs:
            text = text.replace(sign, plain)
    return " ".join(text.split()).rstrip(".! ")
