# The rule for the library that the modules are linked with. Cargo knows whether it is out of date, so ask it each time.

cat <<END >>$NGX_MAKEFILE

$ngx_txid_lib:	ngx_txid_ask_cargo
	cd "$ngx_txid_root" && RUSTC_WRAPPER="$ngx_txid_root/scripts/rustc.sh" "${NGX_CARGO:-cargo}" build --quiet --locked --release --package txid-capi --features nginx \\
		--target-dir "$ngx_txid_target"

.PHONY:	ngx_txid_ask_cargo
END
