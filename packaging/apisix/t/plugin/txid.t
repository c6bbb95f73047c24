# For APISIX's own tests: copy this to t/plugin/ of its sources, install the rocks into its deps/, and: prove -I../test-nginx/lib t/plugin/txid.t
use t::APISIX 'no_plan';

repeat_each(1);
no_long_string();
no_root_location();

add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value('request', 'GET /t') if !$block->request;
    $block->set_value('extra_yaml_config', <<'_EOC_') if !$block->extra_yaml_config;
plugins:
    - txid
plugin_attr:
    txid:
        accept: ["127.0.0.0/8"]
_EOC_
});

run_tests;

__DATA__

=== TEST 1: the options are those of configure()
--- config
    location /t {
        content_by_lua_block {
            local plugin = require("apisix.plugins.txid")
            ngx.say(plugin.check_schema({}), " ", plugin.check_schema({ accept = { "10.0.0.0/8" } }))
            ngx.say(plugin.check_schema({ accept = { "10.0.0.0/33" } }))
        }
    }
--- response_body_like
^true true
falseaccept: "10.0.0.0/33" is not an address



=== TEST 2: enable it in a global rule
--- config
    location /t {
        content_by_lua_block {
            local t = require("lib.test_admin").test
            local code, body = t("/apisix/admin/global_rules/1", ngx.HTTP_PUT, [[{ "plugins": { "txid": {} } }]])
            ngx.status = code >= 300 and code or 200
            ngx.say(body)
        }
    }
--- response_body
passed



=== TEST 3: an answer without a route has an id
--- request
GET /none
--- error_code: 404
--- response_headers_like
X-Request-Id: [0-9a-v]{19}[0g]



=== TEST 4: the id of a client in accept is kept
--- request
GET /none
--- more_headers
X-Request-Id: from-the-front
--- error_code: 404
--- response_headers
X-Request-Id: from-the-front



=== TEST 5: a format that opentelemetry cannot take for the id of a trace is an error at the start
--- extra_yaml_config
plugins:
    - opentelemetry
    - txid
plugin_attr:
    opentelemetry:
        trace_id_source: x-request-id
--- request
GET /none
--- error_code: 404
--- error_log
format: txid is no trace id: set plugin_attr.txid.format to otel_trace_id
