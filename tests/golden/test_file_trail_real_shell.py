"""The checker's replay of shell commands, compared with the changes that a real bash makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.file_trail.disk import Disk, is_file_name
from tests.golden.file_trail.flow import replay_command
from tests.golden.file_trail.paths import PathKeys

pytestmark = [
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="sed -i and cp differ elsewhere"),
]

FILES = {
    "a.txt": "a\n",
    "b.txt": "b\n",
    "c d.txt": "c\n",
    "Makefile": "m:\n",
    ".hidden": "h\n",
    "src/x.py": "x=1\n",
    "src/y.py": "y=1\n",
    "src/sub/z.py": "z=1\n",
    "docs/r.md": "# r\n",
    "app/[id]/page.tsx": "p\n",
}
GIT_ENV = {
    f"GIT_{role}_{field}": "me" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")
}
GIT_ENV |= {"GIT_CONFIG_GLOBAL": os.devnull}

ONE_LINE_COMMANDS = r"""
rm a.txt
rm -rf src
rm -rf src/ docs
rm -r src/sub; rm src/*.py
rm *.txt
rm "c d.txt"
rm c\ d.txt
rm 'c d.txt' $'a.txt'
rm app/[id]/page.tsx
rm {a,b}.txt src/{x,y}.py
echo > -n; rm -- -n a.txt
rm 2>/dev/null a.txt b.txt
rm .h*
rm src/?.py
rm src/[!x].py
rm -rf ./*
rm -rf src/*/
rm nope; rm a.txt
touch nodir/x; touch n
cd src && rm x.py
cd src; rm x.py; cd ..; rm a.txt
(cd src && rm x.py); rm a.txt
cd src && (cd sub; rm z.py) && rm y.py > log
cd src > log && echo hi > new.txt
cd src && cd - > /dev/null && rm a.txt
pushd src > /dev/null && rm x.py && popd > /dev/null && rm a.txt
mv a.txt new.txt
mv a.txt b.txt
mv a.txt docs
mv a.txt b.txt docs/
mv -t docs a.txt b.txt
mv src lib
mv src docs
mv a.txt tmp && mv tmp a.txt
cp a.txt new.txt
cp a.txt b.txt docs
cp -r src lib
cp -r src docs
cp -r src/. lib
cp -r src/* docs
cp a.txt{,.bak}
cp a.txt b.txt~
cp -n a.txt b.txt
cp a.txt a.bak && sed -i 's/a/z/' a.txt && mv a.bak a.txt
cp nope x; rm a.txt
sed -i 's/a/q/' a.txt
sed -i.bak 's/a/q/' a.txt
sed -i -e 's/a/q/' -e 's/b/r/' a.txt b.txt
sed -Ei 's/a/q/' a.txt
sed -n p a.txt
sed --in-place 's/a/q/' a.txt
perl -pi -e 's/a/q/' a.txt
perl -i.orig -pe 's/a/q/' a.txt
perl -0pi -e 's/a/q/' a.txt
perl -pe 's/a/q/' a.txt
echo hi > n
echo hi >> a.txt
echo hi > a.txt
> n
echo hi >| n
ls nope 2> err.txt; true
ls &> all.txt
ls >& all.txt
echo a > n1 > n2
echo x >&2
rm a.txt 3<>b.txt
echo x 2>&1 | tee n m > /dev/null
echo x | tee -a a.txt
echo x | env FOO=1 tee n
exec > n; echo hi
diff <(cat a.txt) <(cat b.txt) > n; true
touch n a.txt
touch -c n
mkdir -p p/q && touch p/q/n
mkdir new && cp a.txt new
mkdir new; mv a.txt new; rm -r new
ln -s a.txt l
ln -s ../a.txt src
ln -sf b.txt a.txt
for f in a b; do mv $f.txt $f.md; done
for f in *.txt; do mv "$f" "${f%.txt}.md"; done
for f in src/*.py; do cp "$f" "docs/$(basename "$f" .py).bak"; done
for i in {1..3}; do touch f$i; done
F=a.txt; rm $F
F="a.txt b.txt"; rm $F
F="c d.txt"; rm "$F"
D=src; rm $D/x.py "$D"/y.py ${D}/sub/z.py
FILES=(a.txt "c d.txt"); rm "${FILES[@]}"
FILES=(a.txt); FILES+=(b.txt); for f in "${FILES[@]}"; do rm $f; done
X=src/x.py; rm ${X%/*}/y.py; touch ${X##*/} ${X/x/w}
export F=a.txt; rm $F
f() { rm "$1"; }; f a.txt; f b.txt
if [ -f a.txt ]; then rm a.txt; else rm b.txt; fi
if [ ! -f a.txt ]; then rm a.txt; else rm b.txt; fi
if [[ -f a.txt && -f b.txt ]]; then rm a.txt; fi
if false; then rm a.txt; elif [ -f b.txt ]; then rm b.txt; else rm Makefile; fi
[ -f a.txt ] || echo > a.txt
true && rm a.txt || rm b.txt
false && rm a.txt || rm b.txt
! true || rm a.txt
case a in a|b) rm a.txt;; *) rm b.txt;; esac
while read l; do echo $l; done < a.txt > n
{ rm a.txt; echo x; } > n
(echo x; rm a.txt) > n
echo $(rm a.txt; echo hi) > n
rm $(echo a.txt b.txt) `echo Makefile` "$PWD/.hidden"
bash -c 'rm a.txt; cd src && rm x.py'; rm b.txt
eval "rm a.txt"
\rm a.txt; command rm b.txt; /bin/rm Makefile
timeout 5 rm a.txt
rm a.txt & wait
echo "a > b.txt" 'rm a.txt' # rm b.txt
cat a.txt b.txt > both.txt && rm a.txt b.txt
echo a > "name with space"; echo b > "q\"uote"
""".strip().splitlines()

MULTI_LINE_COMMANDS = [
    "rm a.txt \\\n  b.txt",
    "cat > n <<'EOF'\nrm a.txt > q\nEOF",
    "cat <<EOF > n; rm a.txt\nhi $X\nEOF\nrm b.txt",
    "cat <<A > n && cat <<'B' > m\nx\nA\ny\nB\nrm a.txt",
    "cat > n << EOF &&\nhi\nEOF\nrm a.txt",
    "cat <<-EOF >> a.txt\n\thi\n\tEOF\nrm b.txt",
    "tee n <<EOF >/dev/null\nhi\nEOF",
    "bash <<'EOF'\ncd src\nrm x.py\nEOF\nrm a.txt",
    'echo "$(cat <<\'EOF\'\nit\'s "q" (x > y)\nEOF\n)" > n && rm a.txt',
    "cat > n <<< hi && rm a.txt",
    'f() {\n  cat > "$1" <<EOF\nbody\nEOF\n}\nf one; f two',
    "patch -p1 <<'EOF'\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- /dev/null\n"
    "+++ b/new.txt\n@@ -0,0 +1 @@\n+n\nEOF",
]

GIT_COMMANDS = [
    "git mv a.txt n.txt",
    "git mv src lib",
    "git rm -q a.txt",
    "git rm -rq src",
    "git rm -q --cached a.txt",
    "echo x >> a.txt; git checkout a.txt",
    "echo x >> a.txt; echo y > n; git checkout -- .",
    "echo x >> a.txt; git add a.txt; git checkout -- a.txt",
    "echo x >> a.txt; git add a.txt; git checkout HEAD -- a.txt",
    "echo x >> a.txt; git add a.txt; git reset -q; git checkout -- a.txt",
    "echo x >> a.txt; git commit -qam m; echo y >> a.txt; git restore a.txt",
    "echo x >> a.txt; echo n > n; git add n; git reset -q --hard HEAD",
    "echo x >> a.txt; git commit -qam m; echo y >> a.txt; git checkout HEAD -- a.txt",
    "echo x >> a.txt; echo x >> b.txt; git commit -qm m a.txt; git reset -q --hard",
    "rm -rf src; git checkout -- src",
    "echo n > n; git add n; rm n; git checkout -- n",
    "echo x >> src/x.py; git -C src checkout -- x.py; rm a.txt",
    "cat <<'EOF' | git apply -\ndiff --git a/docs/r.md b/docs/q.md\nsimilarity index 100%\n"
    "rename from docs/r.md\nrename to docs/q.md\nEOF",
    "cd src && git apply <<'EOF'\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x=1\n+x=2\nEOF",
]


def read_contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_symlink() or file.is_file()]
    return {
        str(file.relative_to(folder)): os.readlink(file).encode()
        if file.is_symlink()
        else file.read_bytes()
        for file in files
        if ".git" not in file.parts
    }


def run_in_bash(folder: Path, command: str) -> tuple[list[set[str]], str]:
    """Run a command; return the created, modified and deleted files, and its output."""
    before = read_contents(folder)
    completed = subprocess.run(
        ["bash", "-c", command],
        check=False,
        cwd=folder,
        env={**os.environ, **GIT_ENV},
        capture_output=True,
        text=True,
    )
    if completed.returncode == 127:
        raise FileNotFoundError(completed.stderr)  # the command is not installed
    assert completed.returncode == 0, (command, completed.stderr)
    after = read_contents(folder)
    both = after.keys() & before.keys()
    changed = {name for name in both if after[name] != before[name]}
    output = completed.stdout + "\n" + completed.stderr
    return [after.keys() - both, changed, before.keys() - both], output


def replay_in_checker(folder: Path, command: str, output: str) -> list[set[str]]:
    """Return the created, modified and deleted files that the checker finds."""
    path_keys, disk = PathKeys(str(folder)), Disk()
    disk.folders.add(str(folder))
    for name in FILES:
        disk.mark_present(f"{folder}/{name}")
    replay_command(command, str(folder), output, disk, path_keys)
    changes = (disk.created(), disk.modified(), disk.deleted())
    return [{path_keys.display(key) for key in keys if is_file_name(key)} for keys in changes]


def find_differences(folder: Path, commands: list[str], setup: str = "") -> list[object]:
    """Run each command in a new folder; return those whose replay differs from the real changes.

    If a tool is not installed, the other commands are compared and the test counts as skipped.
    """
    differences: list[object] = []
    missing_tools = []
    for number, command in enumerate(commands):
        project = make_files(folder / str(number))
        if setup:
            subprocess.run(
                setup, shell=True, cwd=project, env={**os.environ, **GIT_ENV}, check=True
            )
        try:
            real, output = run_in_bash(project, command)
        except FileNotFoundError as error:
            missing_tools.append(str(error))
            continue
        replayed = replay_in_checker(project, command, output)
        if replayed != real:
            differences.append((command, replayed, real))
    if missing_tools and not differences:
        pytest.skip("; ".join(missing_tools))
    return differences


def make_files(folder: Path) -> Path:
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder.resolve()


def test_the_replay_finds_the_changes_that_bash_made(tmp_path: Path) -> None:
    assert find_differences(tmp_path, [*ONE_LINE_COMMANDS, *MULTI_LINE_COMMANDS]) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_replay_finds_the_changes_that_git_made(tmp_path: Path) -> None:
    setup = "git init -q . && git add -A && git commit -qm start"
    assert find_differences(tmp_path, GIT_COMMANDS, setup) == []
