#!/bin/sh
# Measures the functions of readers/sql/ in each engine, and prints the table of README.md. It fails if an engine reads more than a range of the key.
set -eu

cd "$(dirname "$0")/../../.."
scripts/need.sh stores studies
export TXID_INSTALL=1
exec tests/sql/run.sh bench
