package Test::Nginx::Socket::Lua::Stream;

# Part of the stand-in for CPAN's Test::Nginx: see Test::Nginx::Socket. A stream server is reached through an HTTP location that
# connects to it and passes its answer on, so that all checks are those of HTTP.

use strict;
use warnings;
use parent 'Test::Nginx::Socket::Lua';


sub section { Test::Nginx::Socket::section(@_) }

Test::Nginx::Socket::add_block_preprocessor(sub {
    my ($block) = @_;
    if (defined $block->stream_server_config || defined $block->stream_config) {
        append($block, main_config => stream_config($block));
        append($block, config => relay_config());
        $block->set_value(request => "GET /t\n") unless defined $block->request;
    }
    rename_section($block, stream_response      => 'response_body');
    rename_section($block, stream_response_like => 'response_body_like');
});

sub stream_port { Test::Nginx::Socket::server_port() + 1 }

sub append {
    my ($block, $section, $text) = @_;
    $block->set_value($section => (section($block, $section) // '') . $text);
}

sub rename_section {
    my ($block, $from, $to) = @_;
    my $value = section($block, $from) // return;
    die $block->name . ": conflicting $from and $to sections\n" if defined section($block, $to);
    $block->set_value($to => $value);
}

sub stream_config {
    my ($block) = @_;
    my $stream = section($block, 'stream_config') // '';
    my $server = section($block, 'stream_server_config') // '';
    return <<"END_OF_CONFIG";
stream {
$stream
    server {
        listen 127.0.0.1:@{[stream_port()]};
$server
    }
}
END_OF_CONFIG
}

sub relay_config {
    return <<"END_OF_CONFIG";
        lua_socket_log_errors off;
        location = /t {
            content_by_lua_block {
                local socket = assert(ngx.socket.tcp())
                local ok, err = socket:connect("127.0.0.1", @{[stream_port()]})
                if not ok then
                    return ngx.say("connect to stream server error: ", err)
                end
                local data, err = socket:receive("*a")
                if not data then
                    socket:close()
                    return ngx.say("receive stream response error: ", err)
                end
                ngx.print(data)
            }
        }
END_OF_CONFIG
}

1;
