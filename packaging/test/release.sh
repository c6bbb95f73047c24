# make bump and make release, in a repository of their own.
. packaging/test/_common.sh
. packaging/test/_chroot.sh

repo=$tmp/repo
cp -a . "$repo"
cd "$repo"
export GIT_AUTHOR_NAME=txid GIT_AUTHOR_EMAIL=txid@example.com GIT_COMMITTER_NAME=txid GIT_COMMITTER_EMAIL=txid@example.com
git init --quiet --initial-branch main
commit() {
    git add --all
    git commit --quiet --allow-empty --message "$1"
    git tag --force v9.8.7
}
release() { make --no-print-directory release VERSION=9.8.7 "$@" 2>&1; }

sed -i 's|^repository = .*|repository = "https://example.net/elsewhere/txid"|' Cargo.toml
commit "Move"
. packaging/facts.sh
make --no-print-directory bump VERSION=9.8.7
commit "Release 9.8.7"
# Earlier releases stay in CHANGELOG.md and in what is said of them; other packages may have our old version, in what pins them and in
# measurements.
! git grep -nE "(^|[^0-9])$(echo "$version" | sed 's/\./\\./g')" -- . ':!CHANGELOG.md' ':!*Cargo.lock' ':!bench/RESULTS.md' ':!bench/studies' \
    ':!docs/sql.md' ':!tests/sql/requirements.txt' ':!tests/peers/requirements.txt' ':!agent/src/run/guard/lock.rs' || fail "make bump left the old version"
! git grep -F https://example.com/txid || fail "make bump left the old address"

said=$(DRY_RUN=1 release) || fail "$said"
has "$said" "would run: make lint test test-install"
has "$said" "x86_64-unknown-linux-gnu.2.17: would run: cargo zigbuild"
has "$said" "aarch64-unknown-linux-gnu.2.17: "
has "$said" "x86_64-unknown-linux-musl: "
has "$said" "would run: packaging/pack.sh"
case $said in *upload*) fail "a release without PUBLISH=1 would upload: $said" ;; esac
said=$(DRY_RUN=1 PUBLISH=1 release)
has "$said" "would run: opm upload"
for rock in lua-resty-libtxid libtxid kong-plugin-txid apisix-plugin-txid; do has "$said" "luarocks upload rockspec/$rock-9.8.7-1.rockspec"; done
make --no-print-directory bump VERSION=9.8.7
[ -z "$(git status --porcelain)" ] || fail "a second bump changes something: $(git diff)"

# refuses WHAT FILE SED-SCRIPT: a release with that change to a file says so.
refuses() {
    sed -i "$3" "$2"
    commit "Break $2"
    if said=$(DRY_RUN=1 release); then fail "released in spite of '$3' on $2: $said"; fi
    has "$said" "$1"
    git reset --quiet --hard HEAD~
    git tag --force v9.8.7
}
refuses "the version in Cargo.toml" Cargo.toml 's/^version = .*/version = "9.8.6"/'
refuses "the version in Cargo.lock" Cargo.lock 's/^version = "9.8.7"/version = "9.8.6"/'
refuses "the version in dist.ini" dist.ini 's/^version = .*/version = 9.8.6/'
refuses "the version in packaging/kong" packaging/kong/kong/plugins/txid/handler.lua 's/9.8.7/9.8.6/'
refuses "the version in packaging/alpine/APKBUILD" packaging/alpine/APKBUILD 's/9.8.7/9.8.6/'
refuses "the address in packaging/nginx-image" packaging/nginx-image/txid/source 's/9.8.7/9.8.6/'
refuses "the address in dist.ini" dist.ini 's/elsewhere/nowhere/'
refuses "the difference between the release's rockspec" rockspec/kong-plugin-txid-9.8.7-1.rockspec 's/v9.8.7/v9.8.6/'
refuses "the newest release in CHANGELOG.md" CHANGELOG.md 's/^## \[9.8.7\]/## [9.8.6]/'

touch new
if said=$(DRY_RUN=1 release); then fail "released with a file that is not committed: $said"; fi
has "$said" "the list of uncommitted changes"
rm new
git tag --delete v9.8.7
if said=$(DRY_RUN=1 release); then fail "released without a tag: $said"; fi
has "$said" "the tag of this commit"

