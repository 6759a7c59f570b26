"""What kind of check a shell command is: a test, a linter, a build, or none."""

from __future__ import annotations

from holdfast.state import shell

# Looked up by words, not by patterns: `re` alone would cost a hook a third of its time.
TESTERS = frozenset(
    ("pytest", "py.test", "unittest", "tox", "nox", "ctest", "jest", "vitest", "mocha", "rspec")
) | frozenset(
    ("phpunit", "playwright", "nextest", "bats", "ava", "cypress", "karma", "ginkgo", "gotestsum")
)
LINTERS = frozenset(
    ("ruff", "eslint", "mypy", "pyright", "flake8", "pylint", "golangci-lint", "clippy", "tsc")
) | frozenset(("shellcheck", "biome", "vet", "credo", "dialyzer"))
FORMATTERS = frozenset(("prettier", "black", "gofmt", "fmt", "format"))
RUNNERS = frozenset(
    ("go", "cargo", "npm", "npx", "yarn", "pnpm", "bun", "deno", "mix", "mvn", "gradle", "gradlew")
) | frozenset(("dotnet", "swift", "make", "just", "mise", "rake", "bundle", "docker"))
LINTS = frozenset(("check", "typecheck", "fmt", "vet", "types"))
BUILDS = frozenset(("build", "compile", "package"))
# Run whatever tests a project has, and which programs test the same kind of code.
ANY_TESTS = frozenset(("make", "just", "mise"))
SCRIPTS = frozenset(("tox", "nox"))
KINDRED = (
    SCRIPTS | {"pytest", "py.test", "unittest"},
    frozenset(("npm", "npx", "yarn", "pnpm", "bun", "deno", "jest", "vitest", "mocha"))
    | {"playwright", "cypress", "ava", "karma"},
    frozenset(("cargo", "nextest")),
    frozenset(("go", "ginkgo", "gotestsum")),
    frozenset(("mvn", "gradle", "gradlew")),
    frozenset(("rake", "bundle", "rspec")),
)
ALL_TESTS = TESTERS | {"run", "test", "tests", "test:ci", "test:all", "test-all"}
EVERYWHERE = (".", "./", "./...", "...")
PROGRAMS = TESTERS | LINTERS | RUNNERS
CHECKERS = PROGRAMS | FORMATTERS
# Commands beside the point, and commands that only talk about others.
ASIDE = frozenset(("cd", "tail", "head"))
BYSTANDERS = frozenset(
    ("git", "gh", "echo", "cat", "grep", "rg", "ls", "sed", "find", "which", "pip")
)


def looked_at(command: str) -> tuple[list[list[str]], str, str]:
    """Its simple commands, its core and its kind. Checks are run again and again."""
    known = _looked_at.get(command)
    if known is None:
        simple = simple_commands(command)
        known = simple, core(command), kind(simple)
        if len(_looked_at) > MOST_LOOKED_AT:
            _looked_at.clear()
        _looked_at[command] = known
    return known


_looked_at: dict[str, tuple[list[list[str]], str, str]] = {}
MOST_LOOKED_AT = 100


def core(command: str) -> str:
    """The command without going to a folder first and without shortening its output after."""
    command = command.strip()
    for joint in ("&&", ";"):
        first, found, rest = command.partition(joint)
        if found and first.split()[:1] == ["cd"]:
            command = rest.strip()
    while True:
        head, found, last = command.rpartition("|")
        if not found or last.split()[:1] not in (["tail"], ["head"]):
            return command.removesuffix("2>&1").strip()
        command = head.strip().removesuffix("2>&1").strip()


def simple_commands(command: str) -> list[list[str]]:
    """The words of each simple command, the first without its folder."""
    found = []
    for one in shell.commands(command):
        words = [word for word in one.words if word]
        if words:
            words[0] = base(words[0])
            if words[0] not in ASIDE:
                found.append(words)
    return found


def base(word: str) -> str:
    return word.rpartition("/")[2]


def kind(simple: list[list[str]]) -> str:
    return next(filter(None, map(kind_of_one, simple)), "")


def kind_of_one(words: list[str]) -> str:
    if not words or words[0] in BYSTANDERS:
        return ""
    words = [base(word) for word in words]
    named = frozenset(words)
    if named.isdisjoint(CHECKERS):
        return ""
    runs = next((number for number, word in enumerate(words) if word in RUNNERS), None)
    after = words[runs + 1 :] if runs is not None else []
    if named & TESTERS or any(map(_names_tests, after)):
        return "test"
    if named & LINTERS or LINTS & frozenset(after) or any("lint" in word for word in after):
        return "lint"
    if named & FORMATTERS and named & {"--check", "-l", "--check-formatted"}:
        return "lint"
    return "build" if BUILDS & frozenset(after) else ""


def _names_tests(word: str) -> bool:
    """`test:ci` and `unittests` do; the `latest` version and a sentence in quotes do not."""
    return "test" in word.replace("latest", "") and " " not in word


def pointed(words: list[str]) -> list[str]:
    """What runs and what it is pointed at, without options and however it is started."""
    plain = [word for word in words if not word.startswith("-") and word not in EVERYWHERE]
    at = next((at for at, word in enumerate(plain) if base(word) in PROGRAMS), 0)
    return [base(plain[at]), *plain[at + 1 :]] if plain else []


def is_all_tests(words: list[str]) -> bool:
    """`pytest`, `mise run test`: a run of the tests that is pointed at nothing in particular."""
    return kind_of_one(words) == "test" and ALL_TESTS.issuperset(words[1:])


def runs_tests_of(passed: list[str], failed: list[str]) -> bool:
    """Whether a run of all tests has those of the other in it: green `npm test` says nothing of
    `pytest`, and `playwright` nothing of `jest`, but a project's own script runs what is there."""
    program, others = passed[0], frozenset(map(base, failed))
    if program in ANY_TESTS:
        return True
    if testers := (TESTERS - SCRIPTS).intersection(passed):
        return not testers.isdisjoint(others)
    kindred = next((known for known in KINDRED if program in known), {program})
    return failed[:1] != [] and base(failed[0]) in kindred


def places(words: list[str]) -> set[str]:
    """Files and folders among what a command is pointed at."""
    return {word for word in words[1:] if "/" in word or ("." in word and word[-1:].isalpha())}


def runs_same_files(passed: list[str], failed: list[str]) -> bool:
    """Whether a test run is pointed at just the files that another was, whatever starts it."""
    here, there = places(passed), places(failed)
    files = {word for word in there if "." in base(word)}
    narrowed = set(passed[1:]) - here - ALL_TESTS - set(failed)
    return bool(files) and files == there and there <= here and not narrowed


def same_check(one: list[str], other: list[str]) -> bool:
    """Whether two of these run the same: `go test` is two words, `pytest` is one."""
    words = 1 if one[:1] and one[0] in TESTERS | LINTERS else 2
    return one[:words] == other[:words]
