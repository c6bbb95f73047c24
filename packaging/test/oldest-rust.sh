# All of it, with its tests, compiles with the Rust that Cargo.toml asks for, which is that of Debian 13.
. packaging/test/_common.sh
. packaging/test/_chroot.sh

[ "$(id -u)" -eq 0 ] || { echo "# not compiled: a chroot needs root"; exit 0; }
rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
fresh trixie ca-certificates,cargo,gcc,libc6-dev
has "$(in_root rustc --version)" "rustc $rust."
tar -c --exclude ./target --exclude ./dist . | tar -x -C "$root/tmp"
for manifest in Cargo.toml agent/Cargo.toml; do
    in_root cargo check --locked --workspace --all-features --all-targets --target-dir /tmp/target --manifest-path "/tmp/$manifest" >"$log" 2>&1 \
        || { grep -A 8 '^error' "$log" || tail -n 20 "$log"; fail "cargo check with Rust $rust"; }
done
