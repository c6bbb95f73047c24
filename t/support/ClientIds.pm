package ClientIds;

# The requests of tests/vectors/validity.json, and those of trust.json that can be sent here: from 127.0.0.1.

use strict;
use warnings;
use Exporter 'import';
use Modules;
use Vectors qw(block_of vectors);

our @EXPORT_OK = qw(block trusting upstream);

# Without nginx's own mistakes, which have other lines, a request is seen in these places.
my $SEEN = '204 1 id: log response upstream';

# nginx before 1.21.1 leaves out a line that begins with a space.
my $LEAVES_OUT = Modules::nginx('-v') =~ m{/1\.(?:\d|1\d|20|21\.0)\b};

# What support.requests prints of a request. `$rejected` is what it prints after a mistake that nginx finds, as a function
# of the id that nginx may have read before.
sub expected {
    my ($case, $rejected) = @_;
    my $is_left_out = $LEAVES_OUT && grep {/^\s/} @{ $case->{lines} };
    return "$SEEN, the client's $case->{id}" if $case->{answer} eq 'kept' || $is_left_out;
    return "$SEEN, a new one"                if $case->{answer} eq 'new';
    return $rejected->($case->{id});
}

# A block with these requests. Each has a name, lines and an answer as in validity.json.
sub block {
    my ($number, $title, $rejected, @requests) = @_;
    return block_of($number, $title, 'print_id', sub { expected($_[0], $rejected) }, @requests);
}

# A request for each list of networks that 127.0.0.1 is inside or outside of, with the list.
sub trusting {
    my @requests;
    for my $case (@{ vectors('trust')->{networks} }) {
        my ($inside, $outside) = map { scalar grep { $_ eq '127.0.0.1' } @{ $case->{$_} } } qw(inside outside);
        next unless $inside || $outside;
        push @requests, {
            name     => $case->{name},
            lines    => ['X-Request-Id: 7f3a'],
            answer   => $inside ? 'kept' : 'new',
            id       => '7f3a',
            networks => $case->{networks},
        };
    }
    die 'no list of networks' unless @requests;
    return @requests;
}

# What both kinds of servers need: where requests go.
sub upstream {
    return <<'END';
lua_shared_dict agree 1m;
init_by_lua_block {
    agree = require "support.agree"
    requests = require "support.requests"
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    access_log off;
    location / {
        content_by_lua_block {
            local ids = ngx.req.get_headers()["X-Request-Id"]
            agree.note("upstream", type(ids) == "table" and table.concat(ids, ",") or ids)
            ngx.exit(204)
        }
    }
}
END
}

1;
