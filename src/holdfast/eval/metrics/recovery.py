"""Measure what is needed by how it is reached: in the brief, by reference, by search, or lost."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.eval.line_refs import find_refs, names_lookup
from holdfast.eval.matching import TextMatcher
from holdfast.eval.references import References
from holdfast.eval.session import Session

MAX_LOOKUPS = 3


def measure_recovery(
    matcher: TextMatcher,
    references: References,
    session: Session,
    lookup: Callable[[str], str] | None,
) -> dict[str, float]:
    """Return shares of what is needed.

    Searches are slow, so only the missing entities with the highest weights are searched, and
    their share stands for all. Without a lookup, or if the brief does not name it, the shares of
    found and lost entities are left out.
    """
    weights = references.weights
    retained = {entity for entity in weights if matcher.mentions(entity)}
    targets = TextMatcher(
        "\n".join(session.line_text(line) for line in set(find_refs(matcher.text))), session.paths
    )
    referenced = {
        entity for entity in weights if entity not in retained and targets.mentions(entity)
    }
    missing = sorted(
        set(weights) - retained - referenced, key=lambda entity: (-weights[entity], entity)
    )
    total = len(weights)
    shares = {"retained": len(retained) / total, "by_reference": len(referenced) / total}
    if lookup is None or not names_lookup(matcher.text):
        return shares
    sample = missing[:MAX_LOOKUPS]
    hits = sum(
        TextMatcher(lookup(name), session.paths).mentions((kind, name)) for kind, name in sample
    )
    share = hits / len(sample) if sample else 1.0
    by_search = share * len(missing) / total
    return {**shares, "by_search": by_search, "lost": (1 - share) * len(missing) / total}
