"""Show foreign text inside our own: quoted, as code, or as a plain line.

A text from a log or a repository must not end its quotation and go on in the voice of the brief. So
it stays on one line, which also keeps a heading in it from being one, and the marks that would end
the quotation are replaced.
"""

from __future__ import annotations

from holdfast.state.text import one_line

# No item is longer. A text is cut before its lines are joined, which would take longer than all the
# rest.
MAX_SHOWN_CHARS = 4000
CHARS_PER_SHOWN_CHAR, MIN_JOINED_CHARS = 3, 100


def quote(text: str, max_chars: int = MAX_SHOWN_CHARS) -> str:
    """Return a text on one line in quotation marks that it cannot close."""
    return f"“{plain_line(text, max_chars)}”"


def plain_line(text: str, max_chars: int = MAX_SHOWN_CHARS) -> str:
    """Return a text on one line, without quotation marks of the kind that `quote` writes, and
    without backticks that do not enclose anything.
    """
    line = _replace_marks(_join_lines(text, max_chars))
    has_pairs = line.count("`") % 2 == 0 and "``" not in line
    return line if has_pairs else line.replace("`", "'")


def code(text: str, max_chars: int = 0) -> str:
    """Return a text as Markdown code, between more backticks than it has in a row. Its lines are
    joined; one line without a limit stays as it is.
    """
    is_whole = not max_chars and text.splitlines() in ([], [text])
    line = text if is_whole else _join_lines(text, max_chars or MAX_SHOWN_CHARS)
    if "`" not in line:
        return f"`{line}`"
    fence = "`"
    while fence in line:
        fence += "`"
    return f"{fence} {line} {fence}"


def _join_lines(text: str, max_chars: int) -> str:
    return one_line(text[: CHARS_PER_SHOWN_CHAR * max_chars + MIN_JOINED_CHARS], max_chars)


def _replace_marks(text: str) -> str:
    return text.replace("“", '"').replace("”", '"')


def block_quote(text: str) -> str:
    """Return a text of several lines as an indented quotation in Markdown, without empty lines."""
    lines = _replace_marks(text).splitlines()
    return "\n".join(f"  > {line.strip()}" for line in lines if line.strip())
