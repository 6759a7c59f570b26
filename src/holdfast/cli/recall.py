"""Search for words, or open a line such as L12, L12-15, SESSION:L12 or notes:L12.

By default it searches all sessions of this project and their notes. Every hit begins with its ref:
`holdfast recall REF` prints the whole text, `holdfast show REF` the raw line of the file.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

from holdfast.cli.console import bold, print_json, print_message, strip_control_chars, to_iso_time
from holdfast.cli.options import add_scope_arguments, add_team_argument, find_scope
from holdfast.errors import InvalidInput
from holdfast.search.documents import KINDS
from holdfast.search.search import Filter
from holdfast.services.recall.lookup import (
    Hit,
    LookupAnswer,
    LookupScope,
    look_up_in_file,
    open_lookup,
    render_heading,
    to_ref,
)
from holdfast.services.recall.team_lookup import look_up_with_team
from holdfast.services.sessions import open_store
from holdfast.state.text import one_line
from holdfast.store.dsn import find_team_url


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="words to search for, or a line: L12, L12-15")
    add_scope_arguments(parser, or_transcript="search this file (also .gz), without the store")
    add_team_argument(parser)
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=800,
        metavar="B",
        help="hard limit in tokens (default: %(default)s)",
    )
    filters = parser.add_argument_group("filters")
    filters.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        default=[],
        help="only hits of this kind (repeatable)",
    )
    filters.add_argument(
        "--file", metavar="PATH", default="", help="only hits that concern this file"
    )
    filters.add_argument(
        "--tool", metavar="NAME", default="", help="only calls and results of this tool"
    )
    filters.add_argument("--since", metavar="WHEN", help="only hits since then: 2h, 3d, 2026-11-15")
    filters.add_argument(
        "--before-compaction",
        action="store_true",
        help="only hits before the last compaction of their session",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    query = " ".join(args.query)
    if not query.strip():
        raise InvalidInput("No search words were given", hint="give words, or a line such as L12")
    if args.max_tokens < 1:
        raise InvalidInput("--max-tokens takes a positive number")
    own, where, answer = _look_up(args, query)
    if args.json:
        print_json(_to_json(answer, own))
    else:
        _print_hits(answer, own)
    if answer.left_out:
        message = f"{answer.left_out} more do not fit into {args.max_tokens} tokens (--max-tokens)."
        print_message(message, style="dim")
    for note in answer.notes:
        print_message(f"{note}.", style="dim")
    if not answer.hits:
        print_message(f"Nothing in {where} matches {one_line(query, 80)!r}.")
        if not args.team and find_team_url(os.environ):
            print_message(
                "--team also searches what other machines have sent to the team.", style="dim"
            )
    return 0 if answer.hits else 1


def _look_up(args: argparse.Namespace, query: str) -> tuple[str, str, LookupAnswer]:
    """Return the calling session, a description of the scope, and the hits."""
    filters, budget = _make_filter(args), args.max_tokens
    if args.transcript is not None:
        return "", args.transcript, look_up_in_file(args.transcript, query, budget, filters)
    with open_store() as (store, config):
        scope = find_scope(store, args, with_team=args.team)
        where = (
            f"{_describe_scope(scope)}, on this machine and in the team's database,"
            if args.team
            else _describe_scope(scope)
        )
        with open_lookup(store, config.index, scope, time.time()) as lookup:
            answer = look_up_with_team(
                lookup, query, budget, filters, ledger=config.ledger, include_team=args.team
            )
            return lookup.own, where, answer


def _make_filter(args: argparse.Namespace) -> Filter:
    return Filter(
        kinds=tuple(args.kind),
        tool=args.tool,
        file=args.file,
        since=_parse_since(args.since) if args.since else 0.0,
        before_compaction=args.before_compaction,
    )


def _parse_since(when: str) -> float:
    from holdfast.services.time_parsing import parse_time

    return parse_time(when, time.time())


def _describe_scope(scope: LookupScope) -> str:
    if scope.session:
        return f"session {scope.session}"
    return scope.project or "any project"


def _print_hits(answer: LookupAnswer, own: str) -> None:
    for hit in answer.hits:
        ref, title = to_ref(hit, own), strip_control_chars(render_heading(hit, own))
        sys.stdout.write(
            f"{bold(title[: len(ref)])}{title[len(ref) :]}\n{strip_control_chars(hit.text)}\n"
        )


def _to_json(answer: LookupAnswer, own: str) -> dict[str, Any]:
    return {
        "hits": [_hit_to_json(hit, own) for hit in answer.hits],
        "left_out": answer.left_out,
        "notes": [*answer.notes],
    }


def _hit_to_json(hit: Hit, own: str) -> dict[str, Any]:
    return {
        "ref": to_ref(hit, own),
        "session": hit.session or None,
        "line": hit.line,
        "kind": hit.kind,
        "tool": hit.tool or None,
        "at": to_iso_time(hit.at) if hit.at else None,
        "before_compaction": hit.before,
        "source": _source_of(hit),
        "text": hit.text,
    }


def _source_of(hit: Hit) -> str:
    if hit.is_copy or hit.of_team:
        return "stored copy" if hit.is_copy else "team's copy"
    return "notes" if hit.kind == "note" else "transcript"
