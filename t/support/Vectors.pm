package Vectors;

# tests/vectors/ for Lua, which has no reader of JSON.

use strict;
use warnings;
use Exporter 'import';
use File::Temp;
use JSON::PP ();

our @EXPORT_OK = qw(lua_file lua_of vectors);

# A file of tests/vectors/. Its characters are bytes.
sub vectors {
    my ($name) = @_;
    open my $file, '<:raw', "tests/vectors/$name.json" or die "tests/vectors/$name.json: $!";
    local $/;
    return JSON::PP->new->utf8->decode(<$file>);
}

# A value of JSON in Lua.
sub lua_of {
    my ($value) = @_;
    return 'nil' if !defined $value;
    return $value ? 'true' : 'false' if JSON::PP::is_bool($value);
    return '{' . join(',', map { lua_of($_) } @$value) . '}' if ref $value eq 'ARRAY';
    return '{' . join(',', map { "[" . lua_of($_) . "]=" . lua_of($value->{$_}) } sort keys %$value) . '}' if ref $value;
    return '"' . $value =~ s/([^\w .:\/-])/sprintf '\\%03d', ord $1/gaer . '"';
}

# A file with a Lua table of these files of tests/vectors/. It disappears with the object.
sub lua_file {
    my $file = File::Temp->new(SUFFIX => '.lua');
    print $file 'return {' . join(',', map { "$_ = " . lua_of(vectors($_)) } @_) . "}\n";
    close $file or die $!;
    return $file;
}

1;
