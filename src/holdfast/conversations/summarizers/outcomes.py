"""Finds out how work ended from what was said: done, failed, given up, resolved or still open.

Words decide, without a model. In doubt work counts as open: redoing something costs less than
believing that it was done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from holdfast.conversations.item_matching import item_subject, shared_word_count
from holdfast.state.text import content_words, padded_words, split_sentences

DONE, FAILED, GIVEN_UP, OPEN = "done", "failed", "given up", "open"

# Always a failure.
FAILURE_PATTERN = re.compile(
    r"\b(?:still (?:fail\w*|broken|red|crash\w*|not\b)|no luck|without success|unsuccessful\w*"
    r"|(?:do|does|did|is|was|are|were|has|have)(?: not|n't)(?: \w+)? (?:work\w*|possible|pass\w*"
    r"|compil\w*|build\w*|succeed\w*|done|finish\w*|complete\w*|help\w*)"
    r"|could(?: not|n't)|unable to|(?:i|we|it|that|this) (?:can't|cannot|can not)"
    r"|not (?:done|finished|working|fixed|complete\w*|possible)|incomplete|unfinished|aborted"
    r"|ga?ve up|giving up|given up|abandon\w*|back(?:ed|ing) out|rolled back|revert(?:ed|ing)|undid"
    r"|dead end)\b",
    re.IGNORECASE,
)
# A failure unless the same sentence says that it is fixed.
WEAK_FAILURE_PATTERN = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash(?:es|ed)?|timed out|is broken|blocked)\b",
    re.IGNORECASE,
)
COUNTED_FAILURE_PATTERN = re.compile(r"\b[1-9]\d* (?:tests? )?(?:failed|failures?|errors?)\b", re.I)
HARMLESS_PATTERN = re.compile(
    r"\b(?:no|0|zero|without|any|no more|no longer|never|nothing|none|not|used to)\b(?: \w+){0,2}? "
    r"(?:fail\w*|errors?|crash\w*)|\berror[ -](?:handling|messages?)",
    re.IGNORECASE,
)
FIXED_PATTERN = re.compile(
    r"\b(?:(?<!to )fix(?:es|ed)?|resolved|solved|repaired|handled)\b", re.IGNORECASE
)
SUCCESS_PATTERN = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|works?|green|added|add|handles?|returns?|raises?|reports?|retries|"
    r"retry|logs|shows?|catch(?:es)?|explains?)\b",
    re.IGNORECASE,
)
DONE_PATTERN = re.compile(
    r"\b(?:done|finished|completed?|implemented|added|fixed|wrote|written|created|built|merged"
    r"|shipped|deployed|pass(?:es|ed)?|works|ready|renamed|removed|updated|migrated|refactored"
    r"|replaced|documented|committed|changed|moved|deleted|in place)\b",
    re.IGNORECASE,
)
# The text of an item that was marked as done, but says that the work was dropped or failed. Such
# words count only where they comment on the work: “handle cancelled orders” is a task.
_DROPPED = (
    r"(?:ga?ve up|given up|abandoned|cancell?ed|dropped|reverted|rolled back|skipped|won't do"
    r"|wontfix|obsolete|no longer needed|not needed)\b"
)
_COMMENT = r"[(\[,;:—–]\s*|\s-\s+"
DROPPED_ITEM_PATTERN = re.compile(
    rf"~~|^{_DROPPED}|(?:{_COMMENT})(?:but |it |was |then |and |later |i |we )*{_DROPPED}"
    r"|\b(?:i|we) (?:gave up|abandoned|reverted|dropped)\b",
    re.IGNORECASE,
)
FAILED_ITEM_PATTERN = re.compile(
    rf"(?:{_COMMENT})(?:but |it |still |and |which |this |that |then |tests? )*(?:fail(?:s|ed|ing)"
    r"|did(?:n't| not) work|does(?:n't| not) work|could(?:n't| not)|unable|timed out|broken|crash"
    r"|not (?:done|working|finished|possible))|^(?:failed to|could not|couldn't|unable to)\b"
    r"|\bbut\b.*\b(?:fail\w*|did(?:n't| not)|does(?:n't| not)|could(?:n't| not)|broken)\b"
    r"|\b(?:failed|fails|not working|doesn't work|did(?:n't| not) work|unsuccessfully"
    r"|without success|no luck)\W*$",
    re.IGNORECASE,
)
# Tasks that are about a failure.
REPAIR_PATTERN = re.compile(
    r"^\W*(?:fix|debug|investigat|handle|find|reproduc|analy[sz]|explain|repair|resolv|check|retry"
    r"|test|document|report|look)\w*\b(?!.*\bbut\b)",
    re.IGNORECASE,
)
GIVE_UP_PATTERN = re.compile(
    r"\b(?:forget (?:about|it|that|this|the)|never ?mind|drop (?:it|that|this|the)|scratch that"
    r"|abandon|give up(?: on)?|skip (?:it|that|this|the)|(?:don't|do not) bother(?: with)?"
    r"|leave (?:it|that|this)(?: be| alone)?$|cancel (?:it|that|this|the)|stop working on"
    r"|(?:don't|do not) need (?:it|that|this|the)|no longer need(?:ed)?(?: the)?"
    r"|not needed any ?more)\b",
    re.IGNORECASE,
)
CLAUSE_END_PATTERN = re.compile(r"[,;:]\s+|(?<=[.!])\s+|\s(?:and|but|instead)\s")
STILL_WRONG_PATTERN = re.compile(
    r"^\W*(?:no\W+|nope\W+|hm+\W+|but\W+)*(?:it|that|this|the \w+)\b[^.!?]*\b(?:still (?:fail\w*"
    r"|broken|crash\w*|doesn't|does not|wrong)|(?:did|does|do)(?:n't| not) work|fail(?:s|ed)"
    r"|is broken|broke|is wrong|was wrong)",
    re.IGNORECASE,
)
RESOLVED_PATTERN = re.compile(
    r"\b(?:resolved|unblocked|no longer (?:blocked|blocking|a blocker|waiting)|fixed|solved|sorted"
    r"|cleared|lifted|granted|(?:is|are) (?:there|available|back|up|set|in place)|set up|works"
    r"|working|arrived|provided|unlocked|restored|received|got|have (?:it|the)|here (?:is|are)"
    r"|here's|added|done|passes|passed|approved|answered|out of the way|gone)\b",
    re.IGNORECASE,
)
NOT_RESOLVED_PATTERN = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|never|unresolved|until|once|if|when|unless|hasn't|haven't|after"
    r"|before|needs? to be|must be|should be|still|yet to be|can't|cannot|without)\b|\?",
    re.IGNORECASE,
)
BLOCKER_WORD_PATTERN = re.compile(r"\b(?:blockers?|blocked|unblocked|obstacles?)\b", re.IGNORECASE)
# Share of a blocker's words that a sentence must have to be about it.
MIN_SHARED_SHARE = 0.5
# So many words are enough in an answer to what the agent waits for.
MIN_SHARED_WORDS = 2
CONTINUATIONS = frozenset((
    "go on", "go ahead", "continue", "proceed", "yes", "yes please", "ok", "okay", "ok go on",
    "keep going", "carry on", "sure", "do it", "yep", "y", "next", "please continue", "sounds good",
    "go", "yes go ahead", "ok continue", "please go on", "and", "more", "resume", "thanks",
    "thank you", "great", "good", "fine", "nice", "perfect",
))  # fmt: skip
ACKNOWLEDGEMENTS = frozenset((
    "ok", "okay", "sure", "on it", "noted", "understood", "got it", "will do", "working on it",
    "i'm on it", "i am on it", "one moment", "right away", "let me see",
))  # fmt: skip
ANNOUNCEMENT_STARTS = (
    "let me", "now let", "now i", "i'll ", "i will ", "i'm going to", "i am going to", "next",
    "first,", "starting", "i need to", "i'm looking", "i am looking", "looking at", "let's",
)  # fmt: skip
# “Forget it for now”, “drop the idea”: the work at hand is meant.
GENERIC_WORDS = frozenset((
    "now", "please", "today", "then", "all", "anymore", "more", "work", "thing", "idea", "approach",
    "altogether", "completely", "entirely", "about", "that", "one",
))  # fmt: skip
GREETING_PATTERN = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|test|ping)\b",
    re.IGNORECASE,
)
# A longer message after a question is a new request rather than an answer.
MAX_ANSWER_WORDS = 8
MAX_GREETING_WORDS = 3


def states_failure(text: str, request: str = "") -> bool:
    """Return whether a text says that work failed or was given up.

    Words that the request uses too are no evidence: the answer to “why does it fail?” contains
    “fails”.
    """
    asked = padded_words(request)
    return any(_is_failure(sentence, asked) for sentence in split_sentences(text))


def _is_failure(sentence: str, asked: str) -> bool:
    sentence = sentence.replace("’", "'")
    if any(not _is_asked(match[0], asked) for match in FAILURE_PATTERN.finditer(sentence)):
        return True
    if FIXED_PATTERN.search(sentence):
        # “Fixed the parser, but the tests fail”: what comes after the “but” counts.
        sentence = sentence.lower().partition(" but ")[2]
    if COUNTED_FAILURE_PATTERN.search(sentence):
        return True
    rest = HARMLESS_PATTERN.sub(" ", sentence)
    if SUCCESS_PATTERN.search(rest):
        rest = rest.lower().partition(" but ")[2]
    return any(not _is_asked(match[0], asked) for match in WEAK_FAILURE_PATTERN.finditer(rest))


def _is_asked(words: str, asked: str) -> bool:
    """Return whether the request has the first or the last of these words, maybe inflected."""
    parts = padded_words(words).split()
    return any(f" {part[:4]}" in asked for part in (parts[0], parts[-1]) if len(part) >= 4)


def find_item_status(text: str) -> str:
    """Return DONE for an item that was marked as done; FAILED or GIVEN_UP if its text says so."""
    text = text.replace("’", "'")
    if DROPPED_ITEM_PATTERN.search(text):
        return GIVEN_UP
    is_failed = FAILED_ITEM_PATTERN.search(text) and not REPAIR_PATTERN.search(text)
    return FAILED if is_failed else DONE


def find_dropped_work(text: str) -> Iterator[str]:
    """Yield each clause in which the user gives something up, without the words that say so.

    An empty text means the work at hand: “never mind”.
    """
    for sentence in split_sentences(text.replace("’", "'")):
        if sentence.endswith("?"):
            continue
        for clause in CLAUSE_END_PATTERN.split(sentence):
            match = GIVE_UP_PATTERN.search(clause)
            if match:
                yield clause[match.end() :].strip(" .!")


def remove_dropped_work(text: str) -> str:
    """Return a message without the clauses in which the user gives something up."""
    kept = [clause for clause in CLAUSE_END_PATTERN.split(text) if not _gives_up(clause)]
    return ", ".join(kept) if kept and len(kept) < len(CLAUSE_END_PATTERN.split(text)) else text


def _gives_up(clause: str) -> bool:
    return bool(GIVE_UP_PATTERN.search(clause.replace("’", "'")))


def is_about(item: str, text: str) -> bool:
    """Return whether a text is about an item: it has at least half of the item's words."""
    words = content_words(item)
    shared = shared_word_count(item, text)
    return bool(words) and shared >= max(1, MIN_SHARED_SHARE * len(words))


