"""The file trail that shell commands leave, where the transcript alone has to tell."""

from __future__ import annotations

import pytest

from tests.golden.replayed import Replayed
from tests.unit.eval.transcript import bash, bash_failed, edited, read, wrote

Changes = tuple[set[str], set[str], set[str]]


def changed_by(replayed: Replayed, command: str, **more: str) -> Changes:
    found = replayed(bash(command, **more))
    return set(found.created), set(found.modified), set(found.deleted)


def test_what_nobody_knew_of_is_judged_by_the_command(replayed: Replayed) -> None:
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
        assert changed_by(replayed, command) == (created, modified, deleted), command


def test_a_command_that_failed_as_a_whole_counts_for_nothing(replayed: Replayed) -> None:
    found = replayed(bash_failed("rm a; echo > b; false"))
    assert found.created | found.modified | found.deleted == set()


def test_a_path_the_output_complains_about_was_not_worked_on(replayed: Replayed) -> None:
    said = "rm: cannot remove 'a.py': No such file or directory"
    assert changed_by(replayed, "rm a.py b.py; rm ab.py; true", stderr=said) == (
        set(),
        set(),
        {"b.py", "ab.py"},
    )


def test_folders_are_in_no_set(replayed: Replayed) -> None:
    found = replayed(
        bash("mkdir -p out/deep"), bash("rm -rf build dist/ .cache"), bash("rm -r out")
    )
    assert found.created | found.modified | found.deleted == set()


def test_a_name_with_an_extension_is_a_file_even_to_a_recursive_removal(replayed: Replayed) -> None:
    assert changed_by(replayed, "rm -rf notes.txt build") == (set(), set(), {"notes.txt"})


def test_removing_a_folder_deletes_the_files_known_in_it(replayed: Replayed) -> None:
    found = replayed(read("src/a.py"), wrote("src/b.py"), read("srcs/c.py"), bash("rm -rf src"))
    assert (found.created, found.deleted, found.read) == (set(), {"src/a.py"}, {"srcs/c.py"})


def test_moving_a_folder_moves_the_files_known_in_it(replayed: Replayed) -> None:
    found = replayed(read("src/a.py"), wrote("src/b.py"), bash("git mv src lib"))
    assert (found.created, found.deleted) == ({"lib/a.py", "lib/b.py"}, {"src/a.py"})


def test_globs_see_only_the_files_known_from_the_trail(replayed: Replayed) -> None:
    found = replayed(read("a.txt"), wrote("b.txt"), bash("rm *.txt *.log; cp ~/x/*.md ."))
    assert (found.created, found.deleted) == (set(), {"a.txt"})


def test_a_folder_named_like_a_glob_is_no_obstacle(replayed: Replayed) -> None:
    root = "/home/[USER]/p"
    found = replayed(
        read(f"{root}/app/[id]/a.ts", cwd=root),
        bash("rm app/*/*.ts; touch app/[id]/b.ts", cwd=root),
    )
    assert (found.created, found.deleted) == ({"app/[id]/b.ts"}, {"app/[id]/a.ts"})


def test_devices_and_kernel_trees_are_never_files(replayed: Replayed) -> None:
    command = "ls > /dev/null 2> /dev/stderr; echo 1 | sudo tee /sys/x /proc/y; rm /dev/shm/z"
    assert changed_by(replayed, command) == (set(), set(), set())


def test_what_cannot_be_known_or_is_not_run_here_is_left_out(replayed: Replayed) -> None:
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
        assert changed_by(replayed, command) == (set(), set(), set()), command


def test_a_condition_that_the_trail_settles_decides_the_branch(replayed: Replayed) -> None:
    decide = bash("if [ -f a ]; then echo > yes; else echo > no; fi; [ -f b ] && echo > b2")
    assert replayed(read("a"), decide).created == {"yes", "b2"}
    assert replayed(wrote("a"), bash("rm a"), decide).created == {"no", "b2"}


