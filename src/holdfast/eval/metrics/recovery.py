"""M7: is what a brief does not hold one lookup away? Retained, by reference, by search, or lost."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.eval.matching import Said
from holdfast.eval.pointers import names_lookup, refs
from holdfast.eval.references import References
from holdfast.eval.session import Session

MOST_LOOKUPS = 3


def recovery(
    said: Said, references: References, session: Session, lookup: Callable[[str], str] | None
) -> dict[str, float]:
    """Shares of G. Searches take long: the heaviest missing entities stand for all of them."""
    weights = references.weights
    retained = {entity for entity in weights if said.says(entity)}
    targets = Said("\n".join(session.text_of(line) for line in set(refs(said.text))), session.paths)
    pointed = {one for one in weights if one not in retained and targets.says(one)}
    missing = sorted(set(weights) - retained - pointed, key=lambda one: (-weights[one], one))
    whole = len(weights)
    found = {"retained": len(retained) / whole, "by_reference": len(pointed) / whole}
    if lookup is None or not names_lookup(said.text):
        return found
    tried = missing[:MOST_LOOKUPS]
    hits = sum(Said(lookup(name), session.paths).says((kind, name)) for kind, name in tried)
    share = hits / len(tried) if tried else 1.0
    by_search = share * len(missing) / whole
    return {**found, "by_search": by_search, "lost": (1 - share) * len(missing) / whole}
