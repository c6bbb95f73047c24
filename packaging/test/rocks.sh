# The rocks of a release, in a bare Debian without Rust: in LuaJIT, in nginx, and the plugins for Kong and APISIX where these look for them.
. packaging/test/_common.sh
. packaging/test/_chroot.sh

. packaging/facts.sh
# packaging/test/release.sh has packed them.
[ -n "${PACKED-}" ] || packaging/rocks.sh
[ "$(id -u)" -eq 0 ] || { echo "# the rocks were made but not installed: a chroot needs root"; exit 0; }
. /etc/os-release
fresh "${RELEASE:-$VERSION_CODENAME}" ca-certificates
in_root sh -c 'apt-get update && apt-get install -y --no-install-recommends luarocks nginx libnginx-mod-http-lua' >"$log" 2>&1 || fail "$(tail -n 5 "$log")"
mkdir "$root/tmp/txid"
cp dist/*.rock "$root/tmp/txid/"

install() { in_root sh -c "luarocks --lua-version 5.1 $2 install /tmp/txid/$1-$version-1.*.rock"; }

# As docs/install.md says: ids without the library, and then with it.
for rock in lua-resty-libtxid libtxid; do
    install $rock ""
    serve nginx
    is_id "$(header x-request-id "http://127.0.0.1:$port/")" "nginx with $rock"
    if [ $rock = libtxid ]; then
        stop
    else
        has "$(cat "$tmp/start.log")" "libtxid.so was not found, so ids are made in plain LuaJIT"
        sed -i '/libtxid.so was not found/d' "$tmp/start.log" "$root/srv/logs/error.log"
        stop
    fi
done

# As docs/quick-start-kong.md and docs/quick-start-apisix.md say: where Kong looks, and where APISIX does, with the libraries beside them.
install kong-plugin-txid ""
for rock in lua-resty-libtxid libtxid apisix-plugin-txid; do install $rock "--tree /usr/local/apisix/deps"; done
serves() { # serves GATEWAY DIRECTORY MODULE
    port=$(free_port)
    mkdir -p "$root/srv/logs"
    ln -s /usr/lib/nginx/modules "$root/srv/modules"
    cat >"$root/srv/nginx.conf" <<END_OF_CONF
include /etc/nginx/modules-enabled/*.conf;
pid logs/nginx.pid;
error_log logs/error.log notice;
events {}
http {
    access_log off;
    lua_package_path "$2/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua";
    lua_package_cpath "$2/lib/lua/5.1/?.so";
    init_by_lua_block {
        kong = { log = {} }
        package.loaded["apisix.core"], package.loaded["apisix.plugin"] = {}, {}
        plugin = require "$3"
        assert(require("resty.txid.lib").path == "$2/lib/lua/5.1/libtxid.so")
    }
    server {
        listen 127.0.0.1:$port;
        header_filter_by_lua_block { plugin.header_filter() }
        location / { return 200; }
    }
}
END_OF_CONF
    in_root nginx -p /srv/ -c nginx.conf 2>"$tmp/start.log" || { cat "$tmp/start.log"; fail "nginx with the plugin for $1"; }
    trap 'kill "$(cat "$root/srv/logs/nginx.pid")"' EXIT
    is_id "$(header x-request-id "http://127.0.0.1:$port/")" "the plugin for $1"
    stop
}
serves Kong /usr/local kong.plugins.txid.handler
serves APISIX /usr/local/apisix/deps apisix.plugins.txid

for tree in /usr/local/apisix/deps /usr/local; do
    for rock in kong-plugin-txid apisix-plugin-txid libtxid lua-resty-libtxid; do
        [ ! -d "$root$tree/lib/luarocks/rocks-5.1/$rock" ] || in_root luarocks --lua-version 5.1 --tree $tree remove $rock
    done
    left=$(in_root find $tree \( -name '*txid*' -o -name resty \) ! -type d)
    [ -z "$left" ] || fail "the rocks left $left"
done
