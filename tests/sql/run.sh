#!/bin/sh
# Holds the functions of readers/sql/ against tests/vectors/, in real engines, and runs the examples of docs/sql.md and docs/logs.md.
# PostgreSQL, MariaDB and jq are Debian's; DuckDB, ClickHouse (chdb) and Vector's VRL go into a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/target/sql
python=$venv/bin/python
# Not every machine has a wheel of each.
# chdb-core asks for pandas and pyarrow, 800 MB that queries do not need.
"$root/scripts/venv.sh" "$venv" "$here/requirements.txt" --no-deps || python=python3
cd "$here"
[ $# -gt 0 ] || set -- written promises conditions documents logs
exec "$python" -B -m unittest --quiet "$@"
