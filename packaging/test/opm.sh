# dist.ini, by the rules of `opm build`; and the Lua files alone, which is what OPM installs.
. packaging/test/_common.sh

. packaging/facts.sh

perl - "$version" "$repository" <<'END'
use strict;
use warnings;

my ($version, $repository) = @ARGV;
my %ini;
open my $file, '<', 'dist.ini' or die "dist.ini: $!\n";
while (<$file>) {
    next if /^\s*(?:[#;].*)?$/;
    my ($key, $value) = /^\s*(\w+)\s*=\s*(.*?)\s*$/ or die "dist.ini: line $.: neither a key with a value nor a comment\n";
    die "dist.ini: line $.: $key for the second time\n" if exists $ini{$key};
    $ini{$key} = $value;
}

my @required = qw(name abstract author is_original license repo_link);
my %known = map { $_ => 1 } @required, qw(version lib_dir doc_dir requires main_module exclude_files);
$ini{$_} or die "dist.ini: there is no $_\n" for @required;
$known{$_} or die "dist.ini: opm knows no $_\n" for keys %ini;

my %rules = (
    name        => qr/^(?!(?:nginx|luajit|resty|openresty|opm|restydoc)$)[-\w]{3,}$/i,
    author      => qr/[a-zA-Z]/,
    is_original => qr/^(?:yes|no)$/,
    license     => qr/^(?:apache2|[23]bsd|l?gpl|gpl[23]|mit|mozilla2|cddl|eclipse|public|artistic2?|proprietary)$/,
    repo_link   => qr{^https?://[\x21-\x7e]+$},
    version     => qr/^[.\w]*\d[.\w]*$/,
    requires    => qr{^(?:luajit|openresty|[-\w]+/[-\w]+)(?:\s*(?:>=|=)\s*\w[-.\w]*)?$},
);
for my $key (sort keys %rules) {
    my @values = $key =~ /^(?:license|requires|author)$/ ? split(/\s*,\s*/, $ini{$key}) : $ini{$key} // next;
    $_ =~ $rules{$key} or die "dist.ini: bad $key: $_\n" for @values;
}
if ($ini{repo_link} =~ m{\bgithub\.com\b}) {
    my ($project) = $ini{repo_link} =~ m{github\.com/[^/\s]+/([^/\s]+)}
        or die "dist.ini: $ini{repo_link} is no repository\n";
    $project =~ /\Q$ini{name}\E/i || $ini{name} =~ /\Q$project\E/i
        or die "dist.ini: neither of $project, the repository, and $ini{name} has the other in its name\n";
}

# Without doc_dir there would have to be a directory lib.
for my $key (qw(lib_dir doc_dir)) {
    my $dir = $ini{$key} // 'lib';
    -d $dir && $dir !~ m{^/|\.\.} or die "dist.ini: $key: $dir is no directory below this one\n";
}
die "dist.ini: lib_dir is $ini{lib_dir}\n" if $ini{lib_dir} ne 'lua';

-f 'README.md' or die "there is no README.md\n";
open my $main, '<', 'lua/resty/txid.lua' or die "lua/resty/txid.lua, the main module: $!\n";
/\b(?:_?VERSION|version)\s*=\s*\S*\d/ and die "opm takes this for the version of the main module: $_" while <$main>;

$ini{version} eq $version or die "dist.ini: version $ini{version}, Cargo.toml has $version\n";
$ini{repo_link} eq $repository or die "dist.ini: repo_link $ini{repo_link}, Cargo.toml has $repository\n";
END

find lua -name '*.lua' | while read -r file; do
    luajit -b "$file" /dev/null
    # opm replaces / by -, and later - by /.
    case $file in
        *-*) fail "opm would make directories of the hyphens in $file" ;;
    esac
done

mkdir -p "$tmp/site/lualib"
cp -r lua/. "$tmp/site/lualib"
cd "$tmp"
LUA_PATH="$tmp/site/lualib/?.lua" LUA_CPATH="$tmp/site/lualib/?.so" luajit -e '
    print(require "resty.txid"())
    assert(require("resty.txid.lib").engine == "pure", "the library was found")' >id 2>said
is_id "$(cat id)" "the package of OPM"
has "$(cat said)" "libtxid.so was not found, so ids are made in plain LuaJIT"
