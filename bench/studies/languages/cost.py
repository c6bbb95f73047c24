import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../examples/python"))
import ids

COUNT = 200_000
directory = sys.argv[1]
for kind, make in (
    ("txid", ids.txid),
    ("snowflake", ids.snowflakes(f"{directory}/orders")),
    ("segment", ids.segment(f"{directory}/invoices.segment")),
):
    for _ in range(2):
        start = time.process_time_ns()
        for _ in range(COUNT):
            make()
        spent = time.process_time_ns() - start
    print("python", kind, spent / COUNT)
