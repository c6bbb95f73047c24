#!/usr/bin/perl
# words.pl [FILE...]: counts the words of pages: those of docs/ and agent/ if none is given (README.md may have so many lines). A word has a letter
# or a digit. The specification is not in the sum. What a test writes is counted by itself: it stands between "<!-- NAME, written from FILE -->"
# and "<!-- end of NAME -->", in docs/request.md before "<!-- more -->", and in the rows of directives that lead there. Ends with 1 if a page,
# or all together, has more words than it may have.

use strict;
use warnings;
use File::Find;

my $ALL = 26_000;
my $ONE = 2_000;
my $SPECIFICATION = 'docs/formats.md';
my %LONGER = ($SPECIFICATION => 3_600);

sub count { return scalar(grep { /[[:alnum:]]/ } split ' ', $_[0]) }

my @pages = @ARGV;
find({ wanted => sub { push @pages, $File::Find::name if /\.md$/ }, no_chdir => 1 }, 'docs', 'agent/README.md', 'agent/docs') unless @pages;

my ($all, $all_written, $status) = (0, 0, 0);
for my $page (sort @pages) {
    open my $in, '<', $page or die "$page: $!\n";
    my $text = do { local $/; <$in> };
    my $total = count($text);
    $text =~ s/^<!-- ([\w ]+), written from .*? -->\n.*?^<!-- end of \1 -->\n//gms;
    $text =~ s/^\| \[`txid_.*\n//gm;
    $text =~ s/^### \w+\n\n\K\| \| \|\n.*?(?=^<!-- more -->)//gms;
    my $words = count($text);
    $all         += $words unless $page eq $SPECIFICATION;
    $all_written += $total - $words;
    printf "%6d %6d %s\n", $words, $total - $words, $page;
    my $most = $LONGER{$page} // $ONE;
    if ($words > $most) { print "$page may have $most words\n"; $status = 1 }
}
printf "%6d %6d written by people, and by tests\n", $all, $all_written;
if (!@ARGV && $all > $ALL) { print "all pages together may have $ALL words\n"; $status = 1 }
exit $status;
