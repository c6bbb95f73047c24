package Decisions;

# Runs the requests of tests/vectors/decisions.json and traces.json in this nginx: tests/gateways/decisions.py.

use strict;
use warnings;
use Modules;
use Test::More;

# Each of these is a class of decisions.py.
sub run {
    my (@gateways) = @_;
    plan skip_all => 'there is no python3' unless qx(python3 --version) =~ /^Python 3/;
    plan tests => scalar @gateways;
    local $ENV{TXID_NGINX_MODULE} = Modules::directory() && Modules::directory() . '/ngx_http_txid_module.so';
    local $ENV{TXID_NGINX_MODULES} = join q( ), grep { !/_txid_module/ } split q( ), $ENV{TEST_NGINX_LOAD_MODULES} // q();
    local $ENV{TXID_NGINX} = $ENV{TEST_NGINX_BINARY} || 'nginx';
    local $ENV{PYTHONPATH} = 'tests/gateways';
    is system('python3', '-B', '-m', 'unittest', '--quiet', "decisions.$_"), 0, $_ for @gateways;
    return;
}

1;
