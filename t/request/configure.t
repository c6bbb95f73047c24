# The errors of configure().

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_file);

my $vectors = lua_file('validity');
add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(lua => $block->lua =~ s/VECTORS/$vectors/r);
});

run_tests();

__DATA__

=== TEST 1: a wrong value for each option
--- lua
local configure = require("resty.txid.request").configure
local function try(...)
    local ok, err = pcall(configure, ...)
    ngx.say(ok and "fine" or err)
end
try()
try("x")
try { acept = true }
try { [1] = "10.0.0.0/8" }
try { header = "" }
try { header = "X Id" }
try { header = "X-Id:" }
try { header = "content-length" }
try { header = "Accept-Ranges" }
try { header = 1 }
try { header = {} }
try { header = { "A", "Host" } }
try { header = { "A", "a" } }
try { header = { "A", "B", "C", "D" } }
try { header = { "A", "B", "C", "D", "E" } }
try { header = { "A", 5 } }
try { accept = { "10.0.0.0/8", "10.0.0.0/33" } }
try { accept = { "::/129" } }
try { accept = { "::ffff:10.0.0.0/8" } }
try { accept = { "localhost" } }
try { accept = { 10 } }
try { accept = { "10.0.0.1\0" } }
try { accept = { cidr = "10.0.0.0/8" } }
try { accept = { "10.0.0.0/8", [3] = "10.0.0.0/33" } }
try { accept = { "10.0.0.0/8", [0] = "10.0.0.0/33" } }
try { accept = { "10.0.0.0/8", "off" } }
try { valid = 5 }
try { valid = "[a-" }
try { format = true }
try { format = "" }
try { format = "../txid" }
try { format = "uuid.v7" }
try { format = "snowflake" }
try { on_invalid = "ignore" }
try { on_invalid = "reject" }
try { on_invalid = "reject", accept = {} }
try { sample = "1%" }
try { trace_id_header = "X-Trace-Id" }
try { format = "same_as_trace" }
try { valid = "a" }
try { server_timing = true }
try { server_timing = "yes" }
try { response = "yes" }
try { upstream = 1 }
--- response_body_like
^bad argument #1 to 'configure' \(table expected, got nil\)
bad argument #1 to 'configure' \(table expected, got string\)
resty.txid.request: configure has no option "acept"; it has accept, format, header, on_invalid, response, sample, server_timing, trace, trace_id_header, trace_ids, trace_pass_others, trace_random_flag, trace_span, upstream, valid
resty.txid.request: configure has no option 1; it has .*
resty.txid.request: header: "" is not the name of a header
resty.txid.request: header: "X Id" is not the name of a header
resty.txid.request: header: "X-Id:" is not the name of a header
resty.txid.request: header: "content-length" has a meaning of its own; name another header, such as X-Request-Id
resty.txid.request: header: "Accept-Ranges" has a meaning of its own; name another header, such as X-Request-Id
resty.txid.request: header must be the name of a header or a list of names, not 1
resty.txid.request: header: "" is not the name of a header
resty.txid.request: header: "Host" has a meaning of its own; name another header, such as X-Request-Id
resty.txid.request: header: "a" is duplicate
fine
resty.txid.request: header: 5 headers are too many: at most 4 are allowed
resty.txid.request: header must be the name of a header or a list of names, not this table \(entry 2 is 5\)
resty.txid.request: accept: "10.0.0.0/33" is not an address, a network such as 10.0.0.0/8 or fd00::/8, unix:, all or off
resty.txid.request: accept: "::/129" is not an address, .*
resty.txid.request: accept: "::ffff:10.0.0.0/8" contains IPv4-mapped addresses, which count as IPv4: write it as an IPv4 network
resty.txid.request: accept: "localhost" is not an address, .*
resty.txid.request: accept must be true, false, a list of networks or a function, not this table \(entry 1 is 10\)
resty.txid.request: accept: "10.0.0.1\\0" is not an address, .*
resty.txid.request: accept must be .*, not this table \(it has the key "cidr"\)
resty.txid.request: accept must be .*, not this table \(it has the key 3\)
resty.txid.request: accept must be .*, not this table \(it has the key 0\)
resty.txid.request: accept: "off" cannot be combined with other networks
resty.txid.request: valid must be a regular expression or a function, not 5
resty.txid.request: valid must be a regular expression, not "\[a-" \(.*\)
resty.txid.request: format must be the name of a format or a function, not true
resty.txid.request: format must be the name of a format such as txid or uuid_v7, not "" \(resty.txid.maker(?:: "" is not a format; the formats are txid,| needs libtxid)(?:.|\n)*?\)
resty.txid.request: format must be the name of a format such as txid or uuid_v7, not "../txid" \(.*\)
resty.txid.request: format must be the name of a format such as txid or uuid_v7, not "uuid.v7" \(.*\)
resty.txid.request: format must be the name of a format such as txid or uuid_v7, not "snowflake" \(.*(?:node= is missing|needs libtxid).*\)
resty.txid.request: on_invalid: "ignore" is neither replace nor reject
(resty.txid.request: on_invalid has no effect, because accept is off: leave it out, or set accept
){2}resty.txid.request: sample has no effect, because trace is off: leave it out, or set trace
resty.txid.request: trace_id_header is "X-Trace-Id", but trace is off
resty.txid.request: format is "same_as_trace", but trace is off
resty.txid.request: valid has no effect, because accept is off: leave it out, or set accept
resty.txid.request: server_timing is true, but trace is off
resty.txid.request: server_timing must be true or false, not "yes"
resty.txid.request: response must be true or false, not "yes"
resty.txid.request: upstream must be true or false, not 1



