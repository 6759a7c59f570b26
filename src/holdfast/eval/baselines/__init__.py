"""The baselines that a brief is compared with, each under the same budget."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.eval.baselines.context import CutContext
from holdfast.eval.baselines.extracts import lexrank, tf_idf_mmr
from holdfast.eval.baselines.names import anchor_index, grouped_name_dump, name_dump, oracle
from holdfast.eval.baselines.template import template
from holdfast.eval.budget import TokenBudget

HEAD_SHARE = 0.25


def raw_tail(context: CutContext, budget: TokenBudget) -> str:
    return budget.take_end(context.full_text)


def text_tail(context: CutContext, budget: TokenBudget) -> str:
    return budget.take_end(context.conversation)


def actions_tail(context: CutContext, budget: TokenBudget) -> str:
    return budget.take_end("\n".join(context.actions[-2000:]))


def head_and_tail(context: CutContext, budget: TokenBudget) -> str:
    """Return the first request and the last actions."""
    first = next((piece.text for piece in context.pieces if piece.kind == "prompt"), "")
    head = budget.with_tokens(budget.tokens * HEAD_SHARE).take_start(first)
    rest = budget.with_tokens(budget.tokens - budget.count(head) - 1)
    return f"{head}\n{actions_tail(context, rest)}"


Baseline = Callable[[CutContext, TokenBudget], str]
BASELINES: dict[str, Baseline] = {
    "raw tail": raw_tail,
    "text tail": text_tail,
    "actions tail": actions_tail,
    "head + tail": head_and_tail,
    "LexRank": lexrank,
    "TF-IDF + MMR": tf_idf_mmr,
    "template": template,
    "anchor index": anchor_index,
    "name dump": name_dump,
    "name dump by folder": grouped_name_dump,
    "oracle": oracle,
}
