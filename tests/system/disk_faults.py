"""What a program sees of a disk with faults: each command does one thing and prints what came of it."""

import errno
import mmap
import os
import sys
import time

SIZE = 16384


def tried(act):
    """Does something, and says ok or the name of the error."""
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "ok"


def buffer(letter):
    pages = mmap.mmap(-1, SIZE)
    pages.write(letter.encode() * SIZE)
    return pages


def put(path, letter):
    """Overwrites a file past the page cache."""
    file = os.open(path, os.O_WRONLY | os.O_DIRECT)
    return tried(lambda: os.pwrite(file, buffer(letter), 0))


def got(path):
    """Reads a file past the page cache."""
    file, pages = os.open(path, os.O_RDONLY | os.O_DIRECT), buffer("-")
    said = tried(lambda: os.preadv(file, [pages], 0))
    return said, pages[:]


def make(*paths):
    for path in paths:
        with open(path, "wb") as file:
            file.write(b"a" * SIZE)
            file.flush()
            os.fsync(file.fileno())
        print("made")


def get(path, letter):
    """How many bits differ from a file of this letter."""
    said, found = got(path)
    print(said, sum((byte ^ ord(letter)).bit_count() for byte in found) if said == "ok" else "")


def sectors(path, new):
    """How many whole sectors at the beginning have this letter, and whether all others have another."""
    _, found = got(path)
    parts = [found[at : at + 512] for at in range(0, SIZE, 512)]
    kept = sum(part == new.encode() * 512 for part in parts)
    print(kept, all(new.encode() not in part for part in parts[kept:]))


def puts(path, *letters):
    print(*(put(path, letter) for letter in letters))


def timed(path, letter):
    began = time.monotonic()
    said = put(path, letter)
    print(said, f"{time.monotonic() - began:.4f}")


def buffered(path, letter):
    """Writes to the page cache, and flushes twice."""
    with open(path, "r+b", buffering=0) as file:
        file.write(letter.encode() * SIZE)
        print(tried(lambda: os.fsync(file.fileno())), tried(lambda: os.fsync(file.fileno())))


def append(path, text):
    """A record, with fsync."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    print(tried(lambda: os.write(file, text.encode())), tried(lambda: os.fsync(file)))


def touch(path):
    print(tried(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT))))


def fill(path):
    """Writes 1 MB, and says how much room there is before."""
    facts = os.statvfs(os.path.dirname(path))

    def write():
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        for _ in range(16):
            os.write(file, b"x" * 65536)

    print(tried(write), facts.f_bavail * facts.f_frsize < 65536)


globals()[sys.argv[1]](*sys.argv[2:])
