#!/usr/bin/perl
# pictures.pl [check]: draws each docs/pictures/*.txt and *.console as an SVG beside it, or says which one is stale. A text is what it looks
# like: its first line is the title, lines and arrows become lines and arrows. A console has a
# frame around it; t/documents.t compares its text with what the commands print. Colors follow the reader's, light or dark.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my ($WIDTH, $HEIGHT, $MARGIN) = (8.4, 18, 12);

# From the middle of a character to its edges: up, down, left, right.
my %line = ('─' => '  lr', '│' => 'ud  ', '┌' => ' d r', '┐' => ' dl ', '└' => 'u  r', '┘' => 'u l ', '├' => 'ud r', '┤' => 'udl ', '┬' => ' dlr', '┴' => 'u lr', '┼' => 'udlr');
my %end = (u => [0, -$HEIGHT / 2], d => [0, $HEIGHT / 2], l => [-$WIDTH / 2, 0], r => [$WIDTH / 2, 0]);
my %arrow = ('▶' => [1, 0], '◀' => [-1, 0], '▼' => [0, 1], '▲' => [0, -1]);

sub escaped { return $_[0] =~ s/&/&amp;/gr =~ s/</&lt;/gr =~ s/>/&gt;/gr }

sub drawn {
    my ($text, $is_console) = @_;
    my ($title, @lines) = split /\n/, $text;
    @lines = ("$title", @lines) if $is_console;
    my ($columns) = sort { $b <=> $a } map { length } @lines;
    my ($width, $height) = ($columns * $WIDTH + 2 * $MARGIN, @lines * $HEIGHT + 2 * $MARGIN);
    my @svg = (
        sprintf('<svg xmlns="http://www.w3.org/2000/svg" width="%1$.0f" height="%2$.0f" viewBox="0 0 %1$.0f %2$.0f" font-family="monospace" font-size="14" role="img">', $width, $height),
        '<title>' . escaped($is_console ? $title =~ s/^\$ //r : $title) . '</title>',
        '<style>',
        '.back { fill: #fff } text { fill: #1f2328 } .typed { font-weight: bold } path { stroke: #59636e; fill: none } polygon { fill: #59636e }',
        '.frame { fill: #f6f8fa; stroke: #d1d9e0 }',
        '@media (prefers-color-scheme: dark) {',
        '.back { fill: #0d1117 } text { fill: #e6edf3 } path { stroke: #9198a1 } polygon { fill: #9198a1 }',
        '.frame { fill: #151b23; stroke: #3d444d }',
        '}',
        '</style>',
        sprintf('<rect width="%.0f" height="%.0f" class="%s" rx="6"/>', $width, $height, $is_console ? 'frame' : 'back'),
    );
    for my $row (0 .. $#lines) {
        my $y = $MARGIN + ($row + 0.5) * $HEIGHT;
        my $path = '';
        while ($lines[$row] =~ /([─│┌┐└┘├┤┬┴┼▶◀▼▲])|[^─│┌┐└┘├┤┬┴┼▶◀▼▲\s]+(?: [^─│┌┐└┘├┤┬┴┼▶◀▼▲\s]+)*/g) {
            my ($part, $from, $to) = ($&, $-[0], $+[0]);
            my ($x, $middle) = ($MARGIN + $from * $WIDTH, $MARGIN + ($from + 0.5) * $WIDTH);
            if (my $strokes = $line{ $1 // '' }) {
                $path .= sprintf 'M%.1f %.1fl%.1f %.1f', $middle, $y, @{ $end{$_} } for $strokes =~ /\S/g;
            } elsif (my $towards = $arrow{ $1 // '' }) {
                my ($dx, $dy) = map { 4.2 * $_ } @$towards;
                push @svg, sprintf '<polygon points="%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>', $middle + $dx, $y + $dy, $middle - $dx - $dy, $y - $dy - $dx, $middle - $dx + $dy, $y - $dy + $dx;
            } else {
                my $class = $is_console && $lines[$row] =~ /^\$ / ? ' class="typed"' : '';
                push @svg, sprintf '<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>', $x, $y + 5, ($to - $from) * $WIDTH, $class, escaped($part);
            }
        }
        push @svg, qq(<path d="$path"/>) if $path;
    }
    return join("\n", @svg, '</svg>') . "\n";
}

sub contents { open my $in, '<', $_[0] or return ''; local $/; return <$in> }

my $status = 0;
for my $source (glob 'docs/pictures/*.txt docs/pictures/*.console') {
    my $drawn = drawn(contents($source), $source =~ /console$/);
    my $picture = $source =~ s/\.\w+$/.svg/r;
    next if contents($picture) eq $drawn;
    if (@ARGV) { print "$picture is stale: run scripts/pictures.pl\n"; $status = 1; next }
    open my $out, '>', $picture or die "$picture: $!\n";
    print $out $drawn;
}
exit $status;
