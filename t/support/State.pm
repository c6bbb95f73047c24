package State;

# For test files of Test::Nginx: DIR in their configurations is a directory for states, which any worker may write to.

use strict;
use warnings;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use Test::Nginx::Socket ();

# A state is refused if there is a symbolic link in its path.
my $dir = realpath(tempdir('txid-state-XXXXXX', TMPDIR => 1, CLEANUP => 1));
chmod 0777, $dir or die "$dir: $!";

sub directory { return $dir }

Test::Nginx::Socket::add_block_preprocessor(sub {
    my ($block) = @_;
    for my $section (qw(http_config config lua stream_config)) {
        my $text = $block->$section;
        $block->set_value($section => $text =~ s/\bDIR\b/$dir/gr) if defined $text;
    }
});

1;
