"""Tells the user's standing rules and decisions from requests for one action and from remarks.

A standing rule binds for the rest of the session: “never push”, “end every reply with …”. A
decision settles one question: “let's go with B”. Words decide, without a model, and a doubtful
sentence is neither. The forms were chosen on labelled sentences of real sessions.
"""

from __future__ import annotations

from holdfast.state.text import Cues, TokenizedText

# Words that make a sentence a standing rule.
STANDING = Cues(
    "always", "never", "from now on", "whenever", "every time", "each time", "in future",
    "going forward", "at all times", "under no circumstances", "no matter", "must", "must not",
    "mustn't", "forbidden", "not allowed", "off limits", "hands off", "leave alone", "stick to",
    "please use", "keep it", "overriding", "regardless of", "by default", "required", "throughout",
    "everywhere", "at least", "at most", "except for", "i grant", "keep in mind", "remember to",
    "remember that", "should never", "has to be", "have to be", "needs to be", "need to be",
    "has to work", "has to stay", "have to stay",
    # Other languages.
    "niemals", "auf keinen fall", "bitte nicht", "immer", "unbedingt", "jamais", "toujours",
    "il faut", "nunca", "jamás", "siempre", "hay que", "sempre", "não", "не надо",
    anywhere=("하지 마", "하지마", "지 말", "금지", "절대", "반드시", "항상", "만 사용", "유지",
              "しないで", "禁止", "ないでください", "必ず", "常に", "不要", "必须", "总是", "务必",
              "никогда", "нельзя", "всегда", "обязательно"),
)  # fmt: skip
# Phrases with one of those words that are no rules.
NOT_STANDING = (
    " i keep ", " keep going ", " i always ", " we always ", " can always ", " don't always ",
    " doesn't always ", " i never ", " it never ", " they never ", " we never ",
    " it must have ", " that must have ",
    " must be because ", " at least it ", " at least we ", " at least i ", " i must ",
    " keep in touch ", " leave this for now ",
)  # fmt: skip
OBSERVATION_STARTS = ("i see", "i got", "i saw", "it seems", "there is", "there are", "it looks")
NEGATIVE_IMPERATIVES = ("don't", "dont", "never", "avoid", "stop", "no")
INNER_NEGATIVES = tuple(
    f" {lead} {negation} "
    for lead in ("please", "and", "but", "so", "you")
    for negation in ("don't", "dont", "do not", "never")
)
CONDITION_STARTS = (
    "before you", "when you", "after you", "after each", "after every", "if you", "whenever you",
    "before every", "before each", "before any", "when writing", "when editing",
)  # fmt: skip
# Imperatives that bind when a sentence begins with them.
BINDING_STARTS = (
    "keep", "leave", "make sure", "ensure", "prefer", "correction", "no longer", "preserve",
    "maintain", "respect", "limit",
)  # fmt: skip
QUANTIFIERS = frozenset(("every", "each", "all", "any", "whenever", "only"))
# How many words after an imperative are searched for a quantifier.
QUANTIFIER_DISTANCE = 5
IMPERATIVES = frozenset((
    "use", "write", "end", "keep", "make", "put", "prefix", "start", "begin", "run", "leave",
    "prefer", "follow", "include", "add", "call", "name", "answer", "reply", "say", "ask", "check",
    "treat", "return", "format", "sign", "document", "mark", "stay", "work", "commit", "only",
    "ensure", "limit", "store", "log", "wrap", "finish", "close", "open", "tag",
))  # fmt: skip
WISHES = (
    " i want the ", " i want all ", " i want every ", " i want it to ", " i also want ",
    " we want the ", " we want all ", " we want every ",
)  # fmt: skip
# Questions that ask for a way of working rather than for an answer.
POLITE_RULES = (" any chance we ", " can we stick to ", " can you always ", " could you always ")
DECISIONS = (
    " go with ", " going with ", " i like option ", " i think a ", " i think b ", " i think c ",
    " i'd prefer ", " i prefer ", " rather than ",
    " instead of ", " for now ", " i decided ", " we decided ", " agreed ", " no need ",
    " too much ", " to much ", " not the way ", " i don't want ", " we don't want ",
    " i don't like ", " i'd rather ", " we'll use ", " makes sense to ",
    " out of scope ", " next phase ", " separate phase ", " follow up ", " no longer ",
    " decision ", " good idea ", " let's use ", " lets use ", " won't work ", " ruled out ",
    " dead end ", " not an option ",
)  # fmt: skip
# `Let's …` with one of these is a request for one action.
ONE_OFF_VERBS = frozenset((
    "proceed", "continue", "see", "check", "look", "commit", "push", "run", "pop", "start", "wait",
    "keep", "first", "get", "find", "verify", "merge", "rebase", "test", "move", "do", "go",
    "update", "mark", "review", "examine", "implement", "fix", "discuss", "create", "write",
))  # fmt: skip
WEAK_SHOULD = (
    " should have ", " should mean ", " should be able ", " this should ", " that should ",
    " should be correct ", " i should ", " it should ", " should we ", " should i ",
)  # fmt: skip
# Words before the point of a sentence.
LEADS = frozenset((
    "and", "but", "also", "so", "ok", "okay", "please", "then", "yes", "no", "yeah", "well", "oh",
    "hmm", "actually", "btw", "plus", "though", "yep", "sure",
))  # fmt: skip
# “Yes” alone decides nothing that the question, which is shown beside it, does not say.
ANSWER_STARTS = ("a", "b", "c", "d", "1", "2", "3", "4", "5", "option", "no")
MAX_ANSWER_WORDS = 20
MIN_WORDS = 2
# So few words, such as “2 and 3”, are no pasted output.
MAX_UNCHECKED_WORDS = 4


