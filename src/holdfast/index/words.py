"""Which words a text is found by, and how a question becomes a search that cannot be misread.

Texts are split at everything that is no letter or digit, so paths and snake_case are found by their
parts already. What that cannot know is added beside the text: the parts of camelCase names, pairs
of characters where a script has no spaces, and signs such as emoji.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Scripts that are written without spaces, and Hangul, whose particles stick to the word.
_SPACELESS = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# Arrows, marks and emoji; tables are drawn with what is left out between them.
_SIGNS = "[\u2190-\u24ff\u2580-\u2bff\U0001f000-\U0001faff]"
_PARTS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+"
_WORD = r"[^\W_]"
_EDGES = "\"'`“”‘’«».,;:!?()[]{}<>*…"
ASCII_WORDS = bytes(sign if chr(sign).isalnum() and sign < 128 else 32 for sign in range(256))
MOST_TERMS = 16
# Words that say little, wherever they stand.
FILLER = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "has",
        "have", "how", "i", "in", "is", "it", "its", "not", "of", "on", "or", "that", "the", "this",
        "to", "was", "we", "what", "when", "where", "which", "why", "will", "with", "you",
    }
)  # fmt: skip
LONGEST_QUERY = 4000
LONGEST_TERM = 200


class Phrase(NamedTuple):
    """Words in a row, whatever stands between them; the last may go on, if it only `begins` so."""

    text: str
    begins: bool = False


# All of these must be there, each in any one of its spellings.
Asked = tuple[tuple[Phrase, ...], ...]


class Term(NamedTuple):
    """One word of a question: as typed, in small letters, and as an index is asked for it."""

    text: str
    match: Asked


def indexed(text: str, also: str = "") -> tuple[str, str]:
    """What an index is given of a text: the text itself, and the words to add to it."""
    more = [also] if also else []
    more += [" ".join(parts_of(word)) for word in _joined_words(text)]
    if not text.isascii():
        more += [_pairs(run) for run in dict.fromkeys(re.findall(_SPACELESS, text))]
        more += [_sign(found) for found in dict.fromkeys(re.findall(_SIGNS, text))]
        # Runs of such a script would be one long word each, which nobody types.
        text = re.sub(_SPACELESS, " ", text)
    return text, "\n".join(more)


def parts_of(word: str) -> list[str]:
    """The parts of a camelCase name; one part if it is none."""
    return re.findall(_PARTS, word)


def _joined_words(text: str) -> list[str]:
    # By way of bytes: many times faster than a pattern.
    words = set(text.encode("utf-8", "replace").translate(ASCII_WORDS).split())
    return sorted(
        word.decode()
        for word in words
        if not (word.islower() or word[1:].islower() or word.isupper() or word.isdigit())
    )


def _pairs(run: str) -> str:
    """`abcd` as `ab bc cd d`: any piece of it is then a phrase, and its end can be found alone."""
    return " ".join([run[at : at + 2] for at in range(len(run))])


def _sign(sign: str) -> str:
    return f"u{ord(sign):x}"


def terms(query: str) -> list[Term]:
    """The words of a question. Whatever is typed is data: no index sees more than its words.

    Of very many words the longest count, and those that say little only if there are no others.
    """
    found: dict[str, Term] = {}
    for chunk in storable(query[:LONGEST_QUERY]).split():
        text = chunk.strip(_EDGES)[:LONGEST_TERM]
        if asked := match(text) or match(chunk[:LONGEST_TERM]):
            found.setdefault(text.lower(), Term(text.lower(), asked))
    telling = [term for term in found.values() if term.text not in FILLER]
    if len(telling) > MOST_TERMS:
        longest = {*sorted(telling, key=lambda term: -len(term.text))[:MOST_TERMS]}
        telling = [term for term in telling if term in longest]
    return telling or [*found.values()][:MOST_TERMS]


def pieces_of(term: Term) -> list[Term]:
    """The single words of a term that is found nowhere as a whole, such as `src/app.py:42`."""
    return [
        Term(piece, asked)
        for piece in re.findall(r"[^\W_]+", term.text)
        if (asked := match(piece)) and piece != term.text
    ]


def beginning(term: Term) -> Asked:
    """Words that begin like this one."""
    return ((Phrase(term.text, True),),) if re.search(_WORD, term.text) else term.match


def phrase(query: str) -> Asked:
    """The whole question as one phrase, if there can be one; else nothing."""
    text = storable(query[:LONGEST_QUERY]).strip()
    spaceless = not text.isascii() and re.search(_SPACELESS, text)
    return () if spaceless or not re.search(_WORD, text) else ((Phrase(text),),)


def storable(text: str) -> str:
    """What databases take: no half characters, and no NUL, which would end the text."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", " ")


def match(text: str) -> Asked:
    """What must be there for this word to be there."""
    needed: list[tuple[Phrase, ...]] = []
    if not text.isascii():
        needed += [(_runs(run),) for run in re.findall(_SPACELESS, text)]
        needed += [(Phrase(_sign(found)),) for found in re.findall(_SIGNS, text)]
        text = re.sub(_SPACELESS, " ", text)
    if re.search(_WORD, text):
        words = re.findall(r"[A-Za-z0-9]+", text)
        parts = [part for word in words for part in parts_of(word)]
        # A name in camelCase is also found where it is written in another way.
        other = (Phrase(" ".join(parts)),) if len(parts) > len(words) else ()
        needed.append((Phrase(text), *other))
    return tuple(needed)


def _runs(run: str) -> Phrase:
    """One character is found wherever a pair begins with it, more of them as pairs in a row."""
    if len(run) == 1:
        return Phrase(run, True)
    return Phrase(" ".join(run[at : at + 2] for at in range(len(run) - 1)))
