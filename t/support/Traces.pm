package Traces;

# The requests of tests/vectors/traces.json.

use strict;
use warnings;
use Exporter 'import';
use Vectors qw(block_of lua_of vectors);

our @EXPORT_OK = qw(block requests server upstream);

# The order in which support.requests prints headers.
my @HEADERS = qw(traceparent tracestate b3 x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags
    x-amzn-trace-id x-cloud-trace-context uber-trace-id x-datadog-trace-id x-datadog-parent-id x-datadog-sampling-priority
    x-datadog-tags x-datadog-origin x-trace-id);

sub requests {
    my @requests = @{ vectors('traces')->{requests} };
    for my $case (@requests) {
        my %sent = %{ $case->{sent} };
        $case->{name}     = "@{ $case->{kinds} }: $case->{name}";
        $case->{expected} = join ' ', map { defined $sent{$_} ? "$_=" . delete $sent{$_} : () } @HEADERS;
        die "$case->{name}: nothing prints ", keys %sent if %sent;
    }
    return @requests;
}

sub block {
    my ($number, $title, @requests) = @_;
    return block_of($number, $title, 'print_sent', sub { $_[0]{expected} }, @requests);
}

# A server with these directives, and others in the location that sends upstream. It tells the client the ids of this hop.
sub server {
    my ($directives, $in_location) = @_;
    return <<"END";
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    access_log off;
    $directives
    location / { content_by_lua_block { ngx.exec("/second") } }
    location /second {
        add_header This-Trace \$txid_trace_id;
        add_header This-Span \$txid_span_id;
        $in_location
        proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    }
}
END
}

sub upstream {
    my $names = lua_of(\@HEADERS);
    return <<"END";
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    access_log off;
    location / {
        content_by_lua_block {
            local headers, lines = ngx.req.get_headers(), {}
            for _, name in ipairs $names do
                local value = headers[name]
                if value then
                    lines[#lines + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, ",") or value)
                end
            end
            ngx.print(table.concat(lines, " "))
        }
    }
}
END
}

1;