def find_resolved(text: str, blockers: list[str]) -> set[str]:
    """Return the blockers that a text says are resolved."""
    resolved: set[str] = set()
    if not blockers:
        return resolved
    for sentence in split_sentences(text.replace("’", "'")):
        if not RESOLVED_PATTERN.search(sentence) or NOT_RESOLVED_PATTERN.search(
            re.sub(r"no longer \w+", " ", sentence)
        ):
            continue
        named = {blocker for blocker in blockers if is_about(item_subject(blocker), sentence)}
        if not named and BLOCKER_WORD_PATTERN.search(sentence):
            # “The blocker is resolved” names none: it is clear only if there is just one.
            is_clear = len(blockers) == 1 or "blockers" in sentence.lower()
            named = set(blockers) if is_clear else set()
        resolved |= named
    return resolved


def answers_wait(text: str, blocker: str) -> bool:
    """Return whether a message of the user gives what the agent waited for."""
    if is_continuation(text):
        return True
    if text.rstrip().endswith(("?", "？")) or NOT_RESOLVED_PATTERN.search(text):
        return False
    wanted = item_subject(blocker)
    if is_about(text, wanted) or is_about(wanted, text):
        return True
    is_near = is_short_answer(text) or shared_word_count(wanted, text) >= MIN_SHARED_WORDS
    return is_near and bool(RESOLVED_PATTERN.search(text))


