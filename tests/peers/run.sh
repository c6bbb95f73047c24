#!/bin/sh
# Holds the ids of target/release/libtxid.so against those of other people's code:
# Python's uuid, Apache's mod_unique_id, and OpenTelemetry's propagators; shows `txid inspect` the ids of the libraries of other
# formats; and holds the manifests of examples/agent against the schemas of Kubernetes and Compose. Python packages go into a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/target/peers
"$root/scripts/venv.sh" "$venv" "$here/requirements.txt"
cd "$here"
[ $# -gt 0 ] || set -- uuids apache opentelemetry_headers readings logs manifests
exec "$venv/bin/python" -B -m unittest --quiet "$@"
