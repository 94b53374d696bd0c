"""`python -m netloom` is the program `netloom`."""

import os
import sys

from ._program import program


def main() -> None:
    """Becomes the program."""
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


main()
