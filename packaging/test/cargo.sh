# `cargo install` of the command, which installs nothing else.
. packaging/test/_common.sh

cargo install --locked --path crates/cli --root "$tmp/root"
is_id "$("$tmp/root/bin/txid")" "the command"
[ "$(ls "$tmp/root/bin")" = txid ] || fail "more than the command was installed: $(ls "$tmp/root/bin")"
