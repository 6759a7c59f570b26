"""Classify a shell command as a test, a linter, a build, or none of these."""

from __future__ import annotations

from holdfast.state import shell_parser

# Looked up as words, not by patterns: importing `re` alone would cost a hook a third of its time.
TEST_RUNNERS = frozenset(
    ("pytest", "py.test", "unittest", "tox", "nox", "ctest", "jest", "vitest", "mocha", "rspec")
) | frozenset(
    ("phpunit", "playwright", "nextest", "bats", "ava", "cypress", "karma", "ginkgo", "gotestsum")
)
LINTERS = frozenset(
    ("ruff", "eslint", "mypy", "pyright", "flake8", "pylint", "golangci-lint", "clippy", "tsc")
) | frozenset(("shellcheck", "biome", "vet", "credo", "dialyzer"))
FORMATTERS = frozenset(("prettier", "black", "gofmt", "fmt", "format"))
TASK_RUNNERS = frozenset(
    ("go", "cargo", "npm", "npx", "yarn", "pnpm", "bun", "deno", "mix", "mvn", "gradle", "gradlew")
) | frozenset(("dotnet", "swift", "make", "just", "mise", "rake", "bundle", "docker"))
LINT_TASKS = frozenset(("check", "typecheck", "fmt", "vet", "types"))
BUILD_TASKS = frozenset(("build", "compile", "package"))
# These run whatever tests a project has.
UNIVERSAL_RUNNERS = frozenset(("make", "just", "mise"))
WRAPPERS = frozenset(("tox", "nox"))
# Programs that test the same kind of code.
RUNNER_FAMILIES = (
    WRAPPERS | {"pytest", "py.test", "unittest"},
    frozenset(("npm", "npx", "yarn", "pnpm", "bun", "deno", "jest", "vitest", "mocha"))
    | {"playwright", "cypress", "ava", "karma"},
    frozenset(("cargo", "nextest")),
    frozenset(("go", "ginkgo", "gotestsum")),
    frozenset(("mvn", "gradle", "gradlew")),
    frozenset(("rake", "bundle", "rspec")),
)
# The words of a command that runs all tests, after its first.
ALL_TESTS_WORDS = TEST_RUNNERS | {"run", "test", "tests", "test:ci", "test:all", "test-all"}
EVERYTHING_PATHS = (".", "./", "./...", "...")
PROGRAMS = TEST_RUNNERS | LINTERS | TASK_RUNNERS
PROGRAMS_AND_FORMATTERS = PROGRAMS | FORMATTERS
# Commands that are left out: they only change the folder or shorten the output.
HELPER_COMMANDS = frozenset(("cd", "tail", "head"))
# Commands that may mention a test runner but never run one.
NEVER_CHECKS = frozenset(
    ("git", "gh", "echo", "cat", "grep", "rg", "ls", "sed", "find", "which", "pip")
)

# Checks are run again and again.
_analyzed: dict[str, tuple[list[list[str]], str, str]] = {}
MAX_CACHED_COMMANDS = 100


def analyze(command: str) -> tuple[list[list[str]], str, str]:
    """Return a command's simple commands, the command without wrapping, and its kind."""
    analysis = _analyzed.get(command)
    if analysis is None:
        simple = split_commands(command)
        analysis = simple, strip_wrapping(command), classify(simple)
        if len(_analyzed) > MAX_CACHED_COMMANDS:
            _analyzed.clear()
        _analyzed[command] = analysis
    return analysis


def strip_wrapping(command: str) -> str:
    """Remove a `cd` at the beginning, and `| tail` or `| head` with `2>&1` at the end."""
    command = command.strip()
    for operator in ("&&", ";"):
        first, separator, rest = command.partition(operator)
        if separator and first.split()[:1] == ["cd"]:
            command = rest.strip()
    while True:
        head, pipe, last = command.rpartition("|")
        if not pipe or last.split()[:1] not in (["tail"], ["head"]):
            return command.removesuffix("2>&1").strip()
        command = head.strip().removesuffix("2>&1").strip()


