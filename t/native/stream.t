# The variables of the nginx module for stream.

use lib 't/support';
use Files qw(write_file);
use Native qw(nginx_has_stream);
use Test::More;
BEGIN { plan skip_all => 'this nginx has no stream' unless nginx_has_stream() }
use Test::Nginx::Socket::Lua::Stream 'no_plan';
use State;
use Suite;

write_file(State::directory() . '/orders.key', "85962D72415D32DA4F2C574C02C44ED9\n", 0600);

run_tests();

__DATA__

=== TEST 1: each variable has its format, and is the same whenever it is read
--- stream_config
txid_variable $order snowflake node=17 state=DIR/orders;
txid_time $txid $ms;
txid_time $txid $iso iso8601;
map $remote_addr $other { default 01890000-0000-7000-8000-000000000000; }
txid_time $other $other_ms;
--- stream_server_config
return "$txid $txid $ms $iso $txid_strong $txid_uuid_v1 $txid_uuid_v4 $txid_uuid_v7 $txid_flake $txid_unique_id $order $txid_traceparent $txid_trace_id $txid_span_id $txid_b3 $txid_b3_sampled [$txid_b3_flags$txid_parent_span_id] $other_ms\n";
--- stream_response_like
^([0-9a-v]{19}[0g]) \1 (\d{13}) 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-v]{19}[0g] [0-9a-f-]{14}1[0-9a-f-]{21} [0-9a-f-]{14}4[0-9a-f-]{21} [0-9a-f-]{14}7[0-9a-f-]{21} [0-9A-Za-z]{22} [0-9A-Za-z_-]{27} \d{19} 00-([0-9a-f]{32})-([0-9a-f]{16})-03 \3 \4 \3-\4-1 1 \[\] 1687922147328$



=== TEST 2: numbers and UUIDs are hidden and revealed
--- stream_config
map $remote_addr $number { default 42; }
map $remote_addr $mistyped { default 93283471658; }
txid_hide $number $shown key=DIR/orders.key name=orders digits=10 check;
txid_reveal $shown $revealed key=DIR/orders.key name=orders digits=10 check;
map $remote_addr $id { default 017f22e2-79b0-7cc3-98c4-dc0c0c07398f; }
txid_hide $id $shown_id key=DIR/orders.key name=orders uuid;
txid_reveal $shown_id $revealed_id key=DIR/orders.key name=orders uuid;
txid_reveal $mistyped $nothing key=DIR/orders.key name=orders digits=10 check;
--- stream_server_config
return "$shown $revealed [$nothing] $shown_id $revealed_id\n";
--- stream_response
93283471659 42 [] 16778b25-a699-4d18-952b-2e2f59afc912 017f22e2-79b0-7cc3-98c4-dc0c0c07398f



=== TEST 3: the headers of a session's trace
--- stream_server_config
return "$txid_trace_id $txid_uber_trace_id $txid_amzn_trace_id $txid_cloud_trace_context $txid_datadog_sampling_priority $txid_datadog_tags $txid_datadog_trace_id $txid_datadog_parent_id\n";
--- stream_response_like
^(([0-9a-f]{8})([0-9a-f]{8}))([0-9a-f]{16}) \1\4:[0-9a-f]{16}:0:1 Root=1-\2-\3\4;Parent=[0-9a-f]{16};Sampled=1 \1\4/\d+;o=1 1 _dd\.p\.tid=\1 \d+ \d+$



=== TEST 4: an id that cannot be made is left out, and the log says why, and of which session
--- stream_config
txid_variable $order snowflake node=1 layout=time_bits=1,node_bits=10,sequence_bits=12 state=DIR/ended;
--- stream_server_config
return "[$order]\n";
--- stream_response
[]
--- error_log eval
qr/\[error\].* txid: no id: [^()]+, client: 127\.0\.0\.1, server: /
--- no_error_log
[alert]
