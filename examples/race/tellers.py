"""Two tellers of one account, each in a process of its own: both look at the balance, and pay out if it is enough. Nobody locks the account."""

import os
import sys
import time

ACCOUNT, PAID = "/tmp/account", "/tmp/paid"


def teller(start):
    os.read(start, 1)
    account = os.open(ACCOUNT, os.O_RDWR)
    balance = int(os.pread(account, 3, 0))
    if balance >= 100:
        os.pwrite(account, b"%03d" % (balance - 100), 0)
        os.write(os.open(PAID, os.O_WRONLY | os.O_CREAT | os.O_APPEND), b"100 ")
    os._exit(0)


with open(ACCOUNT, "w") as file:
    file.write("100")
start, go = os.pipe()
for _ in range(2):
    if os.fork() == 0:
        os.close(go)
        teller(start)
time.sleep(2)
# Nobody writes into the pipe any more: both begin.
os.close(go)
os.wait()
os.wait()
with open(PAID) as file:
    paid = len(file.read().split())
print(f"paid {paid} times")
sys.exit(paid != 1)
