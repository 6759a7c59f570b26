"""The effects of shell commands on files."""

from __future__ import annotations

from holdfast.state.shell_effects import find_effects


def test_effects_are_read_from_the_command_line() -> None:
    cases = [
        ("rm -f a.py b.py", [("delete", "/p/a.py", ""), ("delete", "/p/b.py", "")]),
        ("rm -rf dir", [("delete tree", "/p/dir", "")]),
        ("rm --recursive dir", [("delete tree", "/p/dir", "")]),
        ("echo x > /proc/sys/a; echo y | tee /sys/b", []),
        ("cp /a/x.py .", [("copy", "/a/x.py", "/p/")]),
        ("rm -- -odd", [("delete", "/p/-odd", "")]),
        ("git rm a.py", [("delete", "/p/a.py", "")]),
        ("git rm --cached a.py", []),
        ("git -C sub rm a.py", [("delete", "/p/a.py", "")]),
        ("mv a.py b.py", [("move", "/p/a.py", "/p/b.py")]),
        ("git mv a.py lib/", [("move", "/p/a.py", "/p/lib/")]),
        ("mv a b dir", [("move", "/p/a", "/p/dir/"), ("move", "/p/b", "/p/dir/")]),
        ("cp -r a.py /tmp/b.py", [("copy", "/p/a.py", "/tmp/b.py")]),
        ("echo x > out.txt", [("write", "/p/out.txt", "")]),
        ("echo x >> out.txt", [("append", "/p/out.txt", "")]),
        ("make 2>/dev/null >&2", []),
        ("make &> log.txt", [("write", "/p/log.txt", "")]),
        ("cat > f.py <<'E'\nrm z\nE", [("write", "/p/f.py", "")]),
        ("echo x | tee a b", [("write", "/p/a", ""), ("write", "/p/b", "")]),
        ("echo x | sudo tee -a /etc/hosts", [("append", "/etc/hosts", "")]),
        ("touch a.py", [("touch", "/p/a.py", "")]),
        ("mkdir -p a/b", [("folder", "/p/a/b", "")]),
        ("sed -i 's/a/b/' x.py y.py", [("edit", "/p/x.py", ""), ("edit", "/p/y.py", "")]),
        ("sed -i '' 's/a/b/' x.py", [("edit", "/p/x.py", "")]),
        ("sed -i.bak -e 's/a/b/' -e 's/c/d/' x.py", [("edit", "/p/x.py", "")]),
        ("sed 's/a/b/' x.py", []),
        ("perl -pi -e 's/a/b/' x.py", [("edit", "/p/x.py", "")]),
        ("git checkout -- a.py b.py", [("restore", "/p/a.py", ""), ("restore", "/p/b.py", "")]),
        ("git checkout main", []),
        ("git checkout --theirs a.py", [("edit", "/p/a.py", "")]),
        ("git checkout --ours -- a.py", [("edit", "/p/a.py", "")]),
        ("git restore --theirs a.py", [("edit", "/p/a.py", "")]),
        ("git restore a.py", [("restore", "/p/a.py", "")]),
        ("git restore --staged a.py", []),
        ("ln -s a b", [("write", "/p/b", "")]),
        ("cd sub && rm a.py", [("delete", "/p/sub/a.py", "")]),
        ("cd ../q && rm ./a.py", [("delete", "/q/a.py", "")]),
        (
            "(cd sub && rm a.py); rm b.py",
            [("delete", "/p/sub/a.py", ""), ("delete", "/p/b.py", "")],
        ),
        ("grep 'rm -rf' x", []),
        ("echo rm x", []),
        ("git commit -m 'mv a b > c'", []),
        ("rm $(ls)", []),
        ("ls -la", []),
        ("", []),
    ]
    for script, expected in cases:
        assert [tuple(effect) for effect in find_effects(script, "/p")] == expected, script


def test_a_patch_in_a_here_document_has_effects_on_its_files() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@\n--- /dev/null\n+++ b/new.py\n--- a/old.py\n+++ /dev/null\n"
    assert [tuple(effect) for effect in find_effects(f"git apply <<'E'\n{patch}E", "/p")] == [
        ("edit", "/p/x.py", ""), ("write", "/p/new.py", ""), ("delete", "/p/old.py", ""),
    ]  # fmt: skip


def test_a_windows_path_is_not_joined_with_the_working_directory() -> None:
    assert find_effects("rm 'C:\\app\\a.py'", "/p")[0][1] == "C:\\app\\a.py"
