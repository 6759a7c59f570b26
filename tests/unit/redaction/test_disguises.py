"""What hides a secret is seen through, and the text around the secret stays as it was."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction import redact, strip_terminal_codes
from holdfast.redaction.disguises import find_original_span, reveal
from holdfast.redaction.hints import ENCODED_HINTS

KEY = "ghp_" + "a1B2" * 9


def test_only_the_secret_in_a_disguised_text_is_replaced() -> None:
    for text, expected in (
        (f"\x1b[31m{KEY}\x1b[0m é\u00a0end", "\x1b[31m[redacted:github-token]\x1b[0m é\u00a0end"),
        (
            "a\u200bb PASS\u200bWORD\uff1dhunter2 c\u200bd",
            "a\u200bb PASS\u200bWORD\uff1d[redacted:assignment] c\u200bd",
        ),
        ("x%20password%3Dhunter2%26a%3D1", "x%20password%3D[redacted:assignment]%26a%3D1"),
        ('{"a":"password\\u003dhunter2"}', '{"a":"password\\u003d[redacted:assignment]"}'),
        (f"gh\u200bp_{KEY[4:20]}\u200b{KEY[20:]}!", "[redacted:github-token]!"),
    ):
        assert redact(text) == expected


def test_no_invisible_sign_hides_a_key() -> None:
    for code in (
        0xAD,
        0x34F,
        0x61C,
        0x200B,
        0x200D,
        0x202E,
        0x2060,
        0x2066,
        0x2069,
        0xFE0F,
        0xFEFF,
    ):
        hidden = f"{KEY[:9]}{chr(code)}{KEY[9:]}"
        assert KEY[9:] not in redact(hidden), hex(code)


def test_a_span_of_the_revealed_text_maps_back_to_what_it_was_written_as() -> None:
    data = "a%3Db\u200bc\x1b[1md\uff1de".encode()
    revealed, steps = reveal(data)
    assert revealed == b"a=bcd=e"
    for start, end, written in ((0, 1, "a"), (1, 2, "%3D"), (3, 5, "c\x1b[1md"), (5, 7, "\uff1de")):
        old_start, old_end = find_original_span(steps, start, end)
        assert data[old_start:old_end].decode() == written


@given(st.text(alphabet="ab=%3D\\u0\x1b[m\u200b\uff1d\u00a0 ", max_size=40))
def test_every_span_of_a_revealed_text_lies_in_the_text(text: str) -> None:
    data = text.encode()
    revealed, steps = reveal(data)
    last = 0
    for at in range(len(revealed)):
        start, end = find_original_span(steps, at, at + 1)
        assert last <= start < end <= len(data)
        last = end


def test_terminal_codes_are_removed_and_other_text_is_kept() -> None:
    for text, expected in (
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link", "link"),
        ("a\x1b]b", "ab"),
        ("\x1b", ""),
        ("plain [31m", "plain [31m"),
    ):
        assert strip_terminal_codes(text) == expected


def test_the_encoded_hints_are_base64_of_the_words() -> None:
    words = (
        "password PASSWORD Password passwd secret SECRET Secret token TOKEN Token api_key API_KEY"
    )
    words += " apiKey private_key sk_live glpat- Authorization"
    encoded = {
        base64.b64encode(b"\0" * shift + word.encode()).rstrip(b"=").decode()
        for word in [*words.split(), "PRIVATE KEY"]
        for shift in range(3)
    }
    for hint in ENCODED_HINTS:
        assert any(hint in code for code in encoded), hint
