"""Extractive summaries as the literature has them: LexRank, and TF-IDF with MMR."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import log, sqrt

from holdfast.eval.baselines.material import Material
from holdfast.eval.budget import Budget

# Without a matrix library the graph must stay small: the latest sentences are the likeliest.
MOST_SENTENCES = 400
LONGEST = 300
DAMPING, ROUNDS = 0.85, 30
RELEVANCE = 0.7
MOST_CHOSEN = 150
WORD = re.compile(r"\w+")

Vector = dict[str, float]


def lexrank(material: Material, budget: Budget) -> str:
    return _extract("lexrank", material, budget)


def tf_idf_mmr(material: Material, budget: Budget) -> str:
    return _extract("mmr", material, budget)


def _extract(name: str, material: Material, budget: Budget) -> str:
    """The best sentences that fit, in their own order."""
    sentences = _sentences(material)
    if name not in material.rankings:
        vectors = _vectors(sentences)
        near = _similarities(vectors)
        material.rankings[name] = (
            _by_centrality(near) if name == "lexrank" else _by_mmr(vectors, near)
        )
    return budget.most(
        material.rankings[name],
        lambda chosen: "\n".join(sentences[number] for number in sorted(chosen)),
    )


def _sentences(material: Material) -> list[str]:
    lines = [line.strip()[:LONGEST] for text in material.actions for line in text.splitlines()]
    return list(dict.fromkeys(line for line in lines if len(line) > 10))[-MOST_SENTENCES:]


def _vectors(sentences: list[str]) -> list[Vector]:
    """Words weighed by how rare they are, each vector of length one."""
    counts = [Counter(WORD.findall(sentence)) for sentence in sentences]
    spread = Counter(word for count in counts for word in count)
    vectors = []
    for count in counts:
        vector = {
            word: times * log(1 + len(counts) / spread[word]) for word, times in count.items()
        }
        norm = sqrt(sum(value * value for value in vector.values())) or 1.0
        vectors.append({word: value / norm for word, value in vector.items()})
    return vectors


def _similarities(vectors: list[Vector]) -> list[dict[int, float]]:
    holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, vector in enumerate(vectors):
        for word, value in vector.items():
            holders[word].append((number, value))
    near: list[dict[int, float]] = [defaultdict(float) for _ in vectors]
    for found in holders.values():
        for first, value in found:
            row = near[first]
            for second, other in found:
                row[second] += value * other
    return near


def _by_centrality(near: list[dict[int, float]]) -> list[int]:
    """Continuous LexRank: links weigh as much as the sentences are alike."""
    size = len(near) or 1
    shares: list[list[tuple[int, float]]] = []
    for number, row in enumerate(near):
        others = {other: likeness for other, likeness in row.items() if other != number}
        whole = sum(others.values()) or 1.0
        shares.append([(other, likeness / whole) for other, likeness in others.items()])
    scores = [1 / size] * len(near)
    for _ in range(ROUNDS):
        fresh = [(1 - DAMPING) / size] * len(near)
        for score, links in zip(scores, shares, strict=True):
            for other, share in links:
                fresh[other] += DAMPING * score * share
        scores = fresh
    return sorted(range(len(near)), key=lambda number: (-scores[number], number))


def _by_mmr(vectors: list[Vector], near: list[dict[int, float]]) -> list[int]:
    """Near to the whole, far from what was chosen before."""
    whole: Vector = defaultdict(float)
    for vector in vectors:
        for word, value in vector.items():
            whole[word] += value
    norm = sqrt(sum(value * value for value in whole.values())) or 1.0
    fit = [sum(value * whole[word] for word, value in one.items()) / norm for one in vectors]
    left, chosen, closest = set(range(len(vectors))), list[int](), [0.0] * len(vectors)
    while left and len(chosen) < MOST_CHOSEN:
        best = max(left, key=lambda n: (RELEVANCE * fit[n] - (1 - RELEVANCE) * closest[n], -n))
        chosen.append(best)
        left.discard(best)
        for other, likeness in near[best].items():
            closest[other] = max(closest[other], likeness)
    return chosen
