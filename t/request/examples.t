# examples/gateway.conf, and the plugins for Kong and APISIX in packaging/ as far as they can be tested without these gateways.

use strict;
use warnings;
use lib 't/support';
use Example qw(request serve);
use Files qw(contents);
use Modules;
use Test::More;

my $id = qr/[0-9a-v]{20}/;

SKIP: {
    skip 'this lua-nginx-module is older than 0.10.21', 15 unless Modules::knows('server_rewrite_by_lua_block');
    my ($port, $prefix) = serve(contents('examples/gateway.conf'));

    my ($status, $sent, $body) = request($port, '/');
    is $status, 200, 'a request';
    like $sent, qr/^$id$/, 'has one id';
    like $body, qr/^\Q$sent\E 00-([0-9a-f]{32})-[0-9a-f]{16}-03 \1$/, 'which the upstream got, with a new trace';
    my ($trace_id) = $body =~ / 00-([0-9a-f]+)/;
    like contents("$prefix/logs/access.log"), qr/"GET \/ HTTP\/1.1" 200 .* $trace_id [0-9a-f]{16} \Q$sent\E$/m, 'and the log';

    my @from_client = ('X-Request-Id: from-the-front', 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    (undef, $sent, $body) = request($port, '/', @from_client);
    is $sent, 'from-the-front', 'the id of the gateway in front';
    like $body, qr/^from-the-front 00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)[0-9a-f]{16}-01 4bf9/,
        'goes on, and so does its trace, with a span of its own';

    for (['/missing', 404], ['/broken', 502]) {
        my ($path, $expected) = @$_;
        ($status, $sent, $body) = request($port, $path);
        is $status, $expected, "$path: status";
        like $sent, qr/^$id$/, "$path: one id";
        like $body, qr/quote \Q$sent\E\.$/, "$path: its page has the same";
    }

    ($status, $sent) = request($port, '/%zz');
    is $status, 400, 'a bad request';
    like $sent, qr/^$id$/, 'has an id, too';

    (undef, $sent) = request($port, '/logged');
    like contents("$prefix/logs/error.log"), qr/content_by_lua\(nginx\.conf:\d+\):\d+: \[\Q$sent\E\] something is odd/,
        'the error log has it';
}

