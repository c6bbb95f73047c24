//! libFuzzer's program when it is built by `crates/fuzz/run.sh`; otherwise runs a target over files, to reproduce a failure:
//! `cargo run -p txid-fuzz TARGET FILE...`.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static TARGET: std::sync::LazyLock<txid_fuzz::Target> = std::sync::LazyLock::new(|| {
        let name = std::env::var("TARGET").expect("TARGET says what to run");
        txid_fuzz::target(&name).expect("TARGET is one of those in lib.rs")
    });
    TARGET(bytes);
});

#[cfg(not(fuzzing))]
fn main() -> anyhow::Result<()> {
    use anyhow::Context;

    let mut args = std::env::args().skip(1);
    let name = args.next().context("what target?")?;
    let target = txid_fuzz::target(&name).with_context(|| format!("there is no target {name}"))?;
    for file in args {
        target(&std::fs::read(&file).context(file)?);
    }
    Ok(())
}
