"""`fast_json` reads and writes the same as `json`, which takes longer to import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import fast_json

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.text(alphabet=st.characters(categories=["Cs"]), max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=25,
)
IMPLEMENTATIONS = [
    pytest.param(fast_json._load_c_functions(), id="c"),
    pytest.param(fast_json._load_json_functions(), id="json"),
]


@given(json_values)
def test_dumps_writes_the_same_text_as_json(value: object) -> None:
    assert fast_json.dumps(value) == json.dumps(value, separators=(",", ":"))


@given(json_values)
def test_loads_reads_the_same_value_as_json(value: object) -> None:
    text = json.dumps(value)
    assert fast_json.loads(text) == json.loads(text)


@pytest.mark.parametrize(
    ("loads", "dumps"), [pytest.param(*p.values[0], id=p.id) for p in IMPLEMENTATIONS]
)
def test_both_implementations_round_trip_a_value(loads: object, dumps: object) -> None:
    assert callable(loads)
    assert callable(dumps)
    value = {"a": [1, -2.5, 1e300, None, True, "é\ud800\n\x00"], "": {}}
    assert loads(f" \r\n\t{dumps(value)} \n") == value


@pytest.mark.parametrize(
    ("loads", "dumps"), [pytest.param(*p.values[0], id=p.id) for p in IMPLEMENTATIONS]
)
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
def test_invalid_json_raises_a_value_error(loads: object, dumps: object, text: str) -> None:
    assert callable(loads)
    with pytest.raises(ValueError, match=r".+"):
        loads(text)


@pytest.mark.parametrize(
    ("loads", "dumps"), [pytest.param(*p.values[0], id=p.id) for p in IMPLEMENTATIONS]
)
def test_control_characters_inside_strings_are_accepted(loads: object, dumps: object) -> None:
    assert callable(loads)
    assert loads('"a\tb\x00"') == "a\tb\x00"


def test_deep_nesting_raises_a_recursion_error() -> None:
    with pytest.raises(RecursionError):
        fast_json.loads("[" * 100_000)


def test_errors_are_raised_without_importing_json() -> None:
    """The C scanner of Python 3.11 raises its error through `json`, which a hook has not loaded."""
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
    process = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, source],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert process.stdout.split() == ["ok"] * 4
