#!/bin/sh
# test-reproducible.sh: packs the committed tree twice, and compares all of dist/: in other directories, as another
# user, with another home, locale, umask, time zone, clock and number of jobs. As root, who can be another user.
set -eu

cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "txid: only root can build as another user: sudo make test-reproducible" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# In copies that are thrown away, so no packages are left behind.
export TXID_INSTALL=1
chmod 755 "$scratch"
toolchain=$(rustc --print sysroot)
cargo_home=${CARGO_HOME:-$HOME/.cargo}
one=$scratch/one other="$scratch/the-other/place"
for tree in "$one" "$other"; do
    mkdir -p "$tree"
    git clone --quiet . "$tree/txid"
done

echo "the first"
(cd "$one/txid" && exec packaging/pack.sh "$(uname -m)") >"$scratch/one.log" 2>&1 || { tail "$scratch/one.log" >&2; exit 1; }

echo "the second"
mkdir -p "$other/home/.cargo"
cp -R "$cargo_home/registry" "$other/home/.cargo/"
chown -R 12345:12345 "$other"
cat >"$scratch/second.sh" <<'END'
mount --bind "$1" "$2"
# rustc with libfaketime never ends: its allocator asks for the time, and libfaketime allocates to answer.
mkdir "$2.bin"
printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s/bin/rustc" "$@"\n' "$2" >"$2.bin/rustc"
chmod 755 "$2.bin" "$2.bin/rustc"
export PATH="$2.bin:$2/bin:/usr/local/bin:/usr/bin:/bin" HOME="$3" CARGO_BUILD_JOBS=1 LC_ALL=tr_TR.UTF-8 TZ=Pacific/Chatham
unset CARGO_HOME RUSTUP_HOME CARGO_TARGET_DIR
umask 077
cd "$4"
exec setpriv --reuid=12345 --regid=12345 --clear-groups faketime -f +400d packaging/pack.sh "$5"
END
mkdir "$scratch/rust"
unshare --mount sh -eu "$scratch/second.sh" "$toolchain" "$scratch/rust" "$other/home" "$other/txid" "$(uname -m)" >"$scratch/other.log" 2>&1 \
    || { tail "$scratch/other.log" >&2; exit 1; }

different=
for file in "$one"/txid/dist/*; do
    cmp "$file" "$other/txid/dist/${file##*/}" || {
        different="$different ${file##*/}"
        ! command -v diffoscope >/dev/null || diffoscope --max-report-size 20000 "$file" "$other/txid/dist/${file##*/}" || :
    }
done
[ -z "$different" ] || { echo "txid: these differ:$different" >&2; exit 1; }
echo "the same bytes: $(find "$one/txid/dist" -type f | wc -l) files"
