"""One thing worth saying, and how it is written."""

from __future__ import annotations

from holdfast.state.wording import one_line as short


class Item:
    """One thing worth saying. `forms` go from full to short; `quote` is what must survive."""

    __slots__ = ("floor", "forms", "kind", "line", "names", "quote", "section", "value")

    def __init__(
        self,
        section: str,
        kind: str,
        value: float,
        line: int,
        forms: tuple[str, ...],
        *,
        quote: str = "",
        names: tuple[str, ...] = (),
        floor: bool = False,
    ) -> None:
        self.section = section
        self.kind = kind
        self.value = value
        self.line = line
        self.forms = forms
        self.quote = quote
        self.names = names
        self.floor = floor


def ref(*lines: int) -> str:
    """Where something stands; more than one line if what is said of it stands apart."""
    return f"({' '.join(f'L{line}' for line in dict.fromkeys(lines) if line)})"


def quoted(text: str, most: int) -> str:
    return f"“{short(text, most)}”"
