#!/bin/sh
# venv.sh DIR REQUIREMENTS [OPTION...]: makes DIR a Python virtual environment with the packages in the file, unless it is
# one already. The options are pip's. Without TXID_INSTALL=1 it only says what to type.
set -eu

directory=$1
requirements=$2
shift 2
if cmp -s "$requirements" "$directory/requirements.txt"; then
    exit 0
fi
if [ -z "${TXID_INSTALL:-}" ]; then
    echo "txid: $directory lacks Python packages. Type: TXID_INSTALL=1 scripts/venv.sh $directory $requirements $*" >&2
    exit 1
fi
python3 -m venv --clear "$directory"
"$directory/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@" -r "$requirements"
cp "$requirements" "$directory/requirements.txt"
