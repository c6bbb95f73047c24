package Native;

# For test files of the nginx modules: loads them into the nginx of Test::Nginx, so use it before Test::Nginx.

use strict;
use warnings;
use Exporter 'import';
use Modules;
use Test::More ();

our @EXPORT_OK = qw(modules nginx_has_stream);

my $directory = Modules::directory();

# All modules that nginx loads.
sub modules { split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '' }

if ($directory ne '') {
    my @ours = ("$directory/ngx_http_txid_module.so");
    # It needs stream, which nginx may lack.
    push @ours, "$directory/ngx_stream_txid_module.so" if nginx_has_stream();
    for (@ours) {
        -e or die "there is no $_: run `make nginx-module` in the root of the tree, and the tests from there\n";
    }
    my $misfit = Modules::misfit();
    Test::More::plan(skip_all => $misfit) if $misfit;
    $ENV{TEST_NGINX_LOAD_MODULES} = join ' ', modules(), @ours;
}

sub nginx_has_stream {
    return 1 if ($ENV{TEST_NGINX_LOAD_MODULES} // '') =~ /ngx_stream_module/;
    return Modules::nginx('-V') =~ /--with-stream(?!=dynamic)\b/;
}

1;
