"""Find what the user asked the agent to do or not to do, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.eval.session import Piece

MIN_SENTENCE_CHARS, MAX_SENTENCE_CHARS = 15, 400
# Prompts that the client wrote: the agent's own plan, approved by the user, and a hook's output.
CLIENT_PROMPT_PREFIXES = ("Implement the following plan:", "Operation stopped by hook:")
FENCE = re.compile(r"^\s*(?:```|~~~).*?^\s*(?:```|~~~)\s*$", re.M | re.S)
LIST_MARK = re.compile(r"^\s*(?:[-=]*>|[-*+•]|\d{1,2}[.)])\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9`/])")
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
# Cues of sentences that are not instructions: questions, and statements about thoughts.
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


def find_instructions(pieces: Iterable[Piece]) -> list[Instruction]:
    """Return every sentence that the user wrote, except those that a correction supersedes."""
    instructions: list[Instruction] = []
    for piece in pieces:
        if piece.kind != "prompt" or piece.text.lstrip().startswith(CLIENT_PROMPT_PREFIXES):
            continue
        for text in split_sentences(piece.text):
            if CORRECTION.match(text):
                instructions = [old for old in instructions if not _is_superseded(old.text, text)]
            instructions.append(_classify(text, piece.line))
    return list({instruction.text: instruction for instruction in instructions}.values())


def _classify(text: str, line: int) -> Instruction:
    is_instruction = not NO_INSTRUCTION.search(text)
    prohibition = is_instruction and bool(PROHIBITION.search(text))
    constraint = prohibition or (is_instruction and bool(REQUIREMENT.search(text)))
    return Instruction(text=text, line=line, constraint=constraint, prohibition=prohibition)


def split_sentences(text: str) -> Iterator[str]:
    """Split prose into sentences; fenced blocks and log lines are skipped."""
    for line in FENCE.sub("\n", text).splitlines():
        for sentence in SENTENCE_END.split(LIST_MARK.sub("", line)):
            sentence = sentence.strip()
            if MIN_SENTENCE_CHARS <= len(sentence) <= MAX_SENTENCE_CHARS and _is_prose(sentence):
                yield sentence


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    plain = sum(bool(PLAIN_WORD.match(word)) for word in words)
    return len(words) >= 3 and plain >= PROSE_SHARE * len(words)


def _is_superseded(old: str, correction: str) -> bool:
    """Whether a correction has at least half of the distinctive words of an older sentence."""
    words = _distinctive_words(old)
    return bool(words) and len(words & _distinctive_words(correction)) >= 0.5 * len(words)


def _distinctive_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w{4,}", text.lower()) if word not in STOP_WORDS}


STOP_WORDS = {"that", "this", "with", "should", "must", "always", "never", "only", "make", "sure",
          "please", "have", "from", "want", "need", "actually", "instead", "will", "just", "then",
          "them", "they", "when", "what", "where", "which", "would", "could", "also"}  # fmt: skip


def normalize(text: str) -> str:
    """Normalize white space, quotes and dashes, and drop the last full stop."""
    for variants, plain in (("“”„", '"'), ("’‘", "'"), ("–—", "-")):
        for variant in variants:
            text = text.replace(variant, plain)
    return " ".join(text.split()).rstrip(".! ")