{
    my ($port, $prefix) = serve(<<'END');
pid logs/nginx.pid;
error_log logs/error.log;
events {}
http {
    access_log off;
    init_by_lua_block {
        package.path = package.path:gsub("/lua/%?%.lua.*", "/packaging/kong/?.lua", 1) .. ";"
            .. package.path:gsub("/lua/%?%.lua.*", "/packaging/apisix/?.lua", 1) .. ";" .. package.path
        local a_new_one = function() return { type = "string" } end
        local typedefs = { no_consumer = {}, header_name = setmetatable({}, { __call = a_new_one }) }
        package.loaded["kong.db.schema.typedefs"] = typedefs
        kong = { log = { set_serialize_value = function(key, value) ngx.ctx[key] = value end } }
        attributes = { txid = { accept = { "127.0.0.0/33" } }, opentelemetry = {} }
        metadata = {}
        package.loaded["apisix.plugin"] = {
            get = function(name) return attributes[name] end,
            plugin_attr = function(name) return attributes[name] end,
            plugin_metadata = function(name) return metadata[name] end,
        }
        package.loaded["apisix.core"] = {
            log = { error = function(...) ngx.log(ngx.ERR, ...) end },
            schema = { check = function(schema, conf)
                local name = next(conf)
                return schema.additionalProperties == false and (not name or schema.properties[name]) and true, "schema"
            end },
        }
        request = require "resty.txid.request"
        kong = require "kong.plugins.txid.handler"
        apisix = require "apisix.plugins.txid"

        -- The schema only accepts values that configure() accepts.
        local schema = require "kong.plugins.txid.schema"
        assert(schema.name == "txid" and schema.fields[1].consumer == typedefs.no_consumer)
        local fields = schema.fields[#schema.fields].config.fields
        local check = schema.entity_checks[1].custom_entity_check.fn
        local network = function(text) return check { config = { accept = { text } } } end
        -- Kong gives these defaults, and null to what has none.
        defaults = {}
        local names = {}
        for _, field in ipairs(fields) do
            local name, of_field = next(field)
            defaults[name] = of_field.default
            if of_field.default == nil then defaults[name] = ngx.null end
            names[#names + 1] = name
        end
        -- As Kong marks the elements of arrays.
        for _, field in ipairs(fields) do
            local _, of_field = next(field)
            if of_field.elements then of_field.elements.required = true end
        end
        for _, field in ipairs(fields) do
            local name, of_field = next(field)
            assert(not of_field.required, name)
        end
        assert(check { config = defaults })
        assert(network("10.0.0.0/8") and network("::1") and network("unix:") and not network("[::1]"))
        -- For what init() checks later.
        function wait()
            while ngx.timer.pending_count() + ngx.timer.running_count() > 0 do ngx.sleep(0.001) end
        end
        refused = {}
        for name, value in pairs { header = { "Content-Length" }, format = "uuid_v9", trace_ids = { "epoch" }, valid = "(" } do
            local ok, why = check { config = setmetatable({ [name] = value }, { __index = defaults }) }
            refused[#refused + 1] = ok and name .. " is accepted" or why
        end
        -- As configure() names them.
        local _, err = pcall(request.configure, { nonsense = true })
        table.sort(names)
        assert(err:match("it has (.*)$") == table.concat(names, ", "), err)
        attributes.txid = nil
        assert(apisix.check_schema {} and apisix.check_schema { accept = { "10.0.0.0/8" }, trace = "b3" })
        assert(not apisix.check_schema { acept = {} })
        attributes.txid = { accept = { "127.0.0.0/33" } }
        for_all = setmetatable({
            accept = { "127.0.0.0/8" }, header = { "X-Request-Id" }, on_invalid = "reject", trace = { "traceparent" },
        }, { __index = defaults })
        for_a_route = setmetatable({
            route_id = "one", accept = { "127.0.0.0/8" }, header = { "X-Id" }, trace = { "b3_single" },
        }, { __index = defaults })
    }
    init_worker_by_lua_block {
        kong:configure()
        kong:configure { setmetatable({ accept = { "127.0.0.0/8" } }, { __index = defaults }) }
        kong:configure { for_all, for_a_route }
    }
    server {
        listen 127.0.0.1:8080;
        location = /kong {
            rewrite_by_lua_block { kong:rewrite(for_all) }
            access_by_lua_block { kong:access(for_all) }
            header_filter_by_lua_block { kong:header_filter(for_all) }
            content_by_lua_block { ngx.say(ngx.var.http_x_request_id, " ", ngx.var.http_traceparent) }
            log_by_lua_block { kong:log() logged = ngx.ctx.correlation_id }
        }
        location = /kong-route {
            rewrite_by_lua_block { if ngx.var.arg_all then kong:rewrite(for_all) end }
            access_by_lua_block { kong:access(for_a_route) }
            header_filter_by_lua_block { kong:header_filter(for_a_route) ngx.header["X-Request-Id"] = ngx.header["X-Id"] }
            content_by_lua_block { ngx.say(ngx.var.http_x_id, " ", ngx.var.http_b3, " ", ngx.var.http_traceparent) }
        }
        location = /logged { content_by_lua_block { ngx.say(logged) } }
        location = /refused { content_by_lua_block { ngx.say(table.concat(refused, "\n")) } }
        location = /apisix {
            set $apisix_request_id $request_id;
            access_by_lua_block { ngx.ctx.var = ngx.var apisix.rewrite({}, ngx.ctx) }
            header_filter_by_lua_block { apisix.header_filter({}, ngx.ctx) }
            content_by_lua_block { ngx.say(ngx.var.http_x_request_id, " ", ngx.var.apisix_request_id) }
        }
        location = /apisix-route {
            set $apisix_request_id $request_id;
            access_by_lua_block {
                conf = conf or { header = { "X-Id", "X-Request-Id" }, format = "uuid_v7", _meta = {} }
                ngx.ctx.var = ngx.var
                apisix.rewrite(conf, ngx.ctx)
            }
            header_filter_by_lua_block { apisix.header_filter(conf, ngx.ctx) ngx.header["X-Request-Id"] = ngx.header["X-Id"] }
            content_by_lua_block { ngx.say(ngx.var.http_x_id, " ", ngx.var.apisix_request_id) }
        }
        location = /init {
            content_by_lua_block {
                apisix.init()
                attributes.txid = nil
                local ok, why = apisix.check_schema { accept = "10.0.0.0/33" }
                assert(not ok and why:find('accept: "10.0.0.0/33" is not', 1, true) == 1, why)
                local txid = { accept = { "127.0.0.0/8" }, on_invalid = "reject" }
                attributes.txid = txid
                apisix.init()
                wait()
                -- Both places where APISIX's releases have it, and what is no mistake.
                metadata.opentelemetry = { value = { trace_id_source = "random" } }
                attributes.opentelemetry = { trace_id_source = "x-request-id" }
                apisix.init()
                wait()
                metadata.opentelemetry = nil
                for _, format in ipairs { "otel_trace_id", "uuid_v7" } do
                    attributes.txid = { format = format }
                    apisix.init()
                    wait()
                end
                metadata.opentelemetry = { value = { trace_id_source = "x-request-id" } }
                attributes.opentelemetry, attributes.txid = {}, txid
                apisix.init()
                wait()
            }
        }
    }
}
END

    my $trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    my ($status, $sent, $body) = request($port, '/kong');
    like $sent, qr/^$id$/, 'Kong: one id';
    like $body, qr/^\Q$sent\E 00-[0-9a-f]{32}-[0-9a-f]{16}-03\n$/, 'Kong: sent upstream, with a new trace';
    (undef, $sent, $body) = request($port, '/kong', 'X-Request-Id: from-the-front', "traceparent: 00-$trace-00f067aa0ba902b7-01");
    is $sent, 'from-the-front', 'Kong: the id of a gateway in front';
    like $body, qr/^from-the-front 00-$trace-(?!00f067aa0ba902b7)[0-9a-f]{16}-01\n$/, 'Kong: and its trace';
    ($status, $sent) = request($port, '/kong', 'X-Request-Id: b,ad');
    is $status, 400, 'Kong: a bad id is rejected';
    like $sent, qr/^$id$/, 'Kong: also that answer has an id';

    (undef, $sent, $body) = request($port, '/kong-route', 'X-Id: from-the-front', "b3: $trace-00f067aa0ba902b7-1");
    like "$sent $body", qr/^from-the-front from-the-front $trace-[0-9a-f]{16}-1-00f067aa0ba902b7 nil\n$/, 'Kong: a route has settings of its own';
    (undef, $sent, $body) = request($port, '/kong-route?all=1', 'X-Request-Id: from-the-front', "traceparent: 00-$trace-00f067aa0ba902b7-01");
    like "$sent $body", qr/^from-the-front from-the-front $trace-([0-9a-f]{16})-1-00f067aa0ba902b7 00-$trace-\1-01\n$/, 'Kong: beside those for all, the id and the span stay';

    (undef, $sent) = request($port, '/kong', 'X-Request-Id: for-the-log');
    (undef, undef, $body) = request($port, '/logged');
    is $body, "for-the-log\n", 'Kong: log plugins have correlation_id';
    (undef, undef, $body) = request($port, '/refused');
    like $body, qr/^header: "Content-Length" has a meaning of its own/m, 'Kong: the schema refuses a header as configure() does';
    like $body, qr/^format must be the name of a format such as txid/m, 'Kong: and a format';
    like $body, qr/^trace_ids: /m, 'Kong: and trace_ids';
    like $body, qr/^valid must be a regular expression/m, 'Kong: and a bad expression';

    ($status) = request($port, '/init');
    is $status, 200, 'APISIX: goes on with a wrong attribute';
    my $log = contents("$prefix/logs/error.log");
    like $log, qr/accept: ".*127\.0\.0\.0\/33/, 'APISIX: and says so';
    my @said = $log =~ /(txid: opentelemetry has .*?), context/g;
    is_deeply \@said, [map { "txid: opentelemetry has trace_id_source: x-request-id, and format: $_ is no trace id: "
        . 'set plugin_attr.txid.format to otel_trace_id' } qw(uuid_v7 txid)], 'APISIX: a format that opentelemetry cannot take is an error';
    (undef, $sent, $body) = request($port, '/apisix');
    like $sent, qr/^$id$/, 'APISIX: one id';
    is $body, "$sent $sent\n", "APISIX: sent upstream, and to APISIX's own logs";
    (undef, $sent, $body) = request($port, '/apisix', 'X-Request-Id: from-the-front');
    is "$sent $body", "from-the-front from-the-front from-the-front\n", 'APISIX: the id of a gateway in front';
    (undef, $sent, $body) = request($port, '/apisix-route', 'X-Id: b,ad', 'X-Request-Id: from-the-front');
    is "$sent $body", "from-the-front from-the-front from-the-front\n", 'APISIX: a route has options of its own, beside those for all';
    (undef, $sent, $body) = request($port, '/apisix-route');
    like $body, qr/^[0-9a-f]{8}-.* \Q$sent\E$/, 'APISIX: and a format';
    ($status, $sent) = request($port, '/apisix', 'X-Request-Id: b,ad');
    is $status, 400, 'APISIX: a bad id is rejected';
    like $sent, qr/^$id$/, 'APISIX: also that answer has an id';
}

done_testing;
