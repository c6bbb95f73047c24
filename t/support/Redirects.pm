package Redirects;

# The cases of t/request/redirects.t, for servers that take the id of a request in different ways. The client, the log, a
# log_by_lua and the upstream report the ids that they saw; each block says once what is seen on all servers.

use strict;
use warnings;
use Test::Nginx::Socket ();

# A server with these directives for each name.
sub serve_by {
    my (%directives) = @_;
    my @names = sort keys %directives;
    Test::Nginx::Socket::add_block_preprocessor(sub {
        my ($block) = @_;
        my $locations = $block->config;
        my $expected  = $block->response_body;
        my ($servers, $lua) = ('', '');
        for my $port (1 .. @names) {
            my $name = $names[$port - 1];
            $servers .= server($port, $directives{$name}, $locations);
            $lua     .= "ngx.say('$name: ', (agree.report(\$TEST_NGINX_RAND_PORT_$port, '/case')))\n";
        }
        $block->set_value(http_config   => common() . $servers);
        $block->set_value(config        => '');
        $block->set_value(lua           => $lua);
        $block->set_value(response_body => join '', map {"$_: $expected"} @names);
    });
    return;
}

sub common {
    return <<'END';
lua_shared_dict agree 1m;
init_by_lua_block {
    agree = require "support.agree"
    request = require "resty.txid.request"
}

server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_4;
    access_log off;
    location / {
        content_by_lua_block {
            agree.note("upstream", ngx.var.http_x_request_id)
            ngx.header["X-Accel-Redirect"] = ngx.var.arg_accel
            ngx.exit(tonumber(ngx.var.arg_status) or 204)
        }
    }
}
END
}

sub server {
    my ($port, $directives, $locations) = @_;
    return <<"END";
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_$port;
    access_log off;
$directives
    log_by_lua_block {
        agree.note("log", ngx.var.request_txid)
        agree.note("id()", request.id())
    }
    location = /fallback { return 200 "fell back\\n"; }
    location \@fallback { return 200 "fell back\\n"; }
    location \@upstream { proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_4; }
$locations
}
END
}

1;
