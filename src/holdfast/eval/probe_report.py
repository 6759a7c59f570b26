"""Score the texts of each case against its questions, and sum up all cases.

The texts ("arms") are the host's summary, the brief alone, and both together, at each budget.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.eval.probes import Case, Probe, find_missing_groups, fold_spaces
from holdfast.eval.statistics import Key, PooledEstimate, estimate_pooled

SUMMARY_ARM = "summary"
MAX_SECTIONS_SHOWN = 12
# The part of a brief before its first heading.
OPENING = "opening"
HEADING = "## "
TableRow = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefTexts:
    """The briefs of one budget: for a reader without the summary, and for one that has it."""

    budget: int
    alone: str
    beside_summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether one text answers one question."""

    case: int
    key: Key
    probe: Probe
    arm: str
    missing: tuple[tuple[str, ...], ...]  # the groups of keys that the text lacks

    @property
    def is_answered(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScores:
    """All answers of one case, and how many characters each section of its largest brief has."""

    case: Case
    answers: tuple[Answer, ...]
    sections: dict[str, int]


def score_case(
    case: Case, summary: str, build_texts: Callable[[Case, str], Sequence[BriefTexts]]
) -> CaseScores:
    """Return the answers of every arm. `build_texts` returns the briefs, one pair per budget."""
    texts = build_texts(case, summary)
    arms = {SUMMARY_ARM: summary}
    for brief in texts:
        arms[name_brief_arm(brief.budget)] = brief.alone
        arms[name_joint_arm(brief.budget)] = f"{summary}\n{brief.beside_summary}"
    folded = {arm: fold_spaces(text) for arm, text in arms.items()}
    largest = max(texts, key=lambda brief: brief.budget)
    return CaseScores(
        case=case,
        answers=tuple(
            Answer(
                case=case.number,
                key=case.key,
                probe=probe,
                arm=arm,
                missing=find_missing_groups(text, probe),
            )
            for probe in case.probes
            for arm, text in folded.items()
        ),
        sections=count_section_chars(largest.beside_summary),
    )


def name_brief_arm(budget: int) -> str:
    return f"brief@{budget}"


def name_joint_arm(budget: int) -> str:
    return f"{SUMMARY_ARM} + {name_brief_arm(budget)}"


def count_section_chars(brief: str) -> dict[str, int]:
    """Return the number of characters of each section of a brief, without line ends."""
    counts: Counter[str] = Counter()
    section = OPENING
    for line in brief.split("\n"):
        section = line.removeprefix(HEADING) if line.startswith(HEADING) else section
        counts[section] += len(line)
    return dict(counts)


def build_probe_report(scored: Sequence[CaseScores], budgets: Sequence[int]) -> dict[str, Any]:
    """Return the report as it is printed with `--json`."""
    answers = [answer for scores in scored for answer in scores.answers]
    arms = list(dict.fromkeys(answer.arm for answer in answers))
    by_arm = {arm: [answer for answer in answers if answer.arm == arm] for arm in arms}
    return {
        "cases": len(scored),
        "sessions": len({scores.case.key for scores in scored}),
        "questions": sum(len(scores.case.probes) for scores in scored),
        "budgets": list(budgets),
        "categories": sorted({answer.probe.category for answer in answers}),
        "arms": [_sum_up_arm(arm, by_arm) for arm in arms],
        "sections": _to_shares(scores.sections for scores in scored),
        "misses": list(_find_misses(scored, name_joint_arm(max(budgets)))),
        "answers": [
            {
                "case": answer.case,
                "n": answer.probe.number,
                "category": answer.probe.category,
                "arm": answer.arm,
                "ok": answer.is_answered,
            }
            for answer in answers
        ],
    }


def _sum_up_arm(arm: str, by_arm: dict[str, list[Answer]]) -> dict[str, Any]:
    answers, summary = by_arm[arm], by_arm[SUMMARY_ARM]
    by_category: dict[str, list[tuple[Key, float]]] = defaultdict(list)
    for answer in answers:
        by_category[answer.probe.category].append((answer.key, float(answer.is_answered)))
    gain = estimate_pooled(
        (answer.key, float(answer.is_answered) - float(before.is_answered))
        for answer, before in zip(answers, summary, strict=True)
    )
    return {
        "arm": arm,
        "all": asdict(
            estimate_pooled((answer.key, float(answer.is_answered)) for answer in answers)
        ),
        # Only a text that contains the summary adds something to it.
        "gain": asdict(gain) if arm.startswith(f"{SUMMARY_ARM} + ") else None,
        "categories": {
            category: asdict(estimate_pooled(values)) for category, values in by_category.items()
        },
    }


def _to_shares(sections: Iterable[dict[str, int]]) -> dict[str, float]:
    """Return the share of each section in the characters of all briefs, the largest first."""
    counts: Counter[str] = Counter()
    for each in sections:
        counts.update(each)
    total = sum(counts.values())
    return {name: count / total for name, count in counts.most_common()} if total else {}


def _find_misses(scored: Sequence[CaseScores], arm: str) -> Iterable[dict[str, Any]]:
    for scores in scored:
        for answer in scores.answers:
            if answer.arm == arm and answer.missing:
                yield {
                    "case": answer.case,
                    "transcript": scores.case.transcript,
                    "n": answer.probe.number,
                    "category": answer.probe.category,
                    "question": answer.probe.question,
                    "answer": answer.probe.answer,
                    "lines": list(answer.probe.lines),
                    "missing": [list(group) for group in answer.missing],
                }


def probe_table(report: dict[str, Any]) -> tuple[TableRow, list[TableRow]]:
    """Return the per cent answered by every arm, overall and by category, with intervals."""
    categories = report["categories"]
    rows = [
        (
            arm["arm"],
            render_share(arm["all"]),
            _render_gain(arm["gain"]),
            *(render_share(arm["categories"][category], decimals=0) for category in categories),
        )
        for arm in report["arms"]
    ]
    return ("% answered", "all", "gain", *categories), rows


def describe_sections(report: dict[str, Any]) -> str:
    """Return the shares of the largest sections as one line of text."""
    shares = list(report["sections"].items())[:MAX_SECTIONS_SHOWN]
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares)


def render_share(share: dict[str, Any], decimals: int = 1) -> str:
    """Return a share in per cent with its interval; a dash if it is a share of nothing."""
    estimate = PooledEstimate(**share)
    if not estimate.values:
        return "–"
    mean = f"{100 * estimate.mean:.{decimals}f}"
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def _render_gain(gain: dict[str, Any] | None) -> str:
    if gain is None:
        return ""
    estimate = PooledEstimate(**gain)
    mean = f"{100 * estimate.mean:+.1f}"
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} [{100 * estimate.low:+.0f}, {100 * estimate.high:+.0f}]"
