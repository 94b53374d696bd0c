"""The version of the package, which is that of the program."""

__version__ = "0.2.0"
