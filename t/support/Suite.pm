package Suite;

# For test files of Test::Nginx: each block finds this tree's modules, requests /t, and expects no error in the log,
# unless it says otherwise. `--- lua` has the code that answers /t.

use strict;
use warnings;
use Exporter 'import';
use File::Spec;
use Modules;
use Test::Nginx::Socket ();
use Tree qw(library lua_cpath lua_path);

our @EXPORT_OK = qw(nginx_has);

library();
Test::Nginx::Socket::no_long_string();

# A certificate for localhost, with its key.
$ENV{TEST_NGINX_CERTIFICATE} = File::Spec->rel2abs('t/support/localhost.pem');

# A block with one of these directives is skipped if nginx does not know it.
my ($unknown) = map {qr/^\s*(?:$_) /m} join '|', 'none', grep { !Modules::knows($_) } qw(ssl_client_hello_by_lua_block proxy_ssl_verify_by_lua_block);

my $paths = 'lua_package_path "' . lua_path() . "\";\nlua_package_cpath \"" . lua_cpath() . "\";\n";

Test::Nginx::Socket::add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(http_config   => $paths . ($block->http_config // ''));
    $block->set_value(stream_config => $paths . ($block->stream_config // ''))
        if defined $block->stream_server_config && nginx_has('ngx_stream_lua_module');
    answer_by_lua($block)                       if defined $block->lua;
    $block->set_value(skip_eval     => '1: 1')  if $block->http_config =~ $unknown;
    $block->set_value(request       => "GET /t\n") unless defined $block->request;
    $block->set_value(no_error_log  => "[error]\n[alert]\n") unless defined $block->no_error_log;
});

sub answer_by_lua {
    my ($block) = @_;
    my $lua = $block->lua;
    # Test::Nginx does not know this section.
    delete $block->{lua};
    $block->set_value(config => ($block->config // '') . <<"END");
location = /t {
    content_by_lua_block {
$lua
    }
}
END
    return;
}

# Whether nginx has this module, loaded or (as in OpenResty) built in.
sub nginx_has {
    my ($module) = @_;
    return 1 if ($ENV{TEST_NGINX_LOAD_MODULES} // '') =~ /\b\Q$module\E\b/;
    my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
    return `$nginx -V 2>&1` =~ /openresty/;
}

1;