def classify_sentence(sentence: str, *, is_answer: bool = False) -> str:
    """Return `standing`, `decision` or "" for a sentence of the user.

    `is_answer` says that the message answers a question of the agent.
    """
    tokens = TokenizedText(sentence)
    words = tokens.words
    if not words or (_is_output(words) and len(words) > MAX_UNCHECKED_WORDS):
        return ""
    body = _without_leads(words)
    padded = f" {' '.join(body)} "
    if _is_question(sentence):
        return "standing" if any(phrase in padded for phrase in POLITE_RULES) else ""
    if sentence.endswith(":"):
        # It announces what follows.
        return ""
    if len(body) >= MIN_WORDS and _is_standing(body, padded, tokens):
        return "standing"
    return "decision" if _is_decision(words, padded, is_answer) else ""


def is_prohibition(sentence: str) -> bool:
    """Whether a standing rule forbids something."""
    padded = TokenizedText(sentence).padded
    return any(f" {negation} " in padded for negation in _NEGATIONS)


_NEGATIONS = (
    "don't", "dont", "do not", "never", "avoid", "must not", "mustn't", "without", "stop",
    "forbidden", "not allowed", "hands off", "off limits", "leave alone", "no longer",
)  # fmt: skip


def _is_standing(body: list[str], padded: str, tokens: TokenizedText) -> bool:
    if padded.startswith(" never mind "):
        return False
    if body[0] in NEGATIVE_IMPERATIVES[:-1] or padded.startswith(" do not "):
        return True
    if any(phrase in padded for phrase in INNER_NEGATIVES):
        return True
    is_observation = padded.startswith(tuple(f" {start} " for start in OBSERVATION_STARTS))
    is_idiom = any(phrase in padded for phrase in NOT_STANDING)
    if STANDING.match(tokens) and not is_observation and not is_idiom:
        return True
    if padded.startswith(tuple(f" {start} " for start in (*CONDITION_STARTS, *BINDING_STARTS))):
        return not is_idiom
    if body[0] in IMPERATIVES and " without " in padded:
        return True
    if body[0] in IMPERATIVES and QUANTIFIERS.intersection(body[: QUANTIFIER_DISTANCE + 1]):
        return True
    return any(wish in padded for wish in WISHES)


def _is_decision(words: list[str], padded: str, is_answer: bool) -> bool:
    if any(phrase in padded for phrase in DECISIONS):
        return True
    for lets in (" let's ", " lets "):
        if lets in padded:
            following = padded.partition(lets)[2].split()
            return bool(following) and following[0] not in ONE_OFF_VERBS
    if " should " in padded and not any(phrase in padded for phrase in WEAK_SHOULD):
        return True
    return is_answer and len(words) <= MAX_ANSWER_WORDS and words[0] in ANSWER_STARTS


def _without_leads(words: list[str]) -> list[str]:
    start = 0
    while start < len(words) - MIN_WORDS and words[start] in LEADS:
        if words[start] == "no" and words[start + 1] in ("longer", "more"):
            break
        start += 1
    return words[start:]


def _is_question(sentence: str) -> bool:
    return "? " in sentence or sentence.rstrip(")\"'” ").endswith(("?", "？"))


def _is_output(words: list[str]) -> bool:
    """Whether this is pasted output: less than half of its tokens are words."""
    return 2 * sum(word.replace("'", "").replace("-", "").isalpha() for word in words) < len(words)
