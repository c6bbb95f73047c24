# The tests of the original lua-resty-txid, spec/txid_spec.lua, with our files in its place and on both engines, in Debian's nginx. Its sources
# are in lua-resty-txid below PEERS=, as for make bench.
. packaging/test/_common.sh

spec=${PEERS-}/lua-resty-txid/spec/txid_spec.lua
[ -f "$spec" ] || { echo "# not run: PEERS= has no lua-resty-txid with its spec/"; exit 0; }
make --no-print-directory build
mkdir -p "$tmp/lib" "$tmp/prefix/logs"
cp target/release/libtxid.so "$tmp/lib/"

# What its tests use of busted.
cat >"$tmp/busted.lua" <<'END_OF_LUA'
local asserts = { called = assert }
function asserts.truthy(value, message) return asserts.called(value, message or "not true") end
function asserts.is_nil(value) return asserts.called(value == nil, "not nil: " .. tostring(value)) end
function asserts.is_not_nil(value) return asserts.called(value ~= nil, "nil") end
function asserts.equal(expected, got) return asserts.called(expected == got, tostring(got) .. " is not " .. tostring(expected)) end
function asserts.same(expected, got)
    asserts.equal(#expected, #got)
    for i = 1, #expected do asserts.equal(expected[i], got[i]) end
end
local passed, failed = 0, {}
local env = setmetatable({
    assert = asserts,
    describe = function(_, body) body() end,
    it = function(name, body)
        local ok, err = pcall(body)
        if ok then passed = passed + 1 else failed[#failed + 1] = name .. ": " .. tostring(err) end
    end,
}, { __index = _G })
return function(file)
    setfenv(asserts.called(loadfile(file)), env)()
    return passed, table.concat(failed, "\n"), require("resty.txid.lib").engine
end
END_OF_LUA
for engine in native pure; do
    directory=$tmp/lib
    [ $engine = native ] || directory=/nowhere
    port=$(free_port)
    cat >"$tmp/prefix/nginx.conf" <<END_OF_CONF
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
pid logs/nginx.pid;
error_log logs/error.log;
events {}
http {
    access_log off;
    lua_package_path "$PWD/lua/?.lua;$tmp/?.lua;;";
    lua_package_cpath "$directory/?.so;";
    server {
        listen 127.0.0.1:$port;
        location / { content_by_lua_block { local n, failed, engine = require("busted")("$spec") ngx.header.x_ran = n .. " " .. engine ngx.say(failed) } }
    }
}
END_OF_CONF
    chmod 755 "$tmp" "$tmp/prefix" "$tmp/lib"
    /usr/sbin/nginx -p "$tmp/prefix/" -c nginx.conf -g "user root;"
    trap 'kill "$(cat "$tmp/prefix/logs/nginx.pid")"' EXIT
    said=$(perl -MHTTP::Tiny -e 'my $r = HTTP::Tiny->new(timeout => 120)->get(shift); print $r->{headers}{"x-ran"} // "none", "\n", $r->{content}' "http://127.0.0.1:$port/")
    [ "$(printf '%s\n' "$said" | sed -n 1p)" = "10 $engine" ] || fail "$engine: $said $(tail -n 3 "$tmp/prefix/logs/error.log")"
    pid=$(cat "$tmp/prefix/logs/nginx.pid")
    kill "$pid"
    trap - EXIT
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
echo "# its ten tests pass on both engines"
