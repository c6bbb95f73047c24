# Which traces the nginx module continues: the cases of t/55 with a single kind of header.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

my %headers = (
    traceparent => { traceparent => '$txid_traceparent', tracestate => '$txid_tracestate' },
    b3          => {
        'X-B3-TraceId'      => '$txid_trace_id',
        'X-B3-SpanId'       => '$txid_span_id',
        'X-B3-ParentSpanId' => '$txid_parent_span_id',
        'X-B3-Sampled'      => '$txid_b3_sampled',
        'X-B3-Flags'        => '$txid_b3_flags',
    },
    b3_single => { b3 => '$txid_b3' },
);

my ($cases) = do { local (@ARGV, $/) = 't/55-request-trace.t'; <> } =~ /^__DATA__\n(.*)/ms or die 'no cases';
my @cases = grep {
    s/^--- config\n\{ accept = (?:\{ "(\S+)" \}|true), trace = "([\w-]+)" \}\n/
        "--- config\n" . ($1 || 'all') . ' ' . $2 =~ s|-|_|r . "\n"/me
} split /^(?==== )/m, $cases;
die 'there were more cases' if @cases < 4;
s/^(with tracestate: .*)\|/$1,/m for @cases;
spec_string(join '', @cases);

# The first line of a block's config is the accepted networks, and the kind of header.
add_block_preprocessor(sub {
    my ($block) = @_;
    my ($accept, $kind, $rest) = $block->config =~ /\A(\S+) (\S+)\n(.*)\z/s;
    my $headers = join '', map {"proxy_set_header $_ $headers{$kind}{$_};\n"} sort keys %{ $headers{$kind} };
    $block->set_value(http_config => <<"END");
init_by_lua_block {
    function send(name, lines)
        local response = require("support.http").send("GET / HTTP/1.0\\r\\n" .. lines .. "\\r\\n\\r\\n", \$TEST_NGINX_RAND_PORT_1)
        ngx.say(name, ": ", response:match("\\r\\n\\r\\n(.*)"))
    end
}
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    access_log off;
    location / {
        content_by_lua_block {
            local headers, lines = ngx.req.get_headers(), {}
            for _, name in ipairs { "traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid",
                                    "x-b3-sampled", "x-b3-flags" } do
                local value = headers[name]
                if value then
                    lines[#lines + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, "|") or value)
                end
            end
            ngx.print(table.concat(lines, " "))
        }
    }
}
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    access_log off;
    txid_accept $accept;
    txid_trace $kind;
    location / { content_by_lua_block { ngx.exec("/second") } }
    location /second {
        content_by_lua_block {
            local body = ngx.location.capture("/upstream").body
            body = body:gsub(ngx.var.txid_span_id, "SPAN")
            if not ngx.req.raw_header():find(ngx.var.txid_trace_id:sub(17), 1, true) then
                body = body:gsub(ngx.var.txid_trace_id, "TRACE")
            end
            ngx.print(body)
        }
    }
    location /upstream { $headers proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2; }
}
END
    $block->set_value(config => "location = /t { content_by_lua_block {\n$rest\n} }\n");
});

no_long_string();
run_tests();
