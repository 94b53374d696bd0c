"""Sends orders, and repeats what fails: client.py HOST ORDERS TRIES."""

import http.client
import sys
import time

PATIENCE = 1.0


def order(host: str, key: str) -> bool:
    """Whether the server has taken it, as far as is known here."""
    connection = http.client.HTTPConnection(host, 80, timeout=PATIENCE)
    try:
        connection.request("POST", "/", headers={"Idempotency-Key": key})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def main() -> None:
    """Sends one order after the other; between tries it waits twice as long each time."""
    host, orders, tries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for number in range(orders):
        for attempt in range(tries):
            if order(host, str(number)):
                print("taken", number, "at try", attempt + 1, flush=True)
                break
            time.sleep(0.1 * 2**attempt)
        else:
            print("failed", number, flush=True)


main()
