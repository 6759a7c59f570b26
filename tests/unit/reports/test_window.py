"""What fills the context window, and the size of the context over time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.reports.window import (
    ContextPoint,
    WindowContents,
    find_context_points,
    measure_window,
    thin_points,
)
from holdfast.transcript.decoder import decode
from tests.unit.reports.session_lines import compaction, read
from tests.unit.transcript_lines import (
    SUMMARY,
    Line,
    attachment,
    bash,
    numbered,
    reply,
    tool_use,
    usage_line,
    user,
)


def contents_of(*lines: Line) -> WindowContents | None:
    """The contents of a window in which each character is a token."""
    return measure_window(decode(numbered(lines)), len)


def test_each_text_is_counted_by_where_it_comes_from() -> None:
    contents = contents_of(
        *compaction(),
        attachment("hook_additional_context", hookEvent="SessionStart", content=["brief"]),
        attachment("file", filename="/srv/app/a.py", content={"file": {"content": "x" * 30}}),
        user("go on"),
        reply("On it."),
        *bash("ls", "y" * 50),
        *tool_use("Grep", {"pattern": "f"}, "z" * 70),
        *read("b.py", "w" * 90),
        usage_line(10_000),
    )
    assert contents is not None
    assert contents.tools == {"Grep": 70, "Bash": 50}
    assert (contents.files, contents.user, contents.assistant) == (120, 5, 6)
    assert contents.summary == len(SUMMARY) + len("brief")
    assert contents.calls > len("ls") + len("/srv/app/b.py")
    assert (contents.tokens, contents.line) == (10_000, 13)
    parts = [contents.files, contents.user, contents.assistant, contents.calls, contents.summary]
    assert contents.system is not None
    assert contents.rest is not None
    assert sum([*parts, *contents.tools.values(), contents.system, contents.rest]) == 10_000


def test_what_the_first_request_had_beside_its_texts_is_the_system() -> None:
    contents = contents_of(
        user("x" * 100), usage_line(5_100), *bash("ls", "y" * 400), usage_line(6_000, id="m2")
    )
    assert contents is not None
    assert contents.system == 5_000
    assert contents.rest == 6_000 - 5_000 - 100 - 400 - contents.calls


def test_a_reply_and_what_follows_it_are_not_part_of_its_request() -> None:
    answer = reply("y" * 300)
    answer["message"]["usage"] = {"input_tokens": 1_000, "output_tokens": 75}
    contents = contents_of(user("go"), answer, *bash("ls", "z" * 500))
    assert contents is not None
    assert (contents.assistant, contents.tools) == (0, {})


def test_estimates_above_the_count_of_the_host_leave_no_rest() -> None:
    contents = contents_of(user("go"), usage_line(10), *bash("ls", "z" * 500), usage_line(90))
    assert contents is not None
    assert contents.rest is None


def test_a_sub_agent_has_a_window_of_its_own() -> None:
    of_agent = {"isSidechain": True}
    lines = [user("go"), usage_line(100), {**reply("x" * 99), **of_agent}]
    contents = contents_of(*lines, {**usage_line(70_000), **of_agent}, usage_line(200, id="m2"))
    assert contents is not None
    assert (contents.tokens, contents.assistant) == (200, 0)


def test_nothing_is_told_without_a_count() -> None:
    assert contents_of(user("go"), reply("On it.")) is None


def test_the_context_over_time_has_a_point_for_each_request_of_the_session() -> None:
    lines = [
        user("go"),
        usage_line(100),
        usage_line(100),
        {**usage_line(7_000), "isSidechain": True},
        usage_line(150, id="m2"),
        *compaction(),
        usage_line(40, id="m3"),
    ]
    points = find_context_points(decode(numbered(lines)))
    assert [(point.line, point.tokens) for point in points] == [(2, 100), (5, 150), (8, 40)]
    assert all(point.at for point in points)


@given(st.lists(st.integers(1, 10**6), max_size=400), st.integers(2, 50))
def test_a_thinned_curve_is_bounded_and_keeps_order_and_extremes(
    sizes: list[int], most: int
) -> None:
    points = [ContextPoint(line=n, at="", tokens=size) for n, size in enumerate(sizes, 1)]
    thinned = thin_points(points, most)
    assert len(thinned) <= most
    assert [point.line for point in thinned] == sorted({point.line for point in thinned})
    assert {point.tokens for point in thinned} <= {*sizes}
    if sizes:
        kept = [point.tokens for point in thinned]
        assert (min(kept), max(kept)) == (min(sizes), max(sizes))


def test_fifty_thousand_requests_give_two_thousand_points() -> None:
    events = decode(
        numbered([usage_line(1 + (n * 37) % 200_000, id=f"m{n}") for n in range(50_000)])
    )
    assert 1_000 < len(find_context_points(events)) <= 2_000
