#!/bin/sh
# Holds the ids of target/release/libtxid.so against those of other people's code: Python's uuid, Apache's mod_unique_id, and
# OpenTelemetry's propagators, which go into a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/target/peers

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
fi
cd "$here"
exec "$venv/bin/python" -B -m unittest --quiet uuids apache opentelemetry_headers
