# Trace context: an accepted trace is continued, and the configured headers are sent upstream.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Traces qw(block requests server upstream);
use Vectors qw(lua_of);

my @requests = requests();
for my $case (@requests) {
    my $accept  = $case->{accepted} ? 'true' : '{ "10.0.0.0/8" }';
    my $options = "accept = $accept, trace = " . lua_of($case->{kinds});
    $options .= ', trace_id_header = ' . lua_of($case->{trace_id_header}) if $case->{trace_id_header};
    $case->{before} = "require('resty.txid.request').configure { $options }\n";
}

my ($own) = do { local (@ARGV, $/) = __FILE__; <> } =~ /^__DATA__\n(.*)/ms;
spec_string(block(1, 'traces.json', @requests) . $own);

add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(http_config => <<'END' . upstream() . server('server_rewrite_by_lua_block { require("resty.txid.request").handle() }', ''));
map "" $txid_trace_id { default ""; }
map "" $txid_span_id { default ""; }
log_format trace "$txid_trace_id $txid_span_id";
init_by_lua_block { requests = require "support.requests" }
END
});

no_long_string();
run_tests();

__DATA__

=== TEST 2: wrong settings
--- config
location = /t { content_by_lua_block {
local request = require "resty.txid.request"
local function try(options) ngx.say(select(2, pcall(request.configure, options))) end
try { trace = true }
try { trace = "b4" }
try { trace = {} }
try { trace = { "b3", "x" } }
try { trace = { "b3", traceparent = true } }
try { trace_id_header = "X-Trace-Id" }
try { trace = "b3", trace_id_header = "X:" }
try { trace = "b3", trace_ids = "sort" }
try { trace = "b3", trace_ids = { "sorted", "epoch=x" } }
try { format = "trace" }
ngx.say(request.span())
} }
--- response_body
resty.txid.request: trace must be "off", "traceparent", "b3", "b3_single" or a list of these, not true
resty.txid.request: trace: "b4" is not one of off, traceparent, b3 and b3_single
resty.txid.request: trace: "" is not one of off, traceparent, b3 and b3_single
resty.txid.request: trace: "x" is not one of off, traceparent, b3 and b3_single
resty.txid.request: trace must be "off", "traceparent", "b3", "b3_single" or a list of these, not this table (it has the key "traceparent")
resty.txid.request: trace_id_header is "X-Trace-Id", but trace is off
resty.txid.request: trace_id_header: "X:" is not the name of a header
resty.txid.request: trace_ids: "sort" is not random, sorted or sorted_host, with the day epoch=2020-01-01 if time counts from it
resty.txid.request: trace_ids: "epoch=x" is not random, sorted or sorted_host, with the day epoch=2020-01-01 if time counts from it
resty.txid.request: format is "trace", but trace is off
nil
