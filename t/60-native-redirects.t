# $request_txid, whatever nginx does with the request: the cases of t/50 with the nginx module. Lua only observes.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

my ($cases) = do { local (@ARGV, $/) = 't/50-request-redirects.t'; <> } =~ /^__DATA__\n(.*)/ms or die 'no cases';
$cases =~ s/^(?:handle|server): .*\n//mg;
$cases =~ s/^id: /native: /mg or die 'nothing is expected';
spec_string($cases);

add_block_preprocessor(sub {
    my ($block) = @_;
    my $locations = $block->config;
    $block->set_value(http_config => <<"END");
lua_shared_dict agree 1m;
init_by_lua_block {
    agree = require "support.agree"
    request = require "resty.txid.request"
}

server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    access_log off;
    location / {
        content_by_lua_block {
            agree.note("upstream", ngx.var.http_x_request_id)
            ngx.header["X-Accel-Redirect"] = ngx.var.arg_accel
            ngx.exit(tonumber(ngx.var.arg_status) or 204)
        }
    }
}

server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    access_log off;
    txid_response_header X-Request-Id;
    proxy_set_header X-Request-Id \$request_txid;
    log_by_lua_block {
        agree.note("log", ngx.var.request_txid)
        agree.note("id()", request.id())
    }
    location = /fallback { return 200 "fell back\\n"; }
    location \@fallback { return 200 "fell back\\n"; }
    location \@upstream { proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2; }
@{[$locations =~ s/TEST_NGINX_RAND_PORT_4/TEST_NGINX_RAND_PORT_2/gr]}
}
END
    $block->set_value(config => <<'END');
location = /t {
    content_by_lua_block {
        ngx.say("native: ", (agree.report($TEST_NGINX_RAND_PORT_1, "/case")))
    }
}
END
});

no_long_string();
run_tests();
