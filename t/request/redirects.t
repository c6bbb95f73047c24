# One id for each request, whatever nginx does with the request: with id() in set_by_lua, with handle() in rewrite_by_lua, and
# with handle() in server_rewrite_by_lua.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Redirects;

# The map makes a variable that handle() can write to. A redirect would run "set" again, and empty the variable.
add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(http_config => "map '' \$request_txid { default ''; }\n" . $block->http_config);
});

Redirects::serve_by(
    id => <<'END',
        set_by_lua_block $request_txid { return require("resty.txid.request").id() }
        proxy_set_header X-Request-Id $request_txid;
        add_header X-Request-Id $request_txid always;
END
    handle => 'rewrite_by_lua_block { require("resty.txid.request").handle() }',
    Modules::knows('server_rewrite_by_lua_block') ? (server => 'server_rewrite_by_lua_block { require("resty.txid.request").handle() }') : (),
);

run_tests();

__DATA__

=== TEST 1: no redirect at all
--- config
location /case { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream



=== TEST 2: error_page to a location
--- config
location /case { error_page 404 /fallback; }
--- response_body
404 1 id: id() log response
--- no_error_log
[alert]



=== TEST 3: error_page to a named location, for an upstream that is not there
--- config
location /case { error_page 502 = @fallback; proxy_pass http://127.0.0.1:1; }
--- response_body
200 1 id: id() log response
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
204 1 id: id() log response upstream*2



=== TEST 5: error_page without a location of its own
--- config
location /case { error_page 404 = /no/such/file; }
--- response_body
404 1 id: id() log response
--- no_error_log
[alert]



=== TEST 6: index
--- config
location /case { rewrite ^ / break; index index.html; }
location = /index.html { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream



=== TEST 7: try_files to a URI
--- config
location /case { try_files $uri /other; }
location = /other { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream



=== TEST 8: try_files to a named location
--- config
location /case { try_files $uri @upstream; }
--- response_body
204 1 id: id() log response upstream



=== TEST 9: ngx.exec to a URI
--- config
location /case { content_by_lua_block { ngx.exec("/other") } }
location = /other { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream



=== TEST 10: ngx.exec to a named location
--- config
location /case { content_by_lua_block { ngx.exec("@upstream") } }
--- response_body
204 1 id: id() log response upstream



=== TEST 11: rewrite, which changes the location and the URI
--- config
location /case { rewrite ^ /other last; }
location = /other { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream



=== TEST 12: X-Accel-Redirect
--- config
location /case { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4/?accel=/other; }
location = /other { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream*2



=== TEST 13: auth_request
--- config
location /case { auth_request /auth; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
location = /auth { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream*2



=== TEST 14: auth_request that refuses, and the error page for that
--- config
location /case { auth_request /auth; error_page 401 = @upstream; }
location = /auth { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4/?status=401; }
--- response_body
204 1 id: id() log response upstream*2



=== TEST 15: mirror
--- config
location /case { mirror /mirror; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
location = /mirror { internal; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_4; }
--- response_body
204 1 id: id() log response upstream*2



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
200 1 id: id() log response upstream*6



=== TEST 17: a subrequest that is redirected
--- config
location /case { content_by_lua_block { ngx.location.capture("/sub") ngx.say("done") } }
location = /sub { internal; try_files $uri @upstream; }
--- response_body
200 1 id: id() log response upstream



=== TEST 18: several redirects, one after the other, with garbage collected between them
--- config
location /case { content_by_lua_block { collectgarbage() collectgarbage() ngx.exec("/second") } }
location = /second { content_by_lua_block { collectgarbage() collectgarbage() ngx.exec("@third") } }
location @third { access_by_lua_block { collectgarbage() } recursive_error_pages on; error_page 404 = /fourth; }
location = /fourth { content_by_lua_block { collectgarbage() collectgarbage() ngx.exec("@upstream") } }
--- response_body
204 1 id: id() log response upstream
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
200 1 id: access body content header id() log response
