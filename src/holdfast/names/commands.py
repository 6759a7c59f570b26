"""The commands of a shell script, each as it could be run again."""

from __future__ import annotations

from holdfast.state import shell

# Commands that look around or hold others together: nobody needs to be told them again.
GLUE_WORDS = """
    . : [ [[ alias awk basename break cat cd clear column continue cut date dirname echo env
    eval exit export false head kill less local ls ll mkdir more popd printf pushd pwd read
    readlink realpath return seq set shift sleep sort source tac tail tee test touch tr true
    type uniq unset wait wc which whoami xargs yes
"""
GLUE = frozenset(GLUE_WORDS.split())
PIPES = ("|", "|&")
SHORTEST, LONGEST = 6, 300


def commands(script: str) -> list[str]:
    """Without going to a folder, without redirections, one after the other."""
    found = []
    for command in shell.commands(script):
        first = command.words[0] if command.words else None
        if first is None or first.rpartition("/")[2] in GLUE:
            continue
        if first == "sed" and command.joint in PIPES:
            # It cuts out of what another command printed: alone it does nothing.
            continue
        text = " ".join(" ".join(command.written).split())
        if SHORTEST <= len(text) <= LONGEST and not command.heredoc:
            found.append(text)
    return found
