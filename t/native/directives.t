# A wrong directive stops `nginx -t` with its file, its line and what is wrong.

use strict;
use warnings;
use lib 't/support';
use Files qw(contents write_file);
use Native qw(nginx_has_stream);
use OwnNginx;
use Test::More;
use Vectors qw(vectors);

# Returns the output of nginx -t for these lines. The first of them is line 10 of the file.
sub check {
    my ($place, $lines) = @_;
    my %before = (
        http     => "\n" x 7,
        server   => "\n" x 6 . "server {\n",
        location => "\n" x 5 . "server {\nlocation / {\n",
        stream   => "\n" x 6 . "}\nstream {",
    );
    my %after = (http => '}', server => '}}', location => '}}}', stream => '}');
    write_config("events {}\nhttp { access_log off;$before{$place}$lines\n$after{$place}\n");
    return nginx('-t');
}

# Servers of one configuration are tried at once, and those of one that is refused again, each by itself.
my @accepted;

sub accepted {
    my ($place, $lines) = @_;
    return push @accepted, $lines if $place eq 'server';
    my $said = check($place, $lines);
    is $?, 0, "$place: $lines" or diag $said;
}

sub try_servers {
    check(http => join ' ', map {"server { $_ }"} @accepted);
    my $are_all = $? == 0;
    for my $lines (@accepted) {
        my $said = $are_all ? '' : check(server => $lines);
        ok $are_all || $? == 0, "server: $lines" or diag $said;
    }
}

sub refused {
    my ($place, $lines, $reason) = @_;
    my $said = check($place, $lines);
    # A crash, or memory that is not there, is no refusal.
    is $?, 1 << 8, "$place: $lines" or diag $said;
    like $said, qr/\[emerg\].*\Q$reason\E.*nginx\.conf:10\b/, "says: $reason";
    unlike $said, qr/: txid: /, 'and names the directive';
    is scalar(() = $said =~ /\[emerg\]/g), 1, 'and nothing else' or diag $said;
}

sub warned {
    my ($place, $lines, $warning) = @_;
    my $said = check($place, $lines);
    is $?, 0, "$place: $lines";
    like $said, qr/\[warn\].*\Q$warning\E in \S+nginx\.conf:\d/, "warns: $warning";
}

sub unwarned {
    my ($place, $lines) = @_;
    unlike check($place, $lines), qr/\[warn\]/, "$place: no warning: $lines";
}

