package Test::Nginx::Socket;

# A small stand-in for CPAN's Test::Nginx: the same module names, block format,
# environment variables and number of assertions per block, for machines that
# have Debian's libtest-base-perl but not CPAN.
# It covers the sections listed in Test::Nginx::StandIn::Sections and refuses
# every other one. It needs Linux.
#
# With neither a port nor TEST_NGINX_SERVROOT in the environment it chooses both,
# so that files can run at once; the real one does so under TEST_NGINX_RANDOMIZE.

use strict;
use warnings;
use parent 'Test::Base';

use List::Util qw(shuffle);
use Test::More ();
use Time::HiRes qw(sleep);

use Test::Nginx::StandIn::Checks qw(check_error_log check_response);
use Test::Nginx::StandIn::Client qw(parse_response send_request);
use Test::Nginx::StandIn::Config qw(config_text env_to_nginx write_user_files);
use Test::Nginx::StandIn::ErrorLog ();
use Test::Nginx::StandIn::Request qw(requests_of);
use Test::Nginx::StandIn::Sections qw(refuse_unknown_sections section);
use Test::Nginx::StandIn::Server ();
use Test::Nginx::StandIn::Settings qw(
    html_dir log_level master_on repeat_each server_addr server_name server_port
    server_root timeout worker_connections workers);
use Test::Nginx::StandIn::Text qw(forget_random_ports parse_time);

our @EXPORT = qw(
    add_block_preprocessor add_cleanup_handler env_to_nginx html_dir log_level
    master_on no_long_string no_shuffle repeat_each run_tests server_addr
    server_name server_port server_root timeout worker_connections workers
);

my $keep_order = $ENV{TEST_NGINX_NO_SHUFFLE};
my @preprocessors;
my @cleanup_handlers;
my $test_process = $$;

sub no_shuffle () { $keep_order = 1 }

# The real one cuts long texts short where they differ, unless this is called.
sub no_long_string () { }

# The last one added runs first, as in the real one.
sub add_block_preprocessor (&) { unshift @preprocessors, shift }
sub add_cleanup_handler ($)    { unshift @cleanup_handlers, shift }

sub run_tests () {
    my @blocks = Test::Base::blocks();

    # All blocks before the first runs: a misspelt section must not depend on
    # the shuffling to be found.
    for my $block (@blocks) {
        $_->($block) for @preprocessors;
        refuse_unknown_sections($block);
        $block->set_value(name => "$0 " . $block->name);
    }

    run_block($_) for $keep_order ? @blocks : shuffle @blocks;
    run_cleanup_handlers();
}

sub run_block {
    my ($block) = @_;
    my $name = $block->name;

    forget_random_ports();
    Test::Nginx::StandIn::ErrorLog::rewind();

    # A block without a config talks to the server of the block before it.
    if (defined $block->config) {
        prepare_server($block);
        my $status = Test::Nginx::StandIn::Server::start(quiet => defined $block->suppress_stderr);
        Test::More::BAIL_OUT("$name - cannot start nginx (status $status)\n"
            . Test::Nginx::StandIn::ErrorLog::tail()) if $status;
    }
    elsif (!Test::Nginx::StandIn::Server::is_running()) {
        Test::More::BAIL_OUT("$name - no --- config, and no server of an earlier block");
    }

    for my $repeat (0 .. repeat_each() - 1) {
        write_user_files($block) if $repeat;
        make_requests($block, $repeat);
    }
}

sub prepare_server {
    my ($block) = @_;
    Test::Nginx::StandIn::Server::stop();
    Test::Nginx::StandIn::Server::make_root();
    write_user_files($block);
    Test::Nginx::StandIn::Server::write_config(config_text($block));
}

sub make_requests {
    my ($block, $repeat) = @_;
    my @requests  = requests_of($block);
    my $pipelined = section($block, 'pipelined_requests');
    my $responses = $pipelined ? @$pipelined : 1;
    my $is_list   = $pipelined || @requests > 1;

    my $index = 0;
    for my $request (@requests) {
        my $bytes = send_request($block, $request);
        for (1 .. $responses) {
            my ($response, $rest) = parse_response($block, $request, $bytes);
            check_response($block, $response, $index, $repeat, $is_list);
            $bytes = $rest;
            sleep parse_time($block->wait) if $block->wait;
            check_error_log($block, $repeat);
            $index++;
        }
        warn 'WARNING: ', $block->name, " - extra bytes after the response: $bytes\n"
            if length $bytes;
    }
}

sub run_cleanup_handlers {
    $_->() for splice @cleanup_handlers;
}

END {
    if ($$ == $test_process) {
        local $?;
        run_cleanup_handlers();
    }
}

1;
