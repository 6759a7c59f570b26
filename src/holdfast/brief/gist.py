"""The part of a long message that says most of what comes next."""

from __future__ import annotations

from holdfast.state.wording import one_line, sentences

# How a sentence begins that says what is done next.
INTENT = (
    "let me", "now let", "now i", "let's", "i'll ", "i will ", "i'm ", "i am ", "next", "first,",
    "i need to", "i should", "going to",
)  # fmt: skip
# A sentence of fewer words is an opening (“All done.”), not what was said.
TELLING, FEW = 4, 2


def gist(text: str, most: int) -> str:
    """In so many signs: the beginning if that says it, else what stands around the question or the
    intent behind it."""
    whole = one_line(text, most)
    told = sentences(text)
    if not whole.endswith("…") or not told:
        return whole
    flat, said = " ".join(text.split()), " ".join(_what_matters(told).split())
    end = flat.find(said) + len(said)
    if not said or end < most or flat.startswith(said):
        return whole
    if len(said) >= most:
        return f"…{one_line(said, most - 1)}"
    # A short one needs what stands before it, if that is more than a word or two.
    before = flat[flat.find(" ", end - most) + 1 : end - len(said)]
    return f"…{before}{said}" if len(before.split()) > FEW else f"…{said}"


def _what_matters(told: list[str]) -> str:
    """The question that it ends with, or what is done next, or its first whole sentence."""
    if told[-1].endswith(("?", "？")):
        return told[-1]
    meant = [one for one in told if one.lower().replace("’", "'").startswith(INTENT)]
    telling = [one for one in told if len(one.split()) >= TELLING and not one.endswith(":")]
    return next(iter(meant[-1:] or telling), "")
