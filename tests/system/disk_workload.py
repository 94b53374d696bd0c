"""A random workload on a disk, by a service that starts again whenever its node has crashed.

Each life prints what it finds of the life before, and then what it does: a line when an operation begins and one when it has ended. Those of the beginning are
out before the disk hears of anything. `disk_models.rs` judges.
"""

import os
import random
import sys
import time

FOLDER = "/data"
# Whoever reads what was printed has it after this time.
HEARD = 0.0002


def say(*words):
    print(*words, flush=True)


def sync(path, flags=os.O_RDONLY):
    file = os.open(path, flags)
    os.fsync(file)
    os.close(file)


def write(path, flags, content):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | flags)
    os.write(file, content)
    os.close(file)


def found():
    """All that is there of earlier lives; then it goes."""
    lives = sorted(os.listdir(FOLDER))
    for life in lives:
        for name in sorted(os.listdir(f"{FOLDER}/{life}")):
            with open(f"{FOLDER}/{life}/{name}", "rb") as file:
                say("found", life, name, file.read().hex())
        say("seen", life)
    time.sleep(HEARD)
    for life in lives:
        for name in os.listdir(f"{FOLDER}/{life}"):
            os.unlink(f"{FOLDER}/{life}/{name}")
        os.rmdir(f"{FOLDER}/{life}")


def act(life, number, kind, name):
    path, record = f"{FOLDER}/{life}/{name}", f"{life:016}{number:016}".encode()
    if kind == "append":
        write(path, os.O_APPEND, record)
    elif kind == "push":
        # The kernel begins to write it to the disk, and flushes nothing.
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    elif kind == "sync":
        sync(path)
        sync(f"{FOLDER}/{life}")
    elif kind == "replace":
        # Whole and durable before it gets its name.
        write(path + ".new", os.O_TRUNC, record * 200)
        sync(path + ".new")
        os.rename(path + ".new", path)
    else:
        sync(f"{FOLDER}/{life}")


# What the life before was printing then is cut.
say()
found()
life = time.monotonic_ns() + int(time.time()) * 1_000_000_000
chance = random.Random(f"{sys.argv[1]} {life}")
say("life", life)
time.sleep(HEARD)
os.mkdir(f"{FOLDER}/{life}")
sync(FOLDER)
written = set()
for number in range(400):
    kind = chance.choice(["append"] * 6 + ["push"] * 6 + ["sync", "replace", "settle"])
    name = chance.choice("xy") if kind in ("replace", "settle") else chance.choice("ab")
    if kind in ("sync", "push") and name not in written:
        kind = "append"
    written.add(name)
    say("begin", number, kind, name)
    time.sleep(HEARD)
    act(life, number, kind, name)
    say("end", number)
    if chance.random() < 0.2:
        time.sleep(chance.random() * 0.01)
