"""The checker's file trail of shell commands, derived from the transcript alone."""

from __future__ import annotations

import pytest

from tests.golden.transcript_replay import TranscriptReplay
from tests.unit.eval.transcript import bash, bash_failed, edited, read, wrote

Changes = tuple[set[str], set[str], set[str]]


def changed_by(replay: TranscriptReplay, command: str, **more: str) -> Changes:
    trail = replay(bash(command, **more))
    return set(trail.created), set(trail.modified), set(trail.deleted)


def test_the_effect_on_an_unknown_file_depends_on_the_command(replay: TranscriptReplay) -> None:
    cases = [
        ("echo > a", {"a"}, set(), set()),
        ("echo >> a", set(), {"a"}, set()),
        ("sed -i s/x/y/ a", set(), {"a"}, set()),
        ("sed -i '' 's/x/y/' a b", set(), {"a", "b"}, set()),
        ("perl -pi -e s/x/y/ a", set(), {"a"}, set()),
        ("echo | tee a", {"a"}, set(), set()),
        ("echo | tee -a a", set(), {"a"}, set()),
        ("cp a b", {"b"}, set(), set()),
        ("mv a b", {"b"}, set(), {"a"}),
        ("rm a", set(), set(), {"a"}),
        ("touch a", {"a"}, set(), set()),
        ("ln -s a b", {"b"}, set(), set()),
        ("git mv a b", {"b"}, set(), {"a"}),
        ("git rm a", set(), set(), {"a"}),
    ]
    for command, created, modified, deleted in cases:
        assert changed_by(replay, command) == (created, modified, deleted), command


def test_a_failed_command_has_no_effect(replay: TranscriptReplay) -> None:
    trail = replay(bash_failed("rm a; echo > b; false"))
    assert trail.created | trail.modified | trail.deleted == set()


def test_a_path_with_an_error_in_the_output_is_unchanged(replay: TranscriptReplay) -> None:
    error = "rm: cannot remove 'a.py': No such file or directory"
    assert changed_by(replay, "rm a.py b.py; rm ab.py; true", stderr=error) == (
        set(),
        set(),
        {"b.py", "ab.py"},
    )


def test_folders_are_not_in_the_trail(replay: TranscriptReplay) -> None:
    trail = replay(bash("mkdir -p out/deep"), bash("rm -rf build dist/ .cache"), bash("rm -r out"))
    assert trail.created | trail.modified | trail.deleted == set()


def test_rm_rf_of_a_name_with_an_extension_deletes_a_file(
    replay: TranscriptReplay,
) -> None:
    assert changed_by(replay, "rm -rf notes.txt build") == (set(), set(), {"notes.txt"})


def test_removing_a_folder_deletes_the_known_files_in_it(replay: TranscriptReplay) -> None:
    trail = replay(read("src/a.py"), wrote("src/b.py"), read("srcs/c.py"), bash("rm -rf src"))
    assert (trail.created, trail.deleted, trail.read) == (set(), {"src/a.py"}, {"srcs/c.py"})


def test_moving_a_folder_moves_the_known_files_in_it(replay: TranscriptReplay) -> None:
    trail = replay(read("src/a.py"), wrote("src/b.py"), bash("git mv src lib"))
    assert (trail.created, trail.deleted) == ({"lib/a.py", "lib/b.py"}, {"src/a.py"})


def test_globs_match_only_known_files(replay: TranscriptReplay) -> None:
    trail = replay(read("a.txt"), wrote("b.txt"), bash("rm *.txt *.log; cp ~/x/*.md ."))
    assert (trail.created, trail.deleted) == (set(), {"a.txt"})


def test_a_folder_with_brackets_in_its_name_is_not_taken_for_a_glob(
    replay: TranscriptReplay,
) -> None:
    root = "/home/[USER]/p"
    trail = replay(
        read(f"{root}/app/[id]/a.ts", cwd=root),
        bash("rm app/*/*.ts; touch app/[id]/b.ts", cwd=root),
    )
    assert (trail.created, trail.deleted) == ({"app/[id]/b.ts"}, {"app/[id]/a.ts"})


def test_devices_and_kernel_file_systems_are_not_in_the_trail(replay: TranscriptReplay) -> None:
    command = "ls > /dev/null 2> /dev/stderr; echo 1 | sudo tee /sys/x /proc/y; rm /dev/shm/z"
    assert changed_by(replay, command) == (set(), set(), set())


def test_unknown_paths_and_remote_commands_are_not_in_the_trail(replay: TranscriptReplay) -> None:
    cases = [
        'rm "$UNKNOWN" $(git ls-files) "$DIR/a.py"',
        "cat list | xargs rm",
        "ssh host 'rm a.py'",
        "find . -name '*.py' -delete",
        'cd "$SOMEWHERE" && rm a.py',
        "while read f; do rm $f; done < list",
        "echo 'rm a.py > b.py' # > c.py",
    ]
    for command in cases:
        assert changed_by(replay, command) == (set(), set(), set()), command


