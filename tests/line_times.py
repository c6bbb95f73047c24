"""Logs in 25 formats of time and in all zones, read by Python's datetime and re: `txid grep` finds the same records. `line_times.py TXID [LOGS [WINDOWS]]`"""

import datetime as dt
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile
import zoneinfo

SEED = random.randrange(1 << 32)
MORE = ["\tat com.acme.Order.pay(Order.java:41)", "Caused by: java.io.IOException: timed out", "", "  | null", "}"]
LETTERS = "0123456789abcdefghijklmnopqrstuv"

# How a time is written, how its digits are read back, and whose clock it is.
LOCAL, UTC, OFFSET = range(3)
FORMATS = [
    ('10.0.0.7 - - [{d:%d/%b/%Y:%H:%M:%S %z}] "GET /a HTTP/1.1" 200', OFFSET, 1),
    ("{d:%Y-%m-%dT%H:%M:%S}.{ms:03}Z main: ", UTC, 1000),
    ("{d:%Y-%m-%dT%H:%M:%S}.{us:06}{d:%z} x", OFFSET, 1000),
    ("{d:%Y-%m-%d %H:%M:%S},{ms:03} - root - ERROR - x", LOCAL, 1000),
    ("{d:%Y/%m/%d %H:%M:%S}.{us:06} main.go:7: x", LOCAL, 1000),
    ("{d:%Y/%m/%d %H:%M:%S} [error] 7#7: *1 open() failed", LOCAL, 1),
    ("{d:%b} {d.day:2} {d:%H:%M:%S} web-1 sshd[7]: x", LOCAL, 1),
    ("<34>1 {d:%Y-%m-%dT%H:%M:%S}.{ms:03}Z web-1 su - ID47 - x", UTC, 1000),
    ("I{d:%m%d %H:%M:%S}.{us:06}    7 main.go:7] x", LOCAL, 1000),
    ("W{d:%Y%m%d %H:%M:%S}.{us:06} 7 a.cc:7] x", LOCAL, 1000),
    ("{d:%d-%b-%Y %H:%M:%S}.{ms:03} INFO [main] x", LOCAL, 1000),
    ("7:M {d:%d %b %Y %H:%M:%S}.{ms:03} * x", LOCAL, 1000),
    ("{d:%b} {d.day}, {d:%Y} {h}:{d:%M:%S %p} com.acme.Main main", LOCAL, 1),
    ("[{d:%a %b %d %H:%M:%S}.{us:06} {d:%Y}] [core:error] x", LOCAL, 1000),
    ("{d:%a %b %d %H:%M:%S} UTC {d:%Y} x", UTC, 1),
    ("x {d:%a, %d %b %Y %H:%M:%S} GMT x", UTC, 1),
    ("{d:%Y-%m-%d %H:%M:%S}.{ms:03} UTC [7] LOG:  x", UTC, 1000),
    ("{d:%Y-%m-%d %H:%M:%S}+00 x", UTC, 1),
    ("Start-Date: {d:%Y-%m-%d  %H:%M:%S}", LOCAL, 1),
    ('{{"level":30,"time":{t},"msg":"at 10:00:00"}}', UTC, 1000),
    ('{{"level":"info","ts":{s}.{ms:03}}}', UTC, 1000),
    ('{{"__CURSOR":"s=0","__REALTIME_TIMESTAMP":"{t}{sub:03}","MESSAGE":"x"}}', UTC, 1000),
    ('{{"msg":"since 2001-01-01T00:00:00Z","@timestamp":"{d:%Y-%m-%dT%H:%M:%S}.{ms:03}Z"}}', UTC, 1000),
    ("{s}.{ms:03}    200 10.0.0.7 TCP_MISS/200", UTC, 1000),
    ('time={d:%Y-%m-%dT%H:%M:%S}Z level=info msg="x"', UTC, 1),
]


def txid(ms):
    bits = (ms << 54 | random.getrandbits(54)) << 4
    return "".join(LETTERS[bits >> 5 * (19 - place) & 31] for place in range(20))


