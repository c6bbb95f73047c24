"""Makes snowflake ids with the worker in WORKER_ID until it is ended, and knows nothing of txid.

snowflake.py DIRECTORY COUNT [stubborn] [ahead=MS]: appends them to DIRECTORY/WORKER-PID, as 8 bytes each, COUNT every
5 ms. A stubborn one ignores SIGTERM. One that runs ahead makes COUNT for each ms, and those of the next MS ms at once.
"""

import os
import signal
import struct
import sys
import time

EPOCH_MS = 1288834974657


def now_ms():
    return time.time_ns() // 1_000_000 - EPOCH_MS


def main():
    worker = int(os.environ["WORKER_ID"])
    count = int(sys.argv[2])
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ahead_ms = sum(int(word[6:]) for word in sys.argv if word.startswith("ahead="))
    path = os.path.join(sys.argv[1], f"{worker}-{os.getpid()}")
    with open(path, "ab", buffering=0) as file:
        last_ms = 0
        while True:
            ms = now_ms() + ahead_ms
            if ms > last_ms:
                # Only a generator that runs ahead fills what is left out.
                start = max(last_ms + 1, ms - ahead_ms) if ahead_ms else ms
                for made_ms in range(start, ms + 1):
                    first = made_ms << 22 | worker << 12
                    file.write(struct.pack(f"={count}Q", *range(first, first + count)))
                last_ms = ms
            try:
                time.sleep(0.005)
            except OSError:
                # With libfaketime, if the clock is stepped meanwhile.
                pass


main()