def test_a_condition_on_a_known_file_decides_the_branch(replay: TranscriptReplay) -> None:
    command = bash("if [ -f a ]; then echo > yes; else echo > no; fi; [ -f b ] && echo > b2")
    assert replay(read("a"), command).created == {"yes", "b2"}
    assert replay(wrote("a"), bash("rm a"), command).created == {"no", "b2"}


def test_an_unknown_condition_takes_the_success_branch(replay: TranscriptReplay) -> None:
    command = (
        "if make; then echo > ok; else echo > bad; fi; make || echo > failed; make && echo > x"
    )
    assert changed_by(replay, command)[0] == {"ok", "x"}


def test_file_names_may_contain_any_unicode_character(replay: TranscriptReplay) -> None:
    # Without escaping, a high character after a brace crashed the parser.
    command = 'X=é; touch "$X日本.md" {ü,😀}.txt ünï\\ cödé; echo O{\U000def9f5 > ok'
    assert changed_by(replay, command)[0] == {"é日本.md", "ü.txt", "😀.txt", "ünï cödé", "ok"}


def test_nested_loops_end_after_a_limited_number_of_steps(replay: TranscriptReplay) -> None:
    loop = "for i in {1..900}; do for j in {1..900}; do touch $i-$j; done; done"
    assert "1-900" in changed_by(replay, loop)[0]


def test_commands_around_a_parse_error_still_count(replay: TranscriptReplay) -> None:
    command = "shopt -s extglob; ls !(*.md) > list; rm c"
    assert changed_by(replay, command) == ({"list"}, set(), {"c"})


# -- git restores files


@pytest.mark.parametrize("undo", ["git checkout -- a.py", "git restore a.py", "git checkout -- ."])
def test_git_checkout_and_restore_undo_a_change(replay: TranscriptReplay, undo: str) -> None:
    trail = replay(edited("a.py"), bash(undo))
    assert trail.modified | trail.created | trail.deleted == set()


def test_git_checkout_keeps_an_untracked_new_file(replay: TranscriptReplay) -> None:
    assert replay(wrote("a.py"), bash("git checkout -- .")).created == {"a.py"}


def test_git_checkout_restores_a_deleted_file(replay: TranscriptReplay) -> None:
    assert replay(read("a.py"), bash("rm a.py; git checkout -- a.py")).deleted == set()


def test_a_committed_change_stays_when_later_changes_are_undone(
    replay: TranscriptReplay,
) -> None:
    commit = bash("git add a.py && git commit -m 'x'")
    trail = replay(
        edited("a.py"), commit, edited("a.py"), edited("b.py"), bash("git checkout -- .")
    )
    assert trail.modified == {"a.py"}


def test_unstaging_does_not_undo_a_change(replay: TranscriptReplay) -> None:
    assert replay(edited("a.py"), bash("git restore --staged a.py")).modified == {"a.py"}


def test_the_output_of_git_checkout_shows_whether_its_argument_is_a_branch_or_a_path(
    replay: TranscriptReplay,
) -> None:
    assert replay(edited("main"), bash("git checkout main", stderr="Switched to branch")).modified
    restored = bash("git checkout a", stderr="Updated 1 path from the index")
    assert replay(edited("a"), restored).modified == set()


def test_taking_one_side_of_a_conflict_modifies_the_file(replay: TranscriptReplay) -> None:
    assert changed_by(replay, "git checkout --theirs a.py")[1] == {"a.py"}


def test_restoring_from_another_commit_modifies_the_file(replay: TranscriptReplay) -> None:
    assert changed_by(replay, "git checkout main~3 -- a.py; git restore -s v1 b.py")[1] == {
        "a.py",
        "b.py",
    }


# -- patches


def test_a_patch_from_a_here_document_creates_modifies_and_deletes(
    replay: TranscriptReplay,
) -> None:
    command = """git apply <<'EOF'
--- a/src/old.py
+++ b/src/old.py
@@ -1,2 +1,2 @@
 x
--- y
+++ z
--- /dev/null
+++ b/src/new.py
@@ -0,0 +1 @@
+n
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-g
diff --git a/from.py b/to.py
similarity index 100%
rename from from.py
rename to to.py
EOF"""
    assert changed_by(replay, command) == (
        {"src/new.py", "to.py"},
        {"src/old.py"},
        {"gone.py", "from.py"},
    )


@pytest.mark.parametrize("tool", ["git apply --check", "patch -p1 --dry-run", "git apply x.patch"])
def test_a_dry_run_or_an_unseen_patch_file_changes_nothing(
    replay: TranscriptReplay, tool: str
) -> None:
    command = f"{tool} <<'EOF'\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\nEOF"
    assert changed_by(replay, command) == (set(), set(), set())
