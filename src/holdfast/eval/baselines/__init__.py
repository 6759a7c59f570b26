"""What a brief is compared with, each under the same budget."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.eval.baselines.extracts import lexrank, tf_idf_mmr
from holdfast.eval.baselines.material import Material
from holdfast.eval.baselines.names import anchors, dump, grouped_dump, oracle
from holdfast.eval.baselines.tails import actions_tail, head_and_tail, raw_tail, text_tail
from holdfast.eval.baselines.template import template
from holdfast.eval.budget import Budget

Baseline = Callable[[Material, Budget], str]
BASELINES: dict[str, Baseline] = {
    "raw tail": raw_tail,
    "text tail": text_tail,
    "actions tail": actions_tail,
    "head + tail": head_and_tail,
    "LexRank": lexrank,
    "TF-IDF + MMR": tf_idf_mmr,
    "template": template,
    "anchor index": anchors,
    "name dump": dump,
    "name dump by folder": grouped_dump,
    "oracle": oracle,
}
