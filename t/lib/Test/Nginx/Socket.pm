package Test::Nginx::Socket;

# A small stand-in for CPAN's Test::Nginx: the same module names and block format,
# for machines that have Debian's libtest-base-perl but not CPAN.
# It covers the sections listed in Test::Nginx::StandIn::Sections and refuses
# every other one. It needs Linux.
#
# It chooses the port and the server root, so that files can run at once; the real
# one does so under TEST_NGINX_RANDOMIZE.

use strict;
use warnings;
use parent 'Test::Base';

use List::Util qw(shuffle);
use Test::More ();

use Test::Nginx::StandIn::Checks qw(check_error_log check_response);
use Test::Nginx::StandIn::Client qw(parse_response send_request);
use Test::Nginx::StandIn::Config qw(config_text env_to_nginx);
use Test::Nginx::StandIn::ErrorLog ();
use Test::Nginx::StandIn::Request qw(requests_of);
use Test::Nginx::StandIn::Sections qw(refuse_unknown_sections);
use Test::Nginx::StandIn::Server ();
use Test::Nginx::StandIn::Settings qw(log_level master_on worker_connections workers);
use Test::Nginx::StandIn::Text qw(forget_random_ports);

our @EXPORT = qw(
    add_block_preprocessor env_to_nginx log_level master_on no_long_string run_tests
    worker_connections workers
);

my @preprocessors;

# The real one cuts long texts short where they differ, unless this is called.
sub no_long_string () { }

# The last one added runs first, as in the real one.
sub add_block_preprocessor (&) { unshift @preprocessors, shift }

sub run_tests () {
    my @blocks = Test::Base::blocks();

    # All blocks before the first runs: a misspelt section must not depend on
    # the shuffling to be found.
    for my $block (@blocks) {
        $_->($block) for @preprocessors;
        refuse_unknown_sections($block);
        $block->set_value(name => "$0 " . $block->name);
    }

    for my $block (shuffle @blocks) {
        my ($count, $condition) = ($block->skip_eval // '') =~ /^(\d+): (.+)/;
      SKIP: {
            Test::More::skip($block->name, $count) if $count && eval $condition;
            run_block($block);
        }
    }
}

sub run_block {
    my ($block) = @_;
    my $name = $block->name;

    forget_random_ports();
    Test::Nginx::StandIn::ErrorLog::rewind();

    Test::Nginx::StandIn::Server::stop();
    Test::Nginx::StandIn::Server::make_root();
    Test::Nginx::StandIn::Server::write_config(config_text($block));
    my $status = Test::Nginx::StandIn::Server::start(quiet => defined $block->suppress_stderr);
    # Other blocks may start, and so may other files.
    return Test::More::fail("$name - cannot start nginx (status $status)\n" . Test::Nginx::StandIn::ErrorLog::tail()) if $status;

    my @requests = requests_of($block);
    for my $index (0 .. $#requests) {
        my $response = parse_response($block, send_request($block, $requests[$index]));
        check_response($block, $response, $index, @requests > 1);
        check_error_log($block);
    }
}

1;
