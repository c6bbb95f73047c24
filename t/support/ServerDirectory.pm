package ServerDirectory;

# Directories of servers, which are removed at the end of a test that passed. After another one, its last words name them.

use strict;
use warnings;
use Cwd qw(realpath);
use Exporter 'import';
use File::Path qw(remove_tree);
use File::Temp ();
use Test::More ();

our @EXPORT_OK = qw(server_directory);

my $test_process = $$;
my @directories;

# With a directory for logs in it. Workers may not run as root. A state is refused if there is a symbolic link in its path.
sub server_directory {
    my $directory = realpath(File::Temp::tempdir());
    chmod 0755, $directory or die "$directory: $!";
    mkdir "$directory/logs" or die "$directory/logs: $!";
    push @directories, $directory;
    return $directory;
}

sub lines {
    my ($file) = @_;
    open my $in, '<', $file or return;
    return <$in>;
}

# This module is loaded before those that stop the servers, and so its END comes after theirs.
END {
    if ($$ == $test_process) {
        my $passed = $? == 0 && Test::More->builder->is_passing;
        local $?;
        for my $directory (@directories) {
            remove_tree($directory), next if $passed && !$ENV{TEST_NGINX_NO_CLEAN};
            my @listens = map {/^\s*(listen [^;]+)/} lines("$directory/nginx.conf");
            my @log = lines("$directory/logs/error.log");
            Test::More::diag("logs kept in $directory by $0 (@listens); error.log ends with:\n",
                map {substr($_, 0, 300) . "\n"} map {s/\n//r} @log > 8 ? @log[-8 .. -1] : @log);
        }
    }
}

1;