# For this machine alone, which takes half the time. The other's are linked by the same zig; test-platforms runs them.
packaging/pack.sh "$(uname -m)"
cd dist
sha256sum --check --quiet SHA256SUMS
for file in lua-resty-libtxid-9.8.7.tar.gz "txid-9.8.7-linux-$(uname -m)-gnu.tar.gz" txid-reader-9.8.7.html APKBUILD txid-nginx-image-9.8.7.tar.gz \
    lua-resty-libtxid-9.8.7-1.rockspec libtxid-9.8.7-1.rockspec kong-plugin-txid-9.8.7-1.rockspec apisix-plugin-txid-9.8.7-1.rockspec \
    lua-resty-libtxid-9.8.7-1.all.rock "libtxid-9.8.7-1.linux-$(uname -m).rock" kong-plugin-txid-9.8.7-1.all.rock \
    apisix-plugin-txid-9.8.7-1.all.rock libtxid2_9.8.7-1_*.deb libtxid-dev_9.8.7-1_*.deb \
    lua-resty-libtxid_9.8.7-1_all.deb txid_9.8.7-1_*.deb txid-agent_9.8.7-1_*.deb txid-9.8.7-1.*.rpm libtxid-9.8.7-1.*.rpm \
    libtxid-devel-9.8.7-1.*.rpm txid-agent-9.8.7-1.*.rpm lua-resty-libtxid-9.8.7-1.noarch.rpm; do
    grep -q " $file\$" SHA256SUMS || fail "there is no $file in: $(cat SHA256SUMS)"
done

has "$(cat APKBUILD)" "$(sha512sum lua-resty-libtxid-9.8.7.tar.gz)"

# The packages need no newer glibc than the library does.
for package in libtxid2 txid; do
    needs=$(dpkg-deb --field "$package"_9.8.7-1_*.deb Depends)
    has "$needs" "libc6 (>= 2.17)"
done

mkdir "$tmp/unpacked"
for archive in txid-9.8.7-linux-*.tar.gz; do tar -xzf "$archive" -C "$tmp/unpacked"; done
for package in *.deb; do dpkg-deb --extract "$package" "$tmp/unpacked/$package"; done
has_no_paths "$tmp/unpacked"

# The list of crates in the binaries is the one that Cargo compiled for them. Tools are compiled for this machine, elsewhere.
said() { grep -h '"purl"' "$@" | sed 's|.*cargo/\(.*\)@\(.*\)".*|\1-\2|' | sort -u; }
compiled=$(cat "../target/portable/$(uname -m)-unknown-linux-gnu/release/deps"/*.d | grep -o '/registry/src/[^/]*/[^/]*' | sed 's|.*/||' | sort -u)
[ "$(said "$tmp/unpacked/txid-9.8.7-linux-$(uname -m)-gnu/sbom.cdx.json")" = "$compiled" ] || fail "the list of crates is not $compiled"

# The rock of the library is that of the archive, and asks for as old a glibc.
python3 -m zipfile -e libtxid-9.8.7-1.linux-*.rock "$tmp/rock"
cmp "$tmp/rock/lib/libtxid.so" "$tmp/unpacked/txid-9.8.7-linux-$(uname -m)-gnu/built/libtxid.so" || fail "the rock has another library"

# The archive, on a bare Debian: two commands to the first id.
[ "$(id -u)" -eq 0 ] || { echo "# the archive was made but not installed: a chroot needs root"; exit 0; }
cd ..
for release in bookworm trixie; do
    fresh $release ca-certificates
    cp "dist/txid-9.8.7-linux-$(uname -m)-gnu.tar.gz" "$root/tmp/"
    start=$(date +%s)
    in_root sh -c 'apt-get update && apt-get install -y --no-install-recommends nginx libnginx-mod-http-lua' >"$log" 2>&1 || fail "$(tail -n 5 "$log")"
    in_root sh -c 'cd /tmp && tar -xzf txid-*.tar.gz && txid-*/install.sh'
    serve nginx
    is_id "$(header x-request-id "http://127.0.0.1:$port/")" "nginx of $release"
    echo "# $release: $(($(date +%s) - start)) s from the archive to the first id"
    stop
    is_id "$(in_root txid)" "the command of the archive"
    leases=$(in_root txid-agent run --store file:///tmp/leases --dir /tmp/run --assume-unused-store --node orders=snowflake -- txid-agent status --dir /tmp/run)
    has "$leases" "orders: node "
    in_root sh -c '/tmp/txid-*/install.sh --uninstall'
    left=$(in_root find /usr/local \( -name '*txid*' -o -name resty \) ! -type d)
    [ -z "$left" ] || fail "install.sh --uninstall left $left"
    rm -r "$root"
done

# The other packed files, each where its users are.
for name in rocks nginx-image; do
    mkdir "$tmp/$name"
    (export PACKED=1 tmp="$tmp/$name" && sh -eu packaging/test/$name.sh)
done
