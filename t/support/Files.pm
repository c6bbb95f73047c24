package Files;

# Whole files.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(contents write_file);

sub contents {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!";
    local $/;
    return readline $in;
}

# Returns the path. The file has this mode, if one is given.
sub write_file {
    my ($path, $text, $mode) = @_;
    open my $out, '>', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    chmod $mode, $path or die "$path: $!" if defined $mode;
    return $path;
}

1;
