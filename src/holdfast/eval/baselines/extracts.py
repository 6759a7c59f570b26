"""Baselines from the literature on extractive summaries: LexRank, and TF-IDF with MMR."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import log, sqrt

from holdfast.eval.baselines.context import CutContext
from holdfast.eval.budget import TokenBudget

# Without a matrix library the graph must stay small; the latest sentences are kept.
MAX_SENTENCES = 400
MAX_SENTENCE_CHARS = 300
DAMPING, ITERATIONS = 0.85, 30
# The weight of relevance against novelty.
RELEVANCE = 0.7
MAX_SELECTED = 150
WORD = re.compile(r"\w+")

Vector = dict[str, float]


def lexrank(context: CutContext, budget: TokenBudget) -> str:
    return _extract("lexrank", context, budget)


def tf_idf_mmr(context: CutContext, budget: TokenBudget) -> str:
    return _extract("mmr", context, budget)


def _extract(name: str, context: CutContext, budget: TokenBudget) -> str:
    """Return the best sentences that fit, in their original order."""
    sentences = _sentences(context)
    if name not in context.rankings:
        vectors = _vectors(sentences)
        similarities = _similarities(vectors)
        context.rankings[name] = (
            _by_centrality(similarities) if name == "lexrank" else _by_mmr(vectors, similarities)
        )
    return budget.fill(
        context.rankings[name],
        lambda selected: "\n".join(sentences[number] for number in sorted(selected)),
    )


def _sentences(context: CutContext) -> list[str]:
    lines = [
        line.strip()[:MAX_SENTENCE_CHARS] for text in context.actions for line in text.splitlines()
    ]
    return list(dict.fromkeys(line for line in lines if len(line) > 10))[-MAX_SENTENCES:]


def _vectors(sentences: list[str]) -> list[Vector]:
    """Return the TF-IDF vector of each sentence, normalized to length one."""
    counts = [Counter(WORD.findall(sentence)) for sentence in sentences]
    document_counts = Counter(word for count in counts for word in count)
    vectors = []
    for count in counts:
        vector = {
            word: times * log(1 + len(counts) / document_counts[word])
            for word, times in count.items()
        }
        norm = sqrt(sum(value * value for value in vector.values())) or 1.0
        vectors.append({word: value / norm for word, value in vector.items()})
    return vectors


def _similarities(vectors: list[Vector]) -> list[dict[int, float]]:
    """Return, for each sentence, its cosine similarity to each other one, by number."""
    sentences_by_word: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, vector in enumerate(vectors):
        for word, value in vector.items():
            sentences_by_word[word].append((number, value))
    similarities: list[dict[int, float]] = [defaultdict(float) for _ in vectors]
    for entries in sentences_by_word.values():
        for first, value in entries:
            row = similarities[first]
            for second, other in entries:
                row[second] += value * other
    return similarities


def _by_centrality(similarities: list[dict[int, float]]) -> list[int]:
    """Rank by continuous LexRank: links are weighted by the similarity of the sentences."""
    size = len(similarities) or 1
    shares: list[list[tuple[int, float]]] = []
    for number, row in enumerate(similarities):
        others = {other: similarity for other, similarity in row.items() if other != number}
        total = sum(others.values()) or 1.0
        shares.append([(other, similarity / total) for other, similarity in others.items()])
    scores = [1 / size] * len(similarities)
    for _ in range(ITERATIONS):
        next_scores = [(1 - DAMPING) / size] * len(similarities)
        for score, links in zip(scores, shares, strict=True):
            for other, share in links:
                next_scores[other] += DAMPING * score * share
        scores = next_scores
    return sorted(range(len(similarities)), key=lambda number: (-scores[number], number))


def _by_mmr(vectors: list[Vector], similarities: list[dict[int, float]]) -> list[int]:
    """Rank by maximal marginal relevance: near to the whole text, far from selected sentences."""
    whole: Vector = defaultdict(float)
    for vector in vectors:
        for word, value in vector.items():
            whole[word] += value
    norm = sqrt(sum(value * value for value in whole.values())) or 1.0
    relevance = [
        sum(value * whole[word] for word, value in vector.items()) / norm for vector in vectors
    ]
    left, selected, closest = set(range(len(vectors))), list[int](), [0.0] * len(vectors)
    while left and len(selected) < MAX_SELECTED:
        best = max(
            left, key=lambda n: (RELEVANCE * relevance[n] - (1 - RELEVANCE) * closest[n], -n)
        )
        selected.append(best)
        left.discard(best)
        for other, similarity in similarities[best].items():
            closest[other] = max(closest[other], similarity)
    return selected