def written(form, clock, at, zone):
    """The text of a moment, and the moment without a zone, if it is local."""
    zone = {LOCAL: zone, UTC: dt.timezone.utc, OFFSET: dt.timezone(dt.timedelta(minutes=random.randrange(-719, 840)))}[clock]
    d = dt.datetime.fromtimestamp(at // 1_000_000, zone)
    names = {"d": d, "us": at % 1_000_000, "ms": at // 1000 % 1000, "sub": at % 1000, "t": at // 1000, "s": at // 1_000_000}
    return form.format(h=int(d.strftime("%I")), **names), d.replace(tzinfo=None)


def read(form, clock, fraction, at, naive, zone, changed):
    """The milliseconds that the text says."""
    ms = at // 1000 % 1000 if fraction > 1 else 0
    if clock != LOCAL:
        return at // 1_000_000 * 1000 + ms
    moments = [naive]
    if not re.search("%Y", form):
        moments = []
        for year in range(naive.year + 1, naive.year - 9, -1):
            try:
                moments.append(naive.replace(year=year))
            except ValueError:
                pass
    for moment in moments:
        # An hour that comes twice is the first, and one that does not come goes on from before.
        found = int(moment.replace(tzinfo=zone, fold=0).timestamp()) * 1000 + ms
        if len(moments) == 1 or found <= changed:
            return found


def make_log(directory, number):
    form, clock, fraction = FORMATS[number % len(FORMATS)]
    zone = ZONES[number % len(ZONES)]
    at = random.randrange(1_400_000_000, 1_780_000_000) * 1_000_000
    step = random.choice([1_000, 1_000_000, 60_000_000, 7_200_000_000])
    changed = (at + step * 400) // 1000
    has_ids, end = random.choice([0, 0, 0.5, 1]), random.choice(["\n", "\n", "\r\n"])
    records = []
    for _ in range(200):
        text, naive = written(form, clock, at, zone)
        ms, by_id = read(form, clock, fraction, at, naive, zone, changed), None
        if random.random() < has_ids:
            by_id = at // 1000 - random.randrange(0, 5000)
            text = text[:-1] + ',"id":"%s"}' % txid(by_id) if text.endswith("}") else text + " " + txid(by_id)
        lines = [text] + (random.choices(MORE, k=random.randrange(1, 5)) if random.random() < 0.3 else [])
        records.append((ms, by_id, [line + end for line in lines]))
        at += random.randrange(0, 2 * step)
    raw = "".join("".join(lines) for _, _, lines in records).encode()
    path = os.path.join(directory, "a.log")
    pack = random.choice(["", "", ".gz", ".zst"])
    if pack == ".zst":
        raw = subprocess.run(["zstd", "-qc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    with open(path + pack, "wb") as file:
        file.write(gzip.compress(raw) if pack == ".gz" else raw)
    os.utime(path + pack, ns=(changed * 1_000_000,) * 2)
    return path + pack, zone.key, records


def main(program, logs=25, windows=8):
    random.seed(SEED)
    random.shuffle(ZONES)
    for number in range(logs):
        with tempfile.TemporaryDirectory() as directory:
            path, zone, records = make_log(directory, number)
            for _ in range(windows):
                ends = sorted(random.choice(records)[random.randrange(2)] or records[0][0] for _ in range(2))
                begin, stop = ends[0] + random.randrange(2), ends[1] + random.randrange(1, 3)
                by, is_lines = random.choice(["either", "either", "id", "line"]), random.random() < 0.2
                pattern = random.choice([None, None, "timed out$", r"^\tat .*java:\d+", "10|x"])
                is_inverted = pattern is not None and random.random() < 0.3
                found = b""
                for ms, by_id, lines in records:
                    counts = {"id": by_id, "line": ms, "either": ms if by_id is None else by_id}[by]
                    for text in [lines[:1]] if is_lines else [lines]:
                        has_it = pattern is None or any(re.search(pattern, line.rstrip("\r\n")) for line in text)
                        if counts is not None and begin <= counts < stop and has_it != is_inverted:
                            found += "".join(text).encode()
                args = ["grep", f"--from={begin}", f"--to={stop}", "--format=txid", f"--by={by}", path]
                args += ["--lines"] * is_lines + (["-e", pattern] if pattern else []) + ["-v"] * is_inverted
                said = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"TZ": zone})
                if said.stdout != found:
                    sys.stdout.buffer.write(b"expected:\n" + found[:600] + b"\nfound:\n" + said.stdout[:600])
                    raise SystemExit(f"\n{SEED=} log {number}: TZ={zone} {FORMATS[number % len(FORMATS)]} {args}")
    print(f"{logs * windows} windows of {logs} logs are the same")


if __name__ == "__main__":
    ZONES = [zoneinfo.ZoneInfo(name) for name in sorted(zoneinfo.available_timezones()) if name != "localtime"]
    main(sys.argv[1], *map(int, sys.argv[2:]))
