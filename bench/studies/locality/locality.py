"""locality.py ROOT NGINX: writes README.md and locality.svg, here."""

import datetime
import pathlib
import sqlite3
import statistics
import sys

import chdb

import clickhouse
import ids
import plot
import sqlite

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tests/samplers"))
import through_nginx

ROUNDS = 3

TRACES = {
    "`txid_trace_ids random`": ("txid_trace_ids random;", "$txid_trace_id"),
    "`txid_trace_ids sorted_seconds`": ("txid_trace_ids sorted_seconds;", "$txid_trace_id"),
    "`txid_trace_ids sorted`": ("txid_trace_ids sorted;", "$txid_trace_id"),
}


def main(root, nginx):
    kinds = ids.kinds(root)
    granules, clickhouse_rates = {}, {name: [] for name in kinds}
    pages, sqlite_rates, steps = {}, {name: [] for name in kinds}, {name: [] for name in kinds}
    merge_tree, b_tree = clickhouse.Table(), sqlite.Table()
    # The kinds take turns in each round, so that other load affects all of them.
    for _ in range(ROUNDS):
        for name, made in kinds.items():
            clickhouse_rates[name].append(merge_tree.fill(made))
            granules[name] = merge_tree.granules_of_neighbors(made)
            rates, rate = b_tree.fill(made)
            steps[name].append(rates)
            sqlite_rates[name].append(rate)
            pages[name] = b_tree.pages_of_neighbors(made)
    traces, trace_granules = through_nginx.logged(root, nginx, TRACES, ids.COUNT), {}
    # Their first 8 digits are the seconds.
    a_second = ids.COUNT // len({an_id[:8] for an_id in traces["`txid_trace_ids sorted_seconds`"]})
    for name, made in traces.items():
        merge_tree.fill(made)
        trace_granules[name] = merge_tree.granules_of_neighbors(made)
    merge_tree.close()
    b_tree.close()

    def trace_rows():
        random_read, _ = next(iter(trace_granules.values()))
        for name, (read, there_are) in trace_granules.items():
            yield f"| {name} | {read:,} of {there_are:,} | {random_read / read:.0f} |"

    def rows(reads, rates):
        (random_read, _), random_rates = reads["UUID v4"], rates["UUID v4"]
        for name in kinds:
            read, there_are = reads[name]
            faster = statistics.median(rate / random for rate, random in zip(rates[name], random_rates))
            yield (f"| {name} | {read:,} of {there_are:,} | {random_read / read:.0f} | "
                   f"{statistics.median(rates[name]):,.0f} | {faster:.2f} |")

    head = "| | {} read | times fewer | rows a second | times as fast |\n|---|--:|--:|--:|--:|\n"
    document = f"""# How ids that sort by time affect a database

Written by `bench/studies/locality/run.sh` on {datetime.date.today()}, with chdb {chdb.__version__} and SQLite {sqlite3.sqlite_version}: {ids.COUNT:,} ids of each
kind, {ids.IDS_A_MS} a millisecond, as the primary key of rows with 100 more bytes. The look-up is of {clickhouse.NEIGHBOURS:,} ids that were made
one after the other, like the requests of an incident. Rates are medians of {ROUNDS} rounds in which the kinds take turns, and are
compared within a round.

## ClickHouse

Rows of a MergeTree table are stored in granules of 8,192, and a granule is the smallest unit that is read. An index has the first key of
each, so neighboring ids need one or two granules, and ids from all over the table need nearly all.

{head.format("granules")}""" + "\n".join(rows(granules, clickhouse_rates)) + f"""

The same for a trace store: the ids of {ids.COUNT:,} traces that {through_nginx.WORKERS} workers of nginx made for as many requests, and a look-up of
{clickhouse.NEIGHBOURS:,} that follow each other in its log.

| | granules read | times fewer |
|---|--:|--:|
""" + "\n".join(trace_rows()) + f"""

Ids of `sorted_seconds` that were made in the same second are in random order, so a look-up reads the rows of its seconds; here, nginx made
{a_second:,} a second.

## SQLite

The id of a row determines its page in the B-tree. A new id that sorts after all others goes into the last page, which is in the cache;
a random one goes into any page, which must be fetched, possibly split, and written.

{head.format("pages")}""" + "\n".join(rows(pages, sqlite_rates)) + """

![Rows a second that SQLite inserts, while the table grows](locality.svg)
"""
    here = pathlib.Path(__file__).parent
    (here / "README.md").write_text(document)
    lines = {}
    for name in kinds:
        medians = [statistics.median(rates) for rates in zip(*steps[name])]
        lines[name] = [((number + 1) * ids.COUNT / len(medians), rate) for number, rate in enumerate(medians)]
    title = "Rows a second that SQLite inserts, while the table grows"
    (here / "locality.svg").write_text(plot.svg(title, "rows in the table", lines))
    print(document)


main(*sys.argv[1:])