def split_commands(command: str) -> list[list[str]]:
    """Return the words of each simple command, the first without its folder."""
    simple = []
    for parsed in shell_parser.parse_commands(command):
        words = [word for word in parsed.words if word]
        if words:
            words[0] = basename(words[0])
            if words[0] not in HELPER_COMMANDS:
                simple.append(words)
    return simple


def basename(word: str) -> str:
    """Return the part of a path after the last slash."""
    return word.rpartition("/")[2]


def classify(simple: list[list[str]]) -> str:
    """Return the kind of the first simple command that is a check: test, lint, build, or ""."""
    return next(filter(None, map(classify_words, simple)), "")


def classify_words(words: list[str]) -> str:
    """Return the kind of one simple command: test, lint, build, or ""."""
    if not words or words[0] in NEVER_CHECKS:
        return ""
    words = [basename(word) for word in words]
    names = frozenset(words)
    if names.isdisjoint(PROGRAMS_AND_FORMATTERS):
        return ""
    runner_at = next((number for number, word in enumerate(words) if word in TASK_RUNNERS), None)
    tasks = words[runner_at + 1 :] if runner_at is not None else []
    if names & TEST_RUNNERS or any(map(_names_tests, tasks)):
        return "test"
    if names & LINTERS or LINT_TASKS & frozenset(tasks) or any("lint" in word for word in tasks):
        return "lint"
    if names & FORMATTERS and names & {"--check", "-l", "--check-formatted"}:
        return "lint"
    return "build" if BUILD_TASKS & frozenset(tasks) else ""


def _names_tests(word: str) -> bool:
    """True for `test:ci` and `unittests`; not for the version `latest` or a quoted sentence."""
    return "test" in word.replace("latest", "") and " " not in word


def find_targets(words: list[str]) -> list[str]:
    """Return the program and what it is run on, without options and without what starts it."""
    arguments = [
        word for word in words if not word.startswith("-") and word not in EVERYTHING_PATHS
    ]
    at = next((at for at, word in enumerate(arguments) if basename(word) in PROGRAMS), 0)
    return [basename(arguments[at]), *arguments[at + 1 :]] if arguments else []


def runs_all_tests(words: list[str]) -> bool:
    """Whether a command runs the tests without naming any: `pytest`, `mise run test`."""
    return classify_words(words) == "test" and ALL_TESTS_WORDS.issuperset(words[1:])


def runs_tests_of(passed: list[str], failed: list[str]) -> bool:
    """Whether a run of all tests includes those of another command.

    A green `npm test` says nothing about `pytest`, and `playwright` nothing about `jest`; but a
    project's own script runs all the tests that there are.
    """
    program, failed_names = passed[0], frozenset(map(basename, failed))
    if program in UNIVERSAL_RUNNERS:
        return True
    if runners := (TEST_RUNNERS - WRAPPERS).intersection(passed):
        return not runners.isdisjoint(failed_names)
    family = next((known for known in RUNNER_FAMILIES if program in known), {program})
    return failed[:1] != [] and basename(failed[0]) in family


def find_paths(words: list[str]) -> set[str]:
    """Return the files and folders among a command's targets."""
    return {word for word in words[1:] if "/" in word or ("." in word and word[-1:].isalpha())}


def runs_same_files(passed: list[str], failed: list[str]) -> bool:
    """Whether a test run covers just the files that another did, whatever starts it."""
    passed_paths, failed_paths = find_paths(passed), find_paths(failed)
    files = {word for word in failed_paths if "." in basename(word)}
    filters = set(passed[1:]) - passed_paths - ALL_TESTS_WORDS - set(failed)
    return bool(files) and files == failed_paths and failed_paths <= passed_paths and not filters


def is_same_check(words: list[str], other: list[str]) -> bool:
    """Whether two commands run the same check: `go test` is two words, `pytest` is one."""
    length = 1 if words[:1] and words[0] in TEST_RUNNERS | LINTERS else 2
    return words[:length] == other[:length]
