#!/usr/bin/perl
# mutants.pl lua|c [FILE...]: changes the code in one place at a time (a comparison, an operator, a number, a constant, the
# order of two arguments, a statement that is left out), and runs the suites that belong to the file until one fails. Prints
# the changes that no suite noticed, and a table. Changes that nobody could notice are in mutants.equivalent.
#
# It works in copies of the tree, one for each processor, or in as many as JOBS= says. Without a change all suites must pass.
# Then that runs first which has caught most for its time, and each ends with its first failure.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/support";
use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Files qw(contents write_file);
use POSIX ();
use Time::HiRes qw(time);

chdir "$FindBin::Bin/.." or die;
my $root = getcwd();
my ($language, @wanted) = @ARGV;
die "usage: mutants.pl lua|c [FILE...]\n" unless ($language // '') =~ /^(?:lua|c)$/;

# The suites of each file; NAME-without is NAME without the library.
my %SUITES = (
    'lua/resty/txid.lua'         => 'txid/{format,arguments,time,request,headers-more,workers,reload,clock,compile} lua/plain-luajit',
    'lua/resty/txid/args.lua'    => 'txid/arguments lua/{plain-luajit,codec,vectors,formats,strong,uuid,flake,trace,maker,snowflake,segment}',
    'lua/resty/txid/cidr.lua'    => 'lua/vectors lua/cidr request/client-ids',
    'lua/resty/txid/codec.lua'   => 'lua/vectors lua/codec lua/plain-luajit',
    'lua/resty/txid/inspect.lua' => 'lua/maker lua/vectors lua/flake',
    'lua/resty/txid/lib.lua'     => 'lua/plain-luajit txid/{format,time,clock,engine}',
    'lua/resty/txid/maker.lua'   => 'lua/maker lua/flake lua/strong lua/formats',
    'lua/resty/txid/pure.lua'    => 'lua/pure txid/engine lua/plain-luajit',
    'lua/resty/txid/request.lua' => 'request/* native/redirects txid/reload',
    'lua/resty/txid/request/'    => 'request/* native/redirects txid/reload',
    'lua/resty/txid/request/plain.lua' => 'request/{client-ids,configure,decisions,handle}-without txid/engine',
    'lua/resty/txid/request/rules.lua' => 'request/{client-ids,configure,decisions,handle}-without txid/engine',
    'lua/resty/txid/request/store.lua' => 'request/{client-ids,configure,decisions,handle}-without txid/engine',
    'lua/resty/txid/segment.lua' => 'lua/segment lua/formats',
    'lua/resty/txid/snowflake.lua' => 'lua/snowflake* lua/leaf lua/lease-workers',
    'lua/resty/txid/text.lua'    => 'lua/{codec,vectors,snowflake,formats,strong,uuid,flake,trace,maker,plain-luajit}',
    'lua/resty/txid/trace.lua'   => 'lua/trace request/trace lua/formats',
    'lua/resty/txid/uuid.lua'    => 'lua/uuid lua/formats',
    'nginx/ngx_stream'           => 'native/{directives,stream,processes,symbols,without-lua,times,memory}',
    'nginx/'                     => 'native/*',
);

my $number = [qr/(?<![\w.])(\d+)(?![\w.])/, sub { $1 + 1 }];
my @swapped = (
    # Not of functions whose arguments may be swapped.
    [qr/(?<!\bband)(?<!\bbor)(?<!\bbxor)(?<!\bmin)(?<!\bmax)(?<=\w)\((\w+), (\w+)\)/, sub {"($2, $1)"}],
    [qr/(?<= )<(?= )/,  '<='], [qr/(?<= )<=(?= )/, '<'], [qr/(?<= )>(?= )/,  '>='], [qr/(?<= )>=(?= )/, '>'],
    [qr/(?<= )\+(?= )/, '-'],  [qr/(?<= )-(?= )/,  '+'], [qr/(?<= )\*(?= \w)/, '+'], $number,
);
my %CHANGES = (
    lua => [
        @swapped,
        [qr/==/, '~='], [qr/~=/, '=='], [qr/\band\b/, 'or'], [qr/\bor\b/, 'and'], [qr/\bnot /, ''],
        [qr/\btrue\b/, 'false'], [qr/\bfalse\b/, 'true'],
        # A statement of one line.
        [qr/(?<=\n)( +)(?!local|return|function|if|for|elseif|until|while)[\w.:\[\]]+(?: = [^\n{]*[^\n{(,]|\([^\n]*\))(?=\n)/, sub {"$1do end"}],
    ],
    c => [
        @swapped,
        [qr/==/, '!='], [qr/!=/, '=='], [qr/&&/, '||'], [qr/\|\|/, '&&'], [qr/!(?=[\w(])/, ''],
        [qr/\bNGX_OK\b/, 'NGX_ERROR'], [qr/\bNGX_ERROR\b/, 'NGX_OK'], [qr/\bNGX_DECLINED\b/, 'NGX_OK'],
        [qr/(?<=\n)( +)(?!return|static|case|default|goto|break)[\w.>*\[\]-]+(?: [-+|]?= [^\n]*;|\([^\n]*\);|\+\+;)(?=\n)/, sub {"$1;"}],
    ],
);

# A text with spaces in place of comments and of what is in quotes.
sub code {
    my ($text) = @_;
    my $skipped = $language eq 'lua'
        ? qr/--\[\[.*?\]\]|--[^\n]*|\[\[.*?\]\]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/s
        : qr{/\*.*?\*/|//[^\n]*|^\#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'}sm;
    $text =~ s/($skipped)/$1 =~ s{[^\n]}{ }gr/ge;
    return $text;
}

# The line, or the lines, of $text from $start to $end, without what is around them.
sub line_at {
    my ($text, $start, $end) = @_;
    my $first = rindex($text, "\n", $start - 1) + 1;
    my $last  = index($text, "\n", $end);
    return substr($text, $first, $last - $first) =~ s/^\s+|\s+$//gr;
}

sub mutants_of {
    my ($path) = @_;
    my $text = contents($path);
    my $code = code($text);
    my @mutants;
    for my $change (@{ $CHANGES{$language} }) {
        my ($pattern, $new) = @$change;
        while ($code =~ /$pattern/g) {
            my ($start, $end) = ($-[0], $+[0]);
            my $by = ref $new ? $new->() : $new;
            my $changed = substr($text, 0, $start) . $by . substr($text, $end);
            next if $changed eq $text;
            my $line = 1 + (substr($text, 0, $start) =~ tr/\n//);
            my $before = line_at($text, $start, $end);
            my $after = line_at($changed, $start, $start + length $by);
            push @mutants, { path => $path, line => $line, before => $before, after => $after, text => $changed };
        }
    }
    return @mutants;
}

# {path}{before}{after} is true if nobody could notice that change.
sub equivalents {
    my %known;
    for (grep {/\S/ && !/^#/} split /\n/, contents('scripts/mutants.equivalent')) {
        my ($path, $before, $after, $reason) = split / \| /;
        die "mutants.equivalent: no reason in: $_\n" unless $reason;
        $known{$path}{$before}{$after} = 1;
    }
    return \%known;
}

sub suites_of {
    my ($path) = @_;
    my ($longest) = sort { length $b <=> length $a } grep { index($path, $_) == 0 } keys %SUITES;
    die "mutants.pl: which suites belong to $path?\n" unless $longest;
    my %seen;
    return grep { !$seen{$_}++ } map { /(.*)-without$/ ? map {"without $_"} glob "t/$1.t" : glob "t/$_.t" } split / /, $SUITES{$longest};
}

# A copy of the tree with what was built; for C, with the objects of the modules.
sub copy_tree {
    my $tree = tempdir('txid-mutants-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    # Workers of nginx may not run as root.
    chmod 0755, $tree or die "mutants.pl: $tree: $!\n";
    system("git ls-files -z | xargs -0 cp --parents -t '$tree' && mkdir '$tree/target' && ln -s '$root/target/'release '$root/target/'debug '$tree/target/'") == 0
        or die "mutants.pl: cannot copy the tree\n";
    if ($language eq 'c') {
        runs($tree, 'scripts/nginx-module.sh') or die "mutants.pl: cannot build the modules\n";
    }
    else {
        symlink "$root/target/nginx", "$tree/target/nginx" or die "mutants.pl: $!\n";
    }
    return $tree;
}

sub runs {
    my ($tree, $command) = @_;
    return system("cd '$tree' && $command >mutant.log 2>&1") == 0;
}

sub builds {
    my ($tree, $path) = @_;
    return runs($tree, $language eq 'lua' ? "luajit -b $path -" : 'scripts/nginx-module.sh');
}

# What the compiler makes of it. A change of C may be where this nginx has no code.
sub modules {
    my ($tree) = @_;
    return $language eq 'lua' ? '' : join '', map { contents("$tree/target/nginx/$_.so") } qw(ngx_http_txid_module ngx_stream_txid_module);
}

# A suite that does not end has failed.
sub passes {
    my ($tree, $suite, $seconds) = @_;
    local $ENV{PERL5OPT} = "-I$tree/t/support -MFirstFailure";
    local $ENV{TXID_WITHOUT_LIBRARY} = $suite =~ s/^without // || '';
    return runs($tree, "timeout -k 5 $seconds scripts/prove.sh $suite");
}

# The seconds that each of these suites takes without a change.
sub seconds_of {
    my ($tree, @suites) = @_;
    my %seconds;
    for my $suite (@suites) {
        my $start = time;
        passes($tree, $suite, 300) or die "mutants.pl: $suite fails without a change:\n" . contents("$tree/mutant.log");
        die "mutants.pl: $suite is skipped:\n" . contents("$tree/mutant.log") if contents("$tree/mutant.log") =~ /skipped:|NOTESTS/;
        $seconds{$suite} = time - $start;
    }
    return \%seconds;
}

my %caught_by;

# Whether a suite fails; or 'no code', if it is none any more; or 'equivalent', if it is the same code.
sub outcome {
    my ($tree, $mutant, $seconds, $modules) = @_;
    return 'no code' unless builds($tree, $mutant->{path});
    return 'equivalent' if $language eq 'c' && modules($tree) eq $modules;
    # A suite that has caught more is likelier to catch this one.
    my %cost = map { $_ => $seconds->{$_} / (1 + ($caught_by{$_} // 0)) } suites_of($mutant->{path});
    for my $suite (sort { $cost{$a} <=> $cost{$b} } keys %cost) {
        next if passes($tree, $suite, int(20 + 5 * $seconds->{$suite}));
        $caught_by{$suite}++;
        return 'caught';
    }
    return 'survived';
}

@wanted = split /\n/, `git ls-files 'lua/*.lua' 'nginx/*.c' nginx/ngx_txid_variables.h` unless @wanted;
@wanted = grep { ($language eq 'c' ? /\.[ch]$/ : /\.lua$/) && !/cdefs\.lua$/ } @wanted;
my @mutants = map { mutants_of($_) } @wanted;
die "mutants.pl: no mutants of @wanted\n" unless @mutants;
chomp(my $jobs = $ENV{JOBS} || `nproc`);

my $known = equivalents();
my %count;
$count{ $_->{path} }{changes}++ for @mutants;
$count{ $_->{path} }{equivalent}++ for grep { $known->{ $_->{path} }{ $_->{before} }{ $_->{after} } } @mutants;
@mutants = grep { !$known->{ $_->{path} }{ $_->{before} }{ $_->{after} } } @mutants;

my %seen;
my @suites = grep { !$seen{$_}++ } map { suites_of($_) } @wanted;
my @trees = map { copy_tree() } 1 .. $jobs;
my $seconds = seconds_of($trees[0], @suites);

my @results;
for my $job (0 .. $jobs - 1) {
    pipe my $reader, my $writer or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        my $tree = $trees[$job];
        my $modules = modules($tree);
        for my $mutant (@mutants[grep { $_ % $jobs == $job } 0 .. $#mutants]) {
            my $path = "$tree/$mutant->{path}";
            my $original = contents($path);
            write_file($path, $mutant->{text});
            my $outcome = outcome($tree, $mutant, $seconds, $modules);
            write_file($path, $original);
            syswrite STDOUT, "$mutant->{path}:$mutant->{line}: $mutant->{before}  ->  $mutant->{after}\n" if $outcome eq 'survived';
            syswrite $writer, "$mutant->{path}|$outcome\n";
        }
        POSIX::_exit(0);
    }
    close $writer;
    push @results, $reader;
}
for my $reader (@results) {
    while (<$reader>) {
        chomp;
        my ($path, $outcome) = split /\|/;
        $count{$path}{$outcome}++;
    }
}
1 while wait != -1;

my ($all_caught, $all_viable) = (0, 0);
sub row { printf "%-36s %7s %7s %8s %10s %7s\n", @_ }
row('', 'changes', 'caught', 'survived', 'equivalent', '');
for my $path (sort keys %count) {
    my ($caught, $survived, $equivalent) = map { $count{$path}{$_} // 0 } qw(caught survived equivalent);
    my $viable = $caught + $survived;
    row($path, $viable + $equivalent, $caught, $survived, $equivalent, $viable ? sprintf('%.1f %%', 100 * $caught / $viable) : '');
    $all_caught += $caught;
    $all_viable += $viable;
}
my $share = $all_viable ? 100 * $all_caught / $all_viable : 0;
printf "%d of %d changes caught (%.1f %%)\n", $all_caught, $all_viable, $share;
exit($share < 97);
