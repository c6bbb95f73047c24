package Modules;

# Finds the nginx modules, in target/nginx or $TXID_NGINX_MODULES, and checks whether nginx can load them, and what it knows.

use strict;
use warnings;
use Cwd qw(getcwd);
use File::Spec;

my $target = File::Spec->rel2abs($ENV{CARGO_TARGET_DIR} || 'target', getcwd());

# Empty if they are built in.
sub directory { $ENV{TXID_NGINX_MODULES} // "$target/nginx" }

# The output of nginx with an option.
sub nginx {
    my ($option) = @_;
    my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
    return `$nginx $option 2>&1`;
}

# Whether nginx, or a module that it loads, has this directive. lua-nginx-module has some since 0.10.21.
sub knows {
    my ($directive) = @_;
    my $nginx = $ENV{TEST_NGINX_BINARY} || `command -v nginx` =~ s/\n//r;
    return system('grep', '-qF', $directive, $nginx, split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '') == 0;
}

# Why this nginx cannot load them, if it cannot: for example, it is OpenResty's and they are for Debian's.
sub misfit {
    open my $file, '<', directory() . '/version' or return;
    chomp(my $built_for = <$file>);
    my ($nginx) = nginx('-v') =~ m{/(\d+\.\d+\.\d+)} or return;
    return if $nginx eq $built_for;
    return directory() . " is for nginx $built_for, and this nginx is $nginx: "
        . "run `make nginx-module NGINX_SRC=...` with the sources of $nginx";
}

1;