# Each directive stands where the table of docs/nginx-module.md says, and nowhere else.
my ($table) = contents('docs/nginx-module.md') =~ /^\| \| context \| default \|\n\|---.*?\n(.*?)\n\n/ms or die 'docs/nginx-module.md has no table of directives';
for my $row (split /\n/, $table) {
    my (undef, $directives, $contexts) = split / *(?<!\\)\| */, $row;
    for my $name ($directives =~ /`(txid_\w+)/g) {
        for my $place (qw(http server location), nginx_has_stream() ? 'stream' : ()) {
            my $reason = $contexts =~ /\b$place\b/ ? qq(invalid number of arguments in "$name") : qq("$name" directive is not allowed here);
            refused $place => "$name;", $reason;
        }
    }
}

accepted http => 'txid_accept 10.0.0.0/8 fd00::/8 127.0.0.1 unix:;';
accepted http => 'txid_accept all;';
accepted server => 'txid_accept off;';
refused http => 'txid_accept 10.0.0.0/33;', 'txid_accept: "10.0.0.0/33" is not an address, a network such as 10.0.0.0/8 or fd00::/8, unix:, all or off in';
refused server => 'txid_accept 127.0.0.1 localhost;', '"localhost" is not an address';
my %says = (not_a_network => 'is not an address', mapped => 'contains IPv4-mapped addresses, which count as IPv4: write it as an IPv4 network', off => 'cannot be combined');
for my $case (@{ vectors('trust')->{invalid} }) {
    my $list = join ' ', map {"\"$_\""} @{ $case->{networks} };
    refused server => "txid_accept $list;", qq("$case->{entry}" $says{ $case->{reason} });
}
refused server => 'txid_accept off 127.0.0.1;', '"off" cannot be combined';
refused server => 'txid_accept all; txid_accept all;', '"txid_accept" directive is duplicate';

accepted server => 'txid_header X-Correlation-Id;';
refused server => 'txid_header "X Request";', '"X Request" is not the name of a header';
refused server => 'txid_header "";', '"" is not the name of a header';
refused server => 'txid_header $http_x_id;', 'txid_header: "$http_x_id" is not the name of a header';
refused server => 'txid_header Host;', 'txid_header: "Host" has a meaning of its own; name another header, such as X-Request-Id';
refused server => 'underscores_in_headers on; txid_header X_Req_Id;',
    'txid_header: "X_Req_Id" has an underscore, and nginx drops or renames such headers; write "X-Req-Id"';
for my $case (@{ vectors('validity')->{names} }) {
    my ($name) = $case->{name} =~ s/(["\\])/\\$1/gr;
    next if !utf8::downgrade($name, 1) || $case->{name} =~ /[^ -~]/;
    if ($case->{valid}) {
        accepted server => "txid_header \"$name\"; txid_trace b3; txid_trace_id_header \"Other\";";
        accepted server => "txid_trace b3; txid_trace_id_header \"$name\";" unless lc $name eq 'x-request-id';
        next;
    }
    my $reason = {
        not_a_name => 'is not the name of a header',
        reserved   => 'has a meaning of its own; name another header',
        underscore => 'has an underscore, and nginx drops or renames such headers',
    }->{ $case->{reason} };
    refused server => "$_ \"$name\";", $reason for qw(txid_header txid_trace_id_header txid_response_header);
}
refused server => 'txid_header A; txid_header B;', '"txid_header" directive is duplicate';
accepted server => 'txid_header CF-Ray X-Correlation-Id X-Request-Id;';
refused server => 'txid_header A B Host;', 'txid_header: "Host" has a meaning of its own';
refused server => 'txid_header A a;', 'txid_header: "a" is duplicate';
refused server => 'txid_header A B C D E;', 'txid_header: 5 headers are too many: at most 4 are allowed';
like check(server => 'txid_header A B; txid_trace b3; txid_trace_id_header b;'), qr/\[emerg\] \Qtxid_trace_id_header is "b", and so is header\E/, 'refuses txid_header A B; txid_trace b3; txid_trace_id_header b;';

accepted server => "txid_format $_;"
    for qw(txid strong uuid_v1 uuid_v4 uuid_v7 flake ulid ksuid xid nanoid unique_id trace_id otel_trace_id traceparent
           skywalking), 'uuid-v7', 'nanoid(length=10)', 'nanoid(length=12,alphabet=0123456789)', 'typeid(prefix=req)';
refused http => 'txid_format cuid2;', 'txid_format: "cuid2" is not a format; the formats are txid, strong,';
unlike check(http => 'txid_format UUID_V7;'), qr/snowflake/, 'txid_format offers no format that needs options';
refused http => 'txid_format snowflake;', 'txid_format: snowflake needs options, such as snowflake(node=VALUE)';
refused http => 'txid_format nanoid(length=0);', 'txid_format: length "0" is not a number from 1 to 90';
refused http => 'txid_format nanoid(alphabet=a);', 'txid_format: alphabet "a" is not 2 to 94 different characters';
refused http => 'txid_format typeid(prefix=Req);', 'txid_format: prefix "Req" is not 1 to 63 characters of a-z_';
refused http => 'txid_format nanoid(size=5);', 'txid_format: "size=5" is not an option of nanoid, which takes length=, alphabet=';
refused http => 'txid_format txid; txid_format txid;', '"txid_format" directive is duplicate';

accepted server => 'txid_accept all; txid_on_invalid reject;';
accepted http => 'txid_on_invalid reject; server { txid_accept all; } server { }';
like check(server => 'txid_on_invalid reject;'), qr/\[emerg\] \Qtxid_on_invalid has no effect, because accept is off: leave it out, or set accept\E/, 'refuses txid_on_invalid reject;';
refused server => 'txid_on_invalid no;', 'txid_on_invalid: "no" is neither replace nor reject';
accepted server => "txid_trace $_;" for qw(off traceparent b3 b3_single b3-single aws gcp datadog jaeger), 'traceparent b3 b3_single gcp aws datadog jaeger';
refused server => 'txid_trace instana;',
    'txid_trace: "instana" is not one of off, traceparent, b3, b3_single, aws, gcp, datadog and jaeger';
refused server => 'txid_trace b3 off;', '"off" cannot be combined with kinds of traces';
refused server => 'txid_trace b3; txid_trace b3;', '"txid_trace" directive is duplicate';
accepted server => "txid_trace b3; txid_trace_id_header $_;" for qw(X-Trace-Id off);
accepted server => 'txid_trace_id_header off;';
refused server => 'txid_trace_id_header "X Trace";', 'txid_trace_id_header: "X Trace" is not the name of a header';
accepted server => "txid_trace b3; txid_trace_ids $_;" for 'random', 'sorted_seconds', 'sorted', 'sorted epoch=2020-01-01';
accepted http => 'txid_trace_ids sorted; txid_trace_random_flag off; server { txid_trace b3; } server { }';
like check(server => 'txid_trace_ids sorted;'), qr/\[emerg\] \Qtxid_trace_ids has no effect, because trace is off: leave it out, or set trace\E/, 'refuses txid_trace_ids sorted;';
like check(server => 'txid_trace_random_flag off;'), qr/\[emerg\] \Qtxid_trace_random_flag has no effect, because trace is off\E/, 'refuses txid_trace_random_flag off;';
refused server => 'txid_trace_ids sorted epoch=2999-01-01;', 'txid_trace_ids: "epoch=2999-01-01" is in the future';
refused server => 'txid_trace_ids sort;', 'txid_trace_ids: "sort" is not random, sorted_seconds, or sorted, ';
accepted server => "txid_trace b3; txid_trace_random_flag $_;" for qw(on off);
refused server => "txid_trace_random_flag $_;", qq{txid_trace_random_flag: "$_" is neither on nor off} for qw(1 02 yes);
for my $place (qw(http server location)) {
    accepted $place => "txid_sample $_;" for 'off', '0', '1%', '0.1%', '1/1000', '$arg_rate', '"$arg_a%"';
}
refused location => "txid_sample $_;", qq(txid_sample: "$_" is not a sampling ratio: write a percentage such as 0.1%, a fraction such as 1/1000, or 0)
    for qw(1 0.1 101% 2/3 1/0 on);
refused server => 'txid_sample 1%; txid_sample $arg_rate;', '"txid_sample" directive is duplicate';
like check(http => 'txid_sample $none;'), qr/unknown "none" variable/, 'txid_sample of a variable that is not there';
accepted server => 'txid_format same_as_trace; txid_trace aws;';
accepted http => 'txid_trace traceparent; txid_sample 1%; server { txid_trace_span pass; txid_sample off; }';
refused server => 'txid_trace_span none;', 'txid_trace_span: "none" is neither new nor pass';
for my $unused (['format same_as_trace'], ['trace_ids sorted', 'trace_ids'], ['trace_random_flag off', 'trace_random_flag'], ['sample 1%', 'sample'], ['sample $arg_a', 'sample']) {
    my $said = check(server => "txid_trace b3; txid_trace_span pass; txid_$unused->[0];");
    like $said, qr/\[emerg\] txid_$unused->[-1] has no effect, because (?:txid_)?trace_span is pass: leave one of them out/, "refuses txid_$unused->[0]";
}
like check(server => 'txid_trace_span pass;'), qr/\[emerg\] txid_trace_span has no effect, because trace is off/, 'refuses txid_trace_span pass;';
accepted location => 'txid_span_name $uri; txid_span_attr a $uri; txid_span_attr b "";';
refused location => 'txid_span_name a; txid_span_name b;', '"txid_span_name" directive is duplicate';
refused http => 'txid_span_service a; txid_span_service b;', '"txid_span_service" directive is duplicate';
refused server => 'txid_format same_as_trace; txid_format txid;', '"txid_format" directive is duplicate';
accepted http => "txid_error_log $_;" for 'on', 'off', '$request_id', '$txid_trace_id';
refused http => "txid_error_log $_;", qq{txid_error_log: "$_" is neither on, off nor a \$variable} for qw(yes $);
refused http => "txid_error_log $_;", '"txid_error_log" directive is duplicate' for 'on; txid_error_log off', 'off; txid_error_log on';
like check(http => 'txid_error_log $none;'), qr/unknown "none" variable/, 'txid_error_log of a variable that is not there';

accepted $_ => 'txid_response_header X-Request-Id;' for qw(http server location);
accepted location => 'if ($args) { txid_response_header X-Id; }';
refused http => "txid_response_header $_;", '"txid_response_header" directive is duplicate'
    for 'A; txid_response_header off', 'off; txid_response_header A';
refused location => "txid_response_header 'X-Request-Id: a';", 'txid_response_header: "X-Request-Id: a" is not the name of a header';
refused http => 'txid_response_header $x;', 'txid_response_header: "$x" is not the name of a header';
refused http => "txid_response_header $_;", qq{txid_response_header: "$_" has a meaning of its own}
    for qw(Content-Length Transfer-Encoding Date Server Connection content-type);

for my $place ('http', nginx_has_stream() ? 'stream' : ()) {
    my $new = prefix() . "/new-$place";
    accepted $place => "txid_variable \$a snowflake node=3 state=$new/state;";
    ok !-e $new, 'a test of a configuration makes no file';
    # nginx is not running, so the signal reaches nobody; but the configuration was read.
    write_config("events {} $place { txid_variable \$a snowflake node=3 state=$new/state; "
            . 'txid_hide $a $b key=/proc/no-such-key name=orders digits=10; }');
    my $signal = nginx('-s reopen');
    like $signal, qr/nginx\.pid/, 'a signal needs no key' or diag $signal;
    unlike $signal, qr/txid_hide/, 'and does not look for it';
    ok !-e $new, 'and makes no file';
    like nginx('-t'), qr{txid_hide: .*/proc/no-such-key}, 'which a test of the configuration looks for';
    write_config("events {} $place { txid_variable \$a snowflake node=3 state=/proc/txid/a; }");
    like nginx(), qr{\[emerg\].*txid_variable: .*/proc/txid}, 'a start that cannot make it is refused';
    write_file("$new-damaged", 'x' x 4096);
    refused $place => "txid_variable \$a snowflake node=3 state=$new-damaged;", "$new-damaged is damaged or not a state";
    accepted $place => 'txid_variable $a unique_id_short address=10.0.0.7;';
    accepted $place => 'txid_variable $a trace_host_id address=2001:db8::7;';
    accepted $place => 'txid_variable $a skywalking;';
    refused $place => 'txid_variable a skywalking;', 'txid_variable: "a" is not a variable: write $name';
    refused $place => 'txid_variable $ skywalking;', '"$" is not a variable';
    refused $place => 'txid_variable $a snowflake node=1;', 'state= is missing: give the path of a file';
    refused $place => 'txid_variable $a snowflake node=1 state=here;', 'state "here" is not an absolute path';
    refused $place => "txid_variable \$a snowflake node=1024 state=@{[prefix()]}/b;",
        "node '1024' is not an integer from 0 to 1023";
    refused $place => "txid_variable \$a snowflake node=1 layout=x state=@{[prefix()]}/b;", "layout 'x'";
    refused $place => "txid_variable \$a snowflake node=lease state=@{[prefix()]}/b;", 'txid-agent makes it, so start that first';
    refused $place => 'txid_variable $a snowflake nod=1;', '"nod=1" is not an option of snowflake';
    refused $place => 'txid_variable $a unique_id_short address=::1;', 'address "::1" is not an IP address that the format can hold';
    refused $place => 'txid_variable $a txid node=1;', 'txid takes no options';
    refused $place => "txid_variable \$$_ flake;", qq(the duplicate "$_" variable)
        for qw(txid txid_strong txid_uuid_v7 txid_trace_id txid_span_id txid_b3), $place eq 'http' ? 'txid_tracestate' : ();
    refused $place => "map '' \$m { default 1; } $_", '"$m" is already defined: choose another name'
        for 'txid_variable $m ulid;', 'txid_time $txid $m;';
    accepted $place => 'txid_time $txid $time;';
    accepted $place => "txid_time \$txid \$time $_;" for qw(ms iso8601);
    refused $place => 'txid_time $txid $time format:xid;', 'txid_time: "format:xid" is neither ms, iso8601 nor format=...';
    accepted $place => "txid_time \$txid \$time $_;" for 'format=xid', 'iso8601 format=snowflake(layout=discord)';
    refused $place => 'txid_time $txid $time format=xid ms;', 'txid_time: "format=xid" must come last';
    refused $place => 'txid_time $txid $time format=xid format=ulid;', 'txid_time: "format=xid" must come last';
    refused $place => 'txid_time $txid $time ms iso8601;', 'txid_time: "iso8601" is not format=...';
    refused $place => 'txid_time $txid $time iso8601 ms;', 'txid_time: "ms" is not format=...';
    refused $place => 'txid_time $txid $time format=uuid_v4;', 'txid_time: ids of uuid_v4 have no time';
    refused $place => 'txid_time $txid $time format=snowflake(layout=a);', 'txid_time: layout \'a\' is not one of';
    refused $place => 'txid_time txid $time;', '"txid" is not a variable';
    refused $place => 'txid_time $txid $txid_flake;', 'the duplicate "txid_flake" variable';
}

refused http => "txid_variable \$$_ ulid;", qq(txid_variable: "\$$_" is already defined: choose another name) for qw(args request_txid);
for ('set $request_txid a;', 'location ~ ^/(?<request_txid>.*) { }') {
    like check(server => $_), qr/\[emerg\] "\$request_txid" is ngx_http_txid_module's: remove what sets it in /, $_;
}
my $said = check(http => 'txid_time $no_such $time;');
like $said, qr/unknown "no_such" variable/, 'txid_time of a variable that is not there';

# Options that do not go together are found when a server has inherited them, so the line is where http ends.
sub together {
    my ($http, $server, $reason) = @_;
    my $said = check(http => "$http server { $server }");
    is $?, $reason ? 1 << 8 : 0, "http: $http server: $server" or diag $said;
    like $said, qr/\[emerg\] \Q$reason\E in/, "says: $reason" if $reason;
}
together('txid_trace b3;', 'txid_trace_id_header X-Trace-Id; txid_format same_as_trace;');
together('txid_trace_id_header X-Trace-Id; txid_format same_as_trace;', 'txid_trace b3;');
together('', 'txid_trace_id_header X-Trace-Id;', 'txid_trace_id_header is "X-Trace-Id", but trace is off');
together('txid_trace b3; txid_trace_id_header X-Trace-Id;', 'txid_trace off;', 'txid_trace_id_header is "X-Trace-Id", but trace is off');
together('txid_trace b3; txid_trace_id_header X-Trace-Id;', 'txid_trace off; txid_trace_id_header off;');
together('txid_format same_as_trace;', '', 'txid_format is "same_as_trace", but trace is off');
together('txid_trace b3; txid_header X-Id;', 'txid_trace_id_header x-id;', 'txid_trace_id_header is "x-id", and so is header; name another one');

# HTTP/3 takes addresses that clients only claim to have in nginx 1.25.0 to 1.30.0, in freenginx, and in Angie before 1.11.5.
SKIP: {
    my $built = nginx('-V');
    skip 'no HTTP/3', 4 unless $built =~ /http_v3_module/;
    my ($fork, $version) = $built =~ m{version: (\w+)/([\d.]+)};
    my $is_mended = $fork ne 'freenginx' && sprintf('%d%03d%03d', split /\./, $version) >= ($fork eq 'Angie' ? 1_011_005 : 1_030_001);
    my $port      = free_port();
    my $server    = "server { listen 127.0.0.1:$port quic; ssl_reject_handshake on; }";
    if ($is_mended) {
        unwarned http => "txid_accept all; $server";
        is $?, 0, 'and it is valid';
    }
    else {
        warned http => "txid_accept all; $server", 'is patched for CVE-2026-40460; nginx 1.30.1 and 1.31.0 are';
    }
    unwarned http => "txid_accept off; $server";
    unwarned http => "txid_accept all; server { listen 127.0.0.1:$port; }";
}

try_servers();

done_testing;