def is_continuation(text: str) -> bool:
    """Return whether the user only tells the agent to go on."""
    return padded_words(text).strip() in CONTINUATIONS


def states_goal(text: str) -> bool:
    """Return whether a request can be the goal of a conversation: “hi there” is none."""
    return (len(text.split()) > 1 or not text.isascii()) and not is_greeting(text)


def is_greeting(text: str) -> bool:
    """Return whether a message asks for nothing: “hi there”, “thanks”."""
    return bool(GREETING_PATTERN.search(text)) and len(text.split()) <= MAX_GREETING_WORDS


def is_short_answer(text: str) -> bool:
    """Return whether a message is so short that it answers the question before it."""
    return len(text.split()) < MAX_ANSWER_WORDS


@dataclass(slots=True, kw_only=True)
class Turn:
    """A request of the user, and what followed until the next one."""

    request: str
    lines: list[int] = field(default_factory=list)
    closing: str = ""
    """The last text of the agent."""
    is_given_up: bool = False
    rejection: str = ""
    """The user's next message, if it says that the result is wrong."""
    is_latest: bool = False
    """The user has not asked for anything else since."""
    item: str = ""
    """The item of the checkpoint, if the request comes from an earlier compaction."""

    def find_outcome(self, failing_lines: Iterable[int] = ()) -> str:
        """Return DONE, FAILED, GIVEN_UP or OPEN; `failing_lines` are those of failing checks."""
        text = self.closing
        if self.is_given_up:
            return GIVEN_UP
        if not text:
            return OPEN
        if self.rejection or states_failure(text, self.request):
            return FAILED
        if set(failing_lines).intersection(self.lines):
            return FAILED
        is_unfinished = text.rstrip().endswith(("?", "？")) or _is_announcement(text)
        return OPEN if is_unfinished and not DONE_PATTERN.search(text) else DONE


def _is_announcement(text: str) -> bool:
    """Return whether a text only says what comes next."""
    if padded_words(text).strip() in ACKNOWLEDGEMENTS:
        return True
    last = (split_sentences(text) or [""])[-1].lower()
    return last.startswith(ANNOUNCEMENT_STARTS) or last.endswith(":")


def mark_previous(turn: Turn, text: str) -> None:
    """Record what the user's next message says about a turn: given up, or still wrong."""
    if any(_drops_request(what, turn.request) for what in find_dropped_work(text)):
        turn.is_given_up = True
    if turn.closing and STILL_WRONG_PATTERN.search(text.replace("’", "'")):
        turn.rejection = text


def _drops_request(what: str, request: str) -> bool:
    """Return whether what is given up is the whole request, and not only a part of it."""
    words = content_words(what) - GENERIC_WORDS
    if not words or is_about(request, what):
        return True
    return " and " not in request and shared_word_count(" ".join(words), request) == len(words)
