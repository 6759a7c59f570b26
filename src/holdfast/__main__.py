"""The command `holdfast`: looks at the first word and imports only what that command needs."""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:2] == ["hook"]:
        from holdfast.surfaces import hook

        hook.main("".join(sys.argv[2:3]))
    if sys.argv[1:2] == ["statusline"] and not "".join(sys.argv[2:3]).startswith("-"):
        from holdfast.surfaces import statusline

        statusline.main("".join(sys.argv[2:3]))
    from holdfast.surfaces import cli

    sys.exit(cli.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
