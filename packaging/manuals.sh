#!/bin/sh
# manuals.sh DIRECTORY [TXID]: writes the manuals and the shell completions of the built command beside it: DIRECTORY/man and
# DIRECTORY/completions. TXID is the command to ask, by default that of DIRECTORY.
set -eu

txid=${2:-$1/txid}
rm -rf "$1/man" "$1/completions"
mkdir -p "$1/man" "$1/completions/bash" "$1/completions/zsh" "$1/completions/fish"
"$txid" man >"$1/man/txid.1"
for command in $("$txid" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' | grep -vx help); do
    "$txid" man "$command" >"$1/man/txid-$command.1"
done
"$txid" completions bash >"$1/completions/bash/txid"
"$txid" completions zsh >"$1/completions/zsh/_txid"
"$txid" completions fish >"$1/completions/fish/txid.fish"
