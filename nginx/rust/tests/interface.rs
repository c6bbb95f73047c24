//! `nginx/ngx_txid_lib.h` matches `nginx/rust/`.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_fresh() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("../ngx_txid_lib.h");
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let mut text = Vec::new();
    cbindgen::Builder::new().with_crate(here).with_config(config).generate().unwrap().write(&mut text);
    // The header's first comment says in terms of C what a caller must guarantee.
    let fresh = String::from_utf8(text).unwrap().replace(" # Safety\n", " Safety:\n");
    if std::env::var_os("TXID_BLESS").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == fresh,
        "nginx/ngx_txid_lib.h does not match nginx/rust/: run `make headers`, commit the result"
    );
}
