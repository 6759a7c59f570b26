"""The `holdfast` command: imports only what the command needs, because hooks must start fast."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; `hook` and `statusline` end the process themselves."""
    if sys.argv[1:2] == ["hook"]:
        from holdfast import entry

        entry.hook("".join(sys.argv[2:3]))
    if sys.argv[1:2] == ["statusline"] and not "".join(sys.argv[2:3]).startswith("-"):
        from holdfast import entry

        entry.status_line("".join(sys.argv[2:3]))
    from holdfast import cli

    sys.exit(cli.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
