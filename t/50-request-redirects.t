# One id for each request, whatever nginx does with the request. Each block's locations are served three times: with id() in
# set_by_lua, with handle() in rewrite_by_lua, and with handle() in server_rewrite_by_lua. The client, the log, a log_by_lua and
# the upstream report the ids that they saw.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

# The map makes a variable that handle() can write to. A redirect would run "set" again, and empty the variable.
my $http_config = <<'END';
map "" $request_txid { default ""; }
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

my %recipe = (
    1 => <<'END',
        set_by_lua_block $request_txid { return require("resty.txid.request").id() }
        proxy_set_header X-Request-Id $request_txid;
        add_header X-Request-Id $request_txid always;
END
    2 => <<'END',
        rewrite_by_lua_block { require("resty.txid.request").handle() }
END
    3 => <<'END',
        server_rewrite_by_lua_block { require("resty.txid.request").handle() }
END
);

add_block_preprocessor(sub {
    my ($block) = @_;
    my $locations = $block->config;
    my $config    = $http_config;
    for my $port (sort keys %recipe) {
        $config .= <<"END";
    server {
        listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_$port;
        access_log off;
$recipe{$port}
        log_by_lua_block {
            agree.note("log", ngx.var.request_txid)
            agree.note("id()", request.id())
        }
        location = /fallback { return 200 "fell back\n"; }
        location \@fallback { return 200 "fell back\n"; }
        location \@upstream { proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_4; }
$locations
    }
END
    }
    $block->set_value(http_config => $config);
    $block->set_value(config      => <<'END');
location = /t {
    content_by_lua_block {
        ngx.say("id: ", (agree.report($TEST_NGINX_RAND_PORT_1, "/case")))
        ngx.say("handle: ", (agree.report($TEST_NGINX_RAND_PORT_2, "/case")))
        ngx.say("server: ", (agree.report($TEST_NGINX_RAND_PORT_3, "/case")))
    }
}
END
});

no_long_string();
run_tests();

__DATA__

=== TEST 1: no redirect at all
--- config
location /case { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 2: error_page to a location
--- config
location /case { error_page 404 /fallback; }
--- response_body
id: 404 1 id: id() log response
handle: 404 1 id: id() log response
server: 404 1 id: id() log response
--- no_error_log
[alert]



=== TEST 3: error_page to a named location, for an upstream that is not there
--- config
location /case { error_page 502 = @fallback; proxy_pass http://127.0.0.1:1; }
--- response_body
id: 200 1 id: id() log response
handle: 200 1 id: id() log response
server: 200 1 id: id() log response
--- no_error_log
[alert]



=== TEST 4: error_page for a response of the upstream, to another upstream
--- config
location /case {
    proxy_intercept_errors on;
    error_page 503 = /again;
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4/?status=503;
}
location /again { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream*2
handle: 204 1 id: id() log response upstream*2
server: 204 1 id: id() log response upstream*2



=== TEST 5: error_page without a location of its own
--- config
location /case { error_page 404 = /no/such/file; }
--- response_body
id: 404 1 id: id() log response
handle: 404 1 id: id() log response
server: 404 1 id: id() log response
--- no_error_log
[alert]



=== TEST 6: index
--- config
location /case { rewrite ^ /directory/ break; index index.html; }
location = /directory/index.html { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- user_files
>>> directory/index.html
index
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 7: try_files to a URI
--- config
location /case { try_files $uri /other; }
location = /other { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 8: try_files to a named location
--- config
location /case { try_files $uri @upstream; }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 9: ngx.exec to a URI
--- config
location /case { content_by_lua_block { ngx.exec("/other") } }
location = /other { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 10: ngx.exec to a named location
--- config
location /case { content_by_lua_block { ngx.exec("@upstream") } }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 11: rewrite, which changes the location and the URI
--- config
location /case { rewrite ^ /other last; }
location = /other { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream



=== TEST 12: X-Accel-Redirect
--- config
location /case { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4/?accel=/other; }
location = /other { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream*2
handle: 204 1 id: id() log response upstream*2
server: 204 1 id: id() log response upstream*2



=== TEST 13: auth_request
--- config
location /case { auth_request /auth; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
location = /auth { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream*2
handle: 204 1 id: id() log response upstream*2
server: 204 1 id: id() log response upstream*2



=== TEST 14: auth_request that refuses, and the error page for that
--- config
location /case { auth_request /auth; error_page 401 = @upstream; }
location = /auth { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4/?status=401; }
--- response_body
id: 204 1 id: id() log response upstream*2
handle: 204 1 id: id() log response upstream*2
server: 204 1 id: id() log response upstream*2



=== TEST 15: mirror
--- config
location /case { mirror /mirror; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
location = /mirror { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 204 1 id: id() log response upstream*2
handle: 204 1 id: id() log response upstream*2
server: 204 1 id: id() log response upstream*2



=== TEST 16: ngx.location.capture, with variables of its own and with the parent's
--- config
location /case {
    content_by_lua_block {
        ngx.location.capture("/sub")
        ngx.location.capture("/sub", { share_all_vars = true })
        ngx.location.capture("/sub", { copy_all_vars = true })
        ngx.location.capture("/sub", { ctx = ngx.ctx })
        ngx.location.capture_multi { { "/sub" }, { "/sub" } }
        ngx.say("done")
    }
}
location = /sub { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
id: 200 1 id: id() log response upstream*6
handle: 200 1 id: id() log response upstream*6
server: 200 1 id: id() log response upstream*6



=== TEST 17: a subrequest that is redirected
--- config
location /case { content_by_lua_block { ngx.location.capture("/sub") ngx.say("done") } }
location = /sub { internal; try_files $uri @upstream; }
--- response_body
id: 200 1 id: id() log response upstream
handle: 200 1 id: id() log response upstream
server: 200 1 id: id() log response upstream



=== TEST 18: several redirects, one after the other, with garbage collected between them
--- config
location /case { content_by_lua_block { collectgarbage() collectgarbage() ngx.exec("/second") } }
location = /second { content_by_lua_block { collectgarbage() collectgarbage() ngx.exec("@third") } }
location @third { access_by_lua_block { collectgarbage() } recursive_error_pages on; error_page 404 = /fourth; }
location = /fourth { content_by_lua_block { collectgarbage() collectgarbage() ngx.exec("@upstream") } }
--- response_body
id: 204 1 id: id() log response upstream
handle: 204 1 id: id() log response upstream
server: 204 1 id: id() log response upstream
--- no_error_log
[alert]



=== TEST 19: every phase
--- config
location /case {
    access_by_lua_block { agree.note("access", request.id()) }
    content_by_lua_block { agree.note("content", request.id()) ngx.say("done") }
    header_filter_by_lua_block { agree.note("header", request.id()) }
    body_filter_by_lua_block { if ngx.arg[2] then agree.note("body", request.id()) end }
}
--- response_body
id: 200 1 id: access body content header id() log response
handle: 200 1 id: access body content header id() log response
server: 200 1 id: access body content header id() log response
