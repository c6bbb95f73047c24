package Native;

# For test files of nginx's own modules: loads them, from target/nginx or $TXID_NGINX_MODULES, into the nginx of
# Test::Nginx, so use it before that. An empty $TXID_NGINX_MODULES says that they are built in.

use strict;
use warnings;
use Cwd qw(getcwd);
use Exporter 'import';
use File::Spec;
use Test::More ();

our @EXPORT_OK = qw(modules nginx_has_stream);

my $target = File::Spec->rel2abs($ENV{CARGO_TARGET_DIR} || 'target', getcwd());
my $directory = $ENV{TXID_NGINX_MODULES} // "$target/nginx";

# All that nginx has to load.
sub modules { split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '' }

if ($directory ne '') {
    my @ours = ("$directory/ngx_http_txid_module.so");
    # It needs stream, which nginx may not have.
    push @ours, "$directory/ngx_stream_txid_module.so" if nginx_has_stream();
    for (@ours) {
        -e or die "there is no $_: run `make nginx-module` in the root of the tree, and the tests from there\n";
    }
    my $nginx = nginx('-v') =~ m{/(\d+\.\d+\.\d+)} ? $1 : 'unknown';
    my $wanted = modules_version() // $nginx;
    # As where OpenResty is the nginx, and the modules are for Debian's.
    $nginx eq $wanted
        or Test::More::plan(skip_all => "$directory is for nginx $wanted, and this nginx is $nginx: "
            . "run `make nginx-module NGINX_SRC=...` with the sources of $nginx");
    $ENV{TEST_NGINX_LOAD_MODULES} = join ' ', modules(), @ours;
}

# What nginx says to an option.
sub nginx {
    my ($option) = @_;
    my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
    return `$nginx $option 2>&1`;
}

# The version of nginx that scripts/nginx-module.sh built our modules for.
sub modules_version {
    open my $file, '<', "$directory/version" or return;
    chomp(my $version = <$file>);
    return $version;
}

sub nginx_has_stream {
    return 1 if ($ENV{TEST_NGINX_LOAD_MODULES} // '') =~ /ngx_stream_module/;
    return nginx('-V') =~ /--with-stream(?!=dynamic)\b/;
}

1;
