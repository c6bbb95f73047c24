# resty.txid in LuaJIT without nginx, and its errors if the library is missing or is not the right one.
#
# --- lua runs with package.cpath set to --- cpath, by default to the release library's directory. In both sections and in the
# expected output, DIR is a directory whose libtxid.so is the --- file, or is compiled from --- c.

use lib 't/support';
use Test::Base;
use File::Temp qw(tempdir);
use Files qw(write_file);
use Tree qw(library lua_cpath lua_path luajit);

luajit() ? plan('no_plan') : plan(skip_all => 'there is no luajit');
library();

sub put_library {
    my ($block, $dir) = @_;
    write_file("$dir/libtxid.so", $block->file) if defined $block->file;
    if (defined $block->c) {
        write_file("$dir/stub.c", $block->c);
        system('cc', '-shared', '-fPIC', '-o', "$dir/libtxid.so", "$dir/stub.c") == 0 or die 'cc failed';
    }
}

run {
    my ($block) = @_;
    my $name = $block->name;
    my $dir = tempdir(CLEANUP => 1);
    put_library($block, $dir);

    my ($lua, $cpath) = map { s/\bDIR\b/$dir/gr } $block->lua, $block->cpath // lua_cpath();
    chomp $cpath;
    write_file("$dir/test.lua", $lua);
    local @ENV{qw(LUA_PATH LUA_CPATH)} = (lua_path(), $cpath);
    my $luajit = luajit();
    my $out = `timeout 120 $luajit $dir/test.lua 2>&1`;
    # An ordinary user could not remove it.
    chmod 0755, "$dir/closed";

    my $expected = ($block->out // $block->out_like) =~ s/\bDIR\b/$dir/gr;
    defined $block->out ? is($out, $expected, $name) : like($out, qr/$expected/s, $name);
};

__DATA__

=== TEST 1: ids have the time of the system's clock
--- lua
assert(ngx == nil)
local txid = require "resty.txid"
local ms = require("support.decode")(txid())
print(txid():match("^[0-9a-v]+[0g]$") ~= nil, #txid(), math.abs(ms / 1000 - os.time()) < 2)
--- out
true	20	true



=== TEST 2: errors name the caller's line
--- lua
local txid = require "resty.txid"
print(pcall(function()
    local id = txid("now")
    return id
end))
--- out
false	DIR/test.lua:3: bad argument #1 to 'txid' (number, int64_t or uint64_t expected, got string)



=== TEST 3: the hot path is compiled
--- lua
local txid = require "resty.txid"
local trace = require "support.trace"
print(trace(function() return txid() end), trace(function(i) return txid(i) end))
--- out
compiled	compiled



=== TEST 4: without the library, one notice lists every path that was tried and how to install it, and ids are made
--- cpath
DIR/lua/5.1/?.so;DIR/loadall.so;DIR/?.so
--- lua
print(require("resty.txid")(655829050000):sub(1, 8), require("resty.txid")():match("^[0-9a-v]+[0g]$") ~= nil)
--- out_like chop
^resty\.txid: libtxid\.so was not found, so ids are made in plain LuaJIT; to use it, install it with .*
	DIR/lua/5\.1/libtxid\.so: no such file
	DIR/libtxid\.so: no such file
	the system's loader: libtxid\.so\.2: cannot open shared object file: No such file or directory
4om9qi54	true
$



=== TEST 5: without the library, modules that need it say so, and where they looked
--- cpath
DIR/?.so
--- lua
local lib = require "resty.txid.lib"
print(lib.engine)
print(select(2, pcall(function() return lib.C.txid_anything() end)))
--- out_like chop
^[^\n]*libtxid\.so was not found.*
pure
resty\.txid: txid_anything needs libtxid\.so, which was not found; install it with .*
	DIR/libtxid\.so: no such file
	the system's loader: libtxid\.so\.2: cannot open shared object file: No such file or directory
$



=== TEST 6: without the library, a module that needs it cannot be loaded, so that nginx does not start
--- cpath
DIR/?.so
--- lua
local needy = {}
for file in io.popen("cd lua && find resty -name '*.lua' ! -path '*request*' | sort"):lines() do
    local name = file:gsub("%.lua$", ""):gsub("/", ".")
    local ok, err = pcall(require, name)
    if not ok then
        needy[#needy + 1] = err:match("^" .. name:gsub("%p", "%%%0") .. " needs libtxid%.so, which was not found; install it with ")
            and name:match("[%w_]+$") or err
    end
end
print(table.concat(needy, " "))
--- out_like chop
^resty\.txid: libtxid\.so was not found.*?No such file or directory
codec hidden inspect maker segment snowflake trace uuid



=== TEST 7: a file that is not a library is an error with its name and the loader's message
--- file
not a library
--- cpath
DIR/?.so
--- lua
print(select(2, pcall(require, "resty.txid")))
--- out_like chop
^resty\.txid: cannot load libtxid\.so; install it with .*
	DIR/libtxid\.so: .*(file too short|invalid ELF header)



=== TEST 8: a library after one that cannot be loaded is found
--- file
not a library
--- lua
package.cpath = "DIR/?.so;" .. package.cpath
print(#require "resty.txid"())
--- out
20



=== TEST 9: a library with another ABI version
--- c
unsigned txid_abi_version(void) { return 4000000000u; }
--- cpath
DIR/?.so
--- lua
print(select(2, pcall(require, "resty.txid")))
--- out_like chop
^resty\.txid: DIR/libtxid\.so has ABI version 4000000000, these Lua files need \d+; install both from one release
$



=== TEST 10: a library that is something else
--- c
int something_else;
--- cpath
DIR/?.so
--- lua
print(select(2, pcall(require, "resty.txid")))
--- out_like chop
^resty\.txid: DIR/libtxid\.so has ABI version unknown, these Lua files need \d+; install both from one release
$




=== TEST 11: a directory without search permission is skipped, as by Lua's own loaders
--- cpath
DIR/closed/?.so
--- lua
os.execute("mkdir -m 0 DIR/closed")
-- The user nobody may not be able to read this tree.
require "resty.txid.cdefs"
local load_lib = assert(loadfile(package.searchpath("resty.txid.lib", package.path)))
require "support.be_nobody"()
print(load_lib().engine)
--- out_like chop
^resty\.txid: libtxid\.so was not found, .*
pure
$



=== TEST 12: a library without read permission is an error
--- file
closed
--- cpath
DIR/?.so
--- lua
os.execute("chmod 755 DIR; chmod 0 DIR/libtxid.so")
-- The user nobody may not be able to read this tree.
require "resty.txid.cdefs"
local load_lib = assert(loadfile(package.searchpath("resty.txid.lib", package.path)))
require "support.be_nobody"()
print(select(2, pcall(load_lib)))
--- out_like chop
^resty\.txid: cannot load libtxid\.so; install it with .*
	DIR/libtxid\.so: .*Permission denied



=== TEST 13: every module that the documents name can be loaded, unless it needs nginx
--- lua
local count = 0
for _, name in ipairs { "README.md", "docs/lua.md", "docs/formats.md" } do
    for module in io.open(name):read("*a"):gmatch("`(resty%.txid[%w_.]*)`") do
        if not module:find("request", 1, true) then
            count = count + 1
            local ok = pcall(require, module)
            if not ok then
                print(name .. ": there is no " .. module)
            end
        end
    end
end
print(count > 4)
--- out
true



=== TEST 14: modules require only the three modules that all share; only those on top of the others require more
--- lua
local SHARED = { args = true, lib = true, text = true }
local ON_TOP = {
    envoy = { ["request.options"] = true, ["request.rules"] = true },
    lib = { cdefs = true },
    trace = { maker = true },
    uuid = { inspect = true, maker = true },
}
local count = 0
for file in io.popen("cd lua/resty/txid && find . -name '*.lua' ! -path '*request*'"):lines() do
    local module = file:match("([%w_]+)%.lua$")
    local source = io.open("lua/resty/txid/" .. file):read("*a")
    for required in source:gmatch('= require ?%(?"resty%.txid%.?([%w_.]*)"') do
        count = count + 1
        if not SHARED[required] and not (ON_TOP[module] or {})[required] then
            print(module .. " requires " .. required)
        end
    end
end
print(count > 20)
--- out
true



=== TEST 15: an entry below a file has no library
--- file
a file
--- cpath
DIR/libtxid.so/?.so
--- lua
print(require("resty.txid.lib").engine)
--- out_like chop
^resty\.txid: libtxid\.so was not found, .*
	DIR/libtxid\.so/libtxid\.so: no such file
.*
pure
$



=== TEST 16: the path of the library is known
--- lua
print((require("resty.txid.lib").path:gsub("^.*/", "")))
--- out
libtxid.so



=== TEST 17: a library that the system's loader finds and cannot load is an error
--- file
not a library
--- cpath
DIR/none/?.so
--- lua
os.execute("mv DIR/libtxid.so DIR/libtxid.so.2")
os.execute("LD_LIBRARY_PATH=DIR " .. arg[-1] .. " -e 'print(select(2, pcall(require, \"resty.txid\")))'")
--- out_like chop
^resty\.txid: cannot load libtxid\.so; install it with .*
	the system's loader: .*libtxid\.so\.2: (file too short|invalid ELF header)



=== TEST 18: a library of another release with the same ABI version
--- c
unsigned txid_abi_version(void) { return 2; }
unsigned txid_internal_version(void) { return 4000000000u; }
--- cpath
DIR/?.so
--- lua
print(select(2, pcall(require, "resty.txid")))
--- out_like chop
^resty\.txid: DIR/libtxid\.so is of another release than these Lua files; install both from one
$



=== TEST 19: a second Lua state does not say again that the library is missing; a child does, because it may write to another log
--- cpath
DIR/?.so
--- lua
require "resty.txid"
package.loaded["resty.txid"], package.loaded["resty.txid.lib"] = nil, nil
require "resty.txid"
os.execute(arg[-1] .. " -e 'require \"resty.txid\"'")
--- out_like chop
^(?:resty\.txid: libtxid\.so was not found(?:(?!was not found).)*){2}$
