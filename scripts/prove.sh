#!/bin/sh
# prove.sh [FILE...]: runs the test-nginx suites against target/release/libtxid.so. Without arguments, runs all of t/ but what
# needs txid-agent, the tests of pages and installation, which need the command, and the limits of instructions; then those of resty.txid again
# without the library.
set -eu

cd "$(dirname "$0")/.."

installed=$(/sbin/ldconfig -p 2>/dev/null | sed -n 's/.*libtxid\.so.* => //p' | head -n 1)
if [ -e "$installed" ]; then
    echo "prove.sh: $installed is installed, where the tests without the library would find it: remove it first" >&2
    echo "    (sudo make uninstall; or apt-get remove libtxid2)" >&2
    exit 1
fi

# nginx takes no space in the path of a file that it loads. Links have none.
case $PWD in
    *[[:space:]]*)
        links=$(mktemp -d)
        trap 'rm -rf "$links"' EXIT
        trap 'exit 130' INT TERM
        chmod 755 "$links"
        ln -s "$PWD"/* "$PWD"/.[a-z]* "$links"
        cd "$links"
        ;;
esac

wanted="ndk_http_module ngx_http_lua_module ngx_http_headers_more_filter_module ngx_stream_module ngx_stream_lua_module"
. scripts/nginx.sh

export TEST_NGINX_BINARY="${TEST_NGINX_BINARY:-$nginx}"
export TEST_NGINX_LOAD_MODULES="${TEST_NGINX_LOAD_MODULES:-${modules# }}"

include=
if perl -MTest::Nginx::Socket::Lua -e 1 2>/dev/null; then
    echo "t/: with the installed Test::Nginx"
    # So that each file has its own ports and directory, as the stand-in gives them to it.
    export TEST_NGINX_RANDOMIZE="${TEST_NGINX_RANDOMIZE:-1}"
else
    echo "t/: with the stand-in for Test::Nginx in t/lib"
    include="-I t/lib"
fi
# How long a response may take on a machine that has other things to do.
export TEST_NGINX_TIMEOUT="${TEST_NGINX_TIMEOUT:-60}"
# Several at once, because a file mostly waits.
include="$include -j 4"

if [ $# -gt 0 ]; then
    # shellcheck disable=SC2086 # nothing, or an option and its value
    prove $include "$@"
    exit
fi
# Both, even if the first fails.
status=0
# shellcheck disable=SC2046,SC2086 # lists of files
prove $include $(grep -rL --include='*.t' '^use Agent' t | grep -Ev '/(documents|install|instructions)\.t$' | sort) || status=$?
echo "t/: resty.txid and the ids of clients in plain LuaJIT"
# shellcheck disable=SC2086
TXID_WITHOUT_LIBRARY=1 prove $include t/txid t/request/client-ids.t t/request/configure.t t/request/decisions.t t/request/handle.t || status=$?
exit "$status"
