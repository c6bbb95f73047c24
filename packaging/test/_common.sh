# To be sourced by the files beside it, which run in a clean checkout and may write to $tmp.

fail() { echo "FAILED: $*"; exit 1; }

# is_id TEXT WHAT
is_id() {
    printf '%s\n' "$1" | grep -Eqx '[0-9a-v]{19}[0g]' || fail "$2 gave '$1', which is not an id"
}

# is_empty DIR...: there is no file in these directories.
is_empty() {
    left=$(find "$@" ! -type d 2>/dev/null || :)
    [ -z "$left" ] || fail "left behind: $left"
}

# has_no_paths DIR...: no file in these directories shows where it was built.
has_no_paths() {
    for path in "$PWD" "$HOME/" "${CARGO_HOME:-$HOME/.cargo}"; do
        shown=$(grep -rlaF -- "$path" "$@" || :)
        [ -z "$shown" ] || fail "these have the path $path, as when they were built without scripts/rustc.sh: $shown"
    done
}

# has CONTENT TEXT
has() {
    case $1 in
        *"$2"*) ;;
        *) fail "'$2' is missing in: $1" ;;
    esac
}

# without_cargo COMMAND...: runs it as on a machine without Rust.
without_cargo() {
    usr=$tmp/without-cargo/usr
    mkdir -p "$usr/bin"
    # LuaRocks looks for headers relative to Lua.
    ln -sfn /usr/include "$usr/include"
    find /usr/bin /usr/local/bin -maxdepth 1 ! -type d ! -name cargo ! -name rustc ! -name rustup \
        -exec ln -sf -t "$usr/bin" {} +
    PATH=$usr/bin "$@"
}

free_port() { perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport'; }

# header NAME URL
header() { perl -MHTTP::Tiny -e 'print HTTP::Tiny->new(timeout => 10)->get($ARGV[1])->{headers}{$ARGV[0]} // ""' "$1" "$2"; }
