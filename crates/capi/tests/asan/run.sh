#!/bin/sh
# run.sh [build]: every function of include/txid.h and txid-internal.h under AddressSanitizer, with buffers on the heap of exactly
# the size that the header names. Or only builds the library for that.
set -eu

cd "$(dirname "$0")/../../../.."
built=target/asan
host=$(rustc -vV | sed -n 's/^host: //p')

# The one thing here that stable Rust does not have by itself. With --target, what only runs while building goes without.
RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
    cargo build --locked --quiet --package txid-capi --features nginx --target "$host" --target-dir $built

[ "${1-}" != build ] || exit 0

cc -std=c11 -D_DEFAULT_SOURCE -g -Wall -Wextra -Werror -fsanitize=address -Iinclude -c crates/capi/tests/asan/driver.c -o $built/driver.o
functions() { grep -o 'txid_[a-z0-9_]*' | sort -u; }
cat include/txid.h include/txid-internal.h | grep -o 'txid_[a-z0-9_]*(' | functions >$built/declared
nm --undefined-only $built/driver.o | functions >$built/driven
if ! diff $built/declared $built/driven >$built/difference; then
    echo "txid: crates/capi/tests/asan/driver.c does not call these:" "$(sed -n 's/^< //p' $built/difference)" >&2
    exit 1
fi

cc -fsanitize=address $built/driver.o "$built/$host/debug/libtxid.a" -lpthread -ldl -lm -o $built/driver

# Only an agent makes the page of a segment. This one is made as an agent makes it.
LUA_PATH="t/support/?.lua;;" luajit - $built/asan.segment <<'END'
local page = require "segment_page"
page.make(arg[1])
page.publish(arg[1], 1, 1001)
END
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 $built/driver $built/asan.segment
