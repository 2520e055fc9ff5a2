"""``python -m graphmem``: the command line."""

from graphmem.interfaces.cli import main

main()
