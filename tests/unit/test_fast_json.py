"""Our JSON is the standard library's, only sooner."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import fast_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.text(alphabet=st.characters(categories=["Cs"]), max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=25,
)
BOTH = [
    pytest.param(fast_json._load_c_functions(), id="c"),
    pytest.param(fast_json._load_json_functions(), id="json"),
]


@given(values)
def test_it_writes_what_json_writes(value: object) -> None:
    assert fast_json.dumps(value) == json.dumps(value, separators=(",", ":"))


@given(values)
def test_it_reads_what_json_reads(value: object) -> None:
    text = json.dumps(value)
    assert fast_json.loads(text) == json.loads(text)


@pytest.mark.parametrize(("loads", "dumps"), [pytest.param(*p.values[0], id=p.id) for p in BOTH])
def test_the_c_functions_and_json_give_the_same(loads: object, dumps: object) -> None:
    assert callable(loads)
    assert callable(dumps)
    value = {"a": [1, -2.5, 1e300, None, True, "é\ud800\n\x00"], "": {}}
    assert loads(f" \r\n\t{dumps(value)} \n") == value


@pytest.mark.parametrize(("loads", "dumps"), [pytest.param(*p.values[0], id=p.id) for p in BOTH])
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        '{"a"}',
        "nul",
        "{} {}",
        "[1] x",
        '"open',
        "\x00",
        '{"a": "\\x"}',
        "'a'",
    ],
)
def test_what_is_not_json_is_a_value_error(loads: object, dumps: object, text: str) -> None:
    assert callable(loads)
    with pytest.raises(ValueError, match=r".+"):
        loads(text)


@pytest.mark.parametrize(("loads", "dumps"), [pytest.param(*p.values[0], id=p.id) for p in BOTH])
def test_control_characters_inside_strings_are_let_through(loads: object, dumps: object) -> None:
    assert callable(loads)
    assert loads('"a\tb\x00"') == "a\tb\x00"


def test_deep_nesting_raises_and_does_not_crash() -> None:
    with pytest.raises(RecursionError):
        fast_json.loads("[" * 100_000)


def test_errors_need_no_json_module() -> None:
    """Python 3.11 reports a bad value through a module that is not loaded."""
    program = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from holdfast import fast_json\n"
        "for text in ('{', '{\"a\" 1}', '[1,]', ''):\n"
        "    try:\n"
        "        fast_json.loads(text)\n"
        "    except ValueError:\n"
        "        print('ok')\n"
    )
    source = fast_json.__file__.rsplit("/", 2)[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, source],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["ok"] * 4
