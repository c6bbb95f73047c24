package Test::Nginx::StandIn::Config;

# Writes the nginx.conf of a block.

use strict;
use warnings;
use Exporter 'import';
use Carp qw(croak);

use Test::Nginx::StandIn::Sections qw(section);
use Test::Nginx::StandIn::Settings qw(
    html_dir log_level master_process nginx_binary server_port server_root worker_connections workers);
use Test::Nginx::StandIn::Text qw(expand_variables);

our @EXPORT_OK = qw(config_text env_to_nginx write_file);

# nginx drops every variable without an env directive. The loader's and the
# sanitizers' are needed to run a library under test.
my @kept_variables = qw(LD_PRELOAD LD_LIBRARY_PATH ASAN_OPTIONS);

sub env_to_nginx (@) {
    croak 'env_to_nginx: no arguments' unless @_;
    for (@_) {
        croak "env_to_nginx: bad argument: $_" if !/^[A-Za-z_]/ || /\n/;
        push @kept_variables, /\s/ ? "'$_'" : $_;
    }
}

sub config_text {
    my ($block) = @_;
    my %text = map { $_ => expand_variables(section($block, $_), $block) // '' }
        qw(main_config http_config config);

    my $root        = server_root();
    my $modules     = $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $load        = join "\n", map {"load_module $_;"} split ' ', $modules;
    my $environment = join "\n", map {"env $_;"} @kept_variables;
    my $temp_paths  = temp_paths($text{http_config});

    # Otherwise, as root, nginx would run its workers as a user who may not be
    # able to read the checkout.
    my $user = $> == 0 ? 'user root;' : '';

    return <<"END_OF_CONFIG";
worker_processes @{[workers()]};
daemon on;
master_process @{[master_process()]};
error_log $root/logs/error.log @{[log_level()]};
pid $root/logs/nginx.pid;
$user
$environment
$load
$text{main_config}
http {
    access_log $root/logs/access.log;
    $temp_paths
    default_type text/plain;
    keepalive_timeout 68000ms;
$text{http_config}
    server {
        listen 127.0.0.1:@{[server_port()]};
        server_name localhost;
        client_max_body_size 30M;
$text{config}
        location / { root @{[html_dir()]}; index index.html index.htm; }
    }
}
events {
    accept_mutex off;
    worker_connections @{[worker_connections()]};
}
END_OF_CONFIG
}

# Built-in paths for temporary files may be outside the server root. A module
# that is not in this nginx does not know its directive.
my $build_options;

sub temp_paths {
    my ($http_config) = @_;
    $build_options //= `@{[nginx_binary()]} -V 2>&1`;

    my @directives;
    for my $module (qw(client_body proxy fastcgi scgi uwsgi)) {
        next if $build_options =~ /--without-http_${module}_module/;
        next if $http_config =~ /\b${module}_temp_path\b/;
        push @directives, "${module}_temp_path @{[server_root()]}/${module}_temp;";
    }
    return join "\n    ", @directives;
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}

1;