def test_an_unknown_condition_takes_the_usual_branch(replayed: Replayed) -> None:
    command = (
        "if make; then echo > ok; else echo > bad; fi; make || echo > failed; make && echo > x"
    )
    assert changed_by(replayed, command)[0] == {"ok", "x"}


def test_letters_of_any_script_are_letters(replayed: Replayed) -> None:
    # A high character after a brace ended the whole process before it was spelled out.
    command = 'X=é; touch "$X日本.md" {ü,😀}.txt ünï\\ cödé; echo O{\U000def9f5 > ok'
    assert changed_by(replayed, command)[0] == {"é日本.md", "ü.txt", "😀.txt", "ünï cödé", "ok"}


def test_a_loop_of_loops_comes_to_an_end(replayed: Replayed) -> None:
    loop = "for i in {1..900}; do for j in {1..900}; do touch $i-$j; done; done"
    assert "1-900" in changed_by(replayed, loop)[0]


def test_what_the_parser_stumbles_over_hides_nothing_else(replayed: Replayed) -> None:
    command = "shopt -s extglob; ls !(*.md) > list; rm c"
    assert changed_by(replayed, command) == ({"list"}, set(), {"c"})


# -- git brings back


@pytest.mark.parametrize("undo", ["git checkout -- a.py", "git restore a.py", "git checkout -- ."])
def test_git_undoes_the_sessions_change(replayed: Replayed, undo: str) -> None:
    found = replayed(edited("a.py"), bash(undo))
    assert found.modified | found.created | found.deleted == set()


def test_git_leaves_a_file_that_was_created_here_as_it_is(replayed: Replayed) -> None:
    assert replayed(wrote("a.py"), bash("git checkout -- .")).created == {"a.py"}


def test_git_brings_a_deleted_file_back(replayed: Replayed) -> None:
    assert replayed(read("a.py"), bash("rm a.py; git checkout -- a.py")).deleted == set()


def test_a_change_that_was_committed_survives_the_undoing_of_later_ones(replayed: Replayed) -> None:
    kept = bash("git add a.py && git commit -m 'x'")
    found = replayed(
        edited("a.py"), kept, edited("a.py"), edited("b.py"), bash("git checkout -- .")
    )
    assert found.modified == {"a.py"}


def test_unstaging_is_no_undoing(replayed: Replayed) -> None:
    assert replayed(edited("a.py"), bash("git restore --staged a.py")).modified == {"a.py"}


def test_checking_out_a_branch_is_no_undoing_unless_git_says_it_was_a_path(
    replayed: Replayed,
) -> None:
    assert replayed(edited("main"), bash("git checkout main", stderr="Switched to branch")).modified
    restored = bash("git checkout a", stderr="Updated 1 path from the index")
    assert replayed(edited("a"), restored).modified == set()


def test_taking_one_side_of_a_conflict_modifies(replayed: Replayed) -> None:
    assert changed_by(replayed, "git checkout --theirs a.py")[1] == {"a.py"}


def test_content_of_another_commit_modifies(replayed: Replayed) -> None:
    assert changed_by(replayed, "git checkout main~3 -- a.py; git restore -s v1 b.py")[1] == {
        "a.py",
        "b.py",
    }


# -- patches


def test_a_patch_from_a_here_document_creates_modifies_and_deletes(replayed: Replayed) -> None:
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
    assert changed_by(replayed, command) == (
        {"src/new.py", "to.py"},
        {"src/old.py"},
        {"gone.py", "from.py"},
    )


@pytest.mark.parametrize("tool", ["git apply --check", "patch -p1 --dry-run", "git apply x.patch"])
def test_a_patch_that_is_only_tried_or_not_seen_changes_nothing(
    replayed: Replayed, tool: str
) -> None:
    command = f"{tool} <<'EOF'\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\nEOF"
    assert changed_by(replayed, command) == (set(), set(), set())