=== TEST 2: a format that does not make a string
--- lua
local request = require "resty.txid.request"
request.configure { format = function() return 7 end }
ngx.say(select(2, pcall(request.id)))
for _, make in ipairs { function() return 7 end, function() error("none now", 0) end } do
    package.loaded["resty.txid.maker"] = { new = function() return make end }
    ngx.say(select(2, pcall(request.configure, { format = "uuid_v7" })))
end
--- response_body_like chop
request\.lua:\d+: resty\.txid\.request: format returned a number, not a string
resty\.txid\.request: format must be the name of a format such as txid or uuid_v7, not "uuid_v7" \(it makes a number, not a string\)
resty\.txid\.request: format must be the name of a format such as txid or uuid_v7, not "uuid_v7" \(none now\)
$



=== TEST 3: names of headers
--- lua
local configure = require("resty.txid.request").configure
local says = {
    not_a_name = "is not the name of a header",
    reserved = "has a meaning of its own; name another header",
    underscore = "has an underscore, and nginx drops or renames such headers; write ",
}
local wrong = 0
for _, case in ipairs(dofile("VECTORS").validity.names) do
    local ok, err = pcall(configure, { header = case.name })
    if ok ~= case.valid or not ok and not err:find(says[case.reason], 1, true) then
        ngx.say(case.name, ": ", err)
        wrong = wrong + 1
    end
end
ngx.say(wrong, " are judged wrongly")
ngx.say(select(2, pcall(configure, { header = "X_Req_Id" })))
--- response_body
0 are judged wrongly
resty.txid.request: header: "X_Req_Id" has an underscore, and nginx drops or renames such headers; write "X-Req-Id"



=== TEST 4: a trace without the library that it needs
--- http_config
init_by_lua_block {
    package.cpath = "/nowhere/?.so"
    request = require "resty.txid.request"
}
--- lua
ngx.say(select(2, pcall(request.configure, { trace = "b3" })))
ngx.say(#request.id())
--- response_body_like
^resty.txid.request: trace: resty.txid: txid_span_start needs libtxid.so, which was not found; (?s:.*)
20$
