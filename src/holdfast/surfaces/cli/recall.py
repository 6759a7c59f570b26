"""Look up what a brief left out: words, or a line such as L12, L12-15, SESSION:L12 or notes:L12.

Looks in all sessions of this project and their notes unless told otherwise. Every hit begins with
its ref, which `holdfast recall` opens in full and `holdfast show` as it stands in the file.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

from holdfast.actions.lookup import Scope, look_up_in_file, open_desk
from holdfast.actions.recall import Answer, Hit, heading, reference
from holdfast.errors import BadUsage
from holdfast.index.search import Filter
from holdfast.index.texts import KINDS
from holdfast.state.wording import one_line
from holdfast.store.dsn import team_url
from holdfast.surfaces.cli.output import bold, harmless, print_json, say, stamp
from holdfast.surfaces.cli.scope import add_scope_arguments, chosen_scope
from holdfast.surfaces.cli.sessions import open_store
from holdfast.surfaces.cli.team import add_team_argument, look_up


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="words to look for, or a line: L12, L12-15")
    add_scope_arguments(parser, or_transcript="look in this file (also .gz), no store")
    add_team_argument(parser)
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=800,
        metavar="B",
        help="a hard budget in tokens (default: %(default)s)",
    )
    only = parser.add_argument_group("only hits that …")
    only.add_argument(
        "--kind", action="append", choices=KINDS, default=[], help="are of this kind (repeatable)"
    )
    only.add_argument("--file", metavar="PATH", default="", help="have to do with this file")
    only.add_argument("--tool", metavar="NAME", default="", help="are of this tool")
    only.add_argument("--since", metavar="WHEN", help="are not older: 2h, 3d, 2026-11-15")
    only.add_argument(
        "--before-compaction",
        action="store_true",
        help="stand before the last compaction of their session",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    query = " ".join(args.query)
    if not query.strip():
        raise BadUsage("nothing to look for", hint="give words, or a line such as L12")
    if args.max_tokens < 1:
        raise BadUsage("--max-tokens is a positive number")
    own, where, answer = _answer(args, query)
    if args.json:
        print_json(_described(answer, own))
    else:
        _print(answer, own)
    if answer.left_out:
        told = f"{answer.left_out} more do not fit into {args.max_tokens} tokens (--max-tokens)."
        say(told, style="dim")
    for note in answer.notes:
        say(f"{note}.", style="dim")
    if not answer.hits:
        say(f"Nothing in {where} matches {one_line(query, 80)!r}.")
        if not args.team and team_url(os.environ):
            say("--team also looks at what colleagues' machines have sent.", style="dim")
    return 0 if answer.hits else 1


def _answer(args: argparse.Namespace, query: str) -> tuple[str, str, Answer]:
    """The asking session, where it was looked, and what was found."""
    only, budget = _filter(args), args.max_tokens
    if args.transcript is not None:
        return "", args.transcript, look_up_in_file(args.transcript, query, budget, only)
    with open_store() as (store, chosen):
        scope = chosen_scope(store, args, with_team=args.team)
        where = f"{_where(scope)}, here and in the team's store," if args.team else _where(scope)
        with open_desk(store, chosen.index, scope, time.time()) as desk:
            found = look_up(desk, query, budget, only, ledger=chosen.ledger, asked=args.team)
            return desk.own, where, found


def _filter(args: argparse.Namespace) -> Filter:
    return Filter(
        kinds=tuple(args.kind),
        tool=args.tool,
        file=args.file,
        since=_since(args.since) if args.since else 0.0,
        before_compaction=args.before_compaction,
    )


def _since(when: str) -> float:
    from holdfast.actions.moment import moment

    return moment(when, time.time())


def _where(scope: Scope) -> str:
    if scope.session:
        return f"session {scope.session}"
    return scope.project or "any project"


def _print(answer: Answer, own: str) -> None:
    for hit in answer.hits:
        ref, title = reference(hit, own), harmless(heading(hit, own))
        sys.stdout.write(f"{bold(title[: len(ref)])}{title[len(ref) :]}\n{harmless(hit.text)}\n")


def _described(answer: Answer, own: str) -> dict[str, Any]:
    return {
        "hits": [_hit(hit, own) for hit in answer.hits],
        "left_out": answer.left_out,
        "notes": [*answer.notes],
    }


def _hit(hit: Hit, own: str) -> dict[str, Any]:
    return {
        "ref": reference(hit, own),
        "session": hit.session or None,
        "line": hit.line,
        "kind": hit.kind,
        "tool": hit.tool or None,
        "at": stamp(hit.at) if hit.at else None,
        "before_compaction": hit.before,
        "source": _source(hit),
        "text": hit.text,
    }


def _source(hit: Hit) -> str:
    if hit.is_copy or hit.of_team:
        return "stored copy" if hit.is_copy else "team's copy"
    return "notes" if hit.kind == "note" else "transcript"
