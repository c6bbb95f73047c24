//! readers/web/txid.js reads tests/vectors/ in Node and in Chromium, and the web reader shows ids with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn in_tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(in_tree(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The output of the first of these programs that there is. Without any, the test passes, and says that it was skipped.
fn run(names: &[&str], args: &[&str]) -> Option<Output> {
    let output = names.iter().find_map(|name| Command::new(name).args(args).current_dir(in_tree("")).output().ok());
    if output.is_none() {
        println!("skipped: there is no {}", names.join(" and no "));
    }
    output
}

/// The document that a browser makes of a file, after its script has run.
fn document(file: &Path, fragment: &str) -> Option<String> {
    let profile = tempfile::tempdir().unwrap();
    let output = run(
        &["chromium", "chromium-browser", "google-chrome"],
        &[
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--virtual-time-budget=60000",
            &format!("--user-data-dir={}", profile.path().display()),
            "--dump-dom",
            &format!("file://{}#{fragment}", file.display()),
        ],
    )?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_module_is_short() {
    let lines = read("readers/web/txid.js").lines().count();
    assert!(lines <= 800, "{lines} lines");
}

#[test]
fn the_module_reads_every_format() {
    let module = read("readers/web/txid.js").replace("{\n        ", "{ ");
    for format in txid::formats::ALL.into_iter().filter(|format| format.read.is_some()) {
        let line = format!("    {}: {{ title: \"{}\", ", format.name, format.title);
        assert!(module.contains(&line), "readers/web/txid.js has no{line}");
    }
}

#[test]
fn the_vectors_in_node() {
    if let Some(output) = run(&["node", "nodejs"], &["tests/web/node.mjs"]) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The web reader as one file.
fn packed(directory: &Path) -> PathBuf {
    let output = run(&["packaging/web-reader.sh"], &[]).expect("a script of this repository");
    assert!(output.status.success(), "{output:?}");
    let file = directory.join("reader.html");
    fs::write(&file, output.stdout).unwrap();
    file
}

/// In a file that is opened without a server.
#[test]
fn the_vectors_in_a_browser() {
    let module = read("readers/web/txid.js");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("vectors.html");
    let tested = format!(
        "<meta charset=utf-8><body>no answer<script type=module>\n{module}\n{}\n\
         const wrong = differences({{ parse, read, find, bounds, date }}, {{ formats: {}, times: {} }});\n\
         document.body.textContent = `${{wrong.length}} differences\\n${{wrong.join(\"\\n\")}}`;\n</script>",
        read("tests/web/differences.mjs"),
        read("tests/vectors/formats.json"),
        read("tests/vectors/times.json"),
    );
    fs::write(&file, tested).unwrap();
    if let Some(document) = document(&file, "") {
        assert!(document.contains(">0 differences\n"), "{document}");
    }
}

#[test]
fn it_shows_the_ids_of_a_line() {
    let line = "GET%20/?id=b2fr5nvmbtcu7vl9phl0%20trace=017F22E2-79B0-7CC3-98C4-DC0C0C07398F.";
    let directory = tempfile::tempdir().unwrap();
    let Some(document) = document(&packed(directory.path()), line) else { return };
    for shown in [
        "<h2>txid</h2>",
        "<dd>2018-04-01T01:21:28.537Z</dd>",
        ">b2fr5nvm800000000000</button>",
        ">b2fr5nvmfvvvvvvvvvvg</button>",
        "Or xid of 2017-02-12T00:57:03.000Z<",
        "<h2>UUID version 7</h2>",
        "<dd>2022-02-22T19:22:22.000Z</dd>",
        "2 ids",
    ] {
        assert!(document.contains(shown), "it does not show {shown}");
    }
}

/// Nothing is wider than the screen of a small telephone, also with all options and four kinds of ids.
#[test]
fn it_fits_on_a_narrow_screen() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("narrow.html");
    let ids = "4om9qi54la8ffr4bd9sg%20017F22E2-79B0-7CC3-98C4-DC0C0C07398F%201160090501362225152%20\
               b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042";
    let tested = format!(
        "<meta charset=utf-8><body><script>\n\
         for (const width of [360, 280]) {{\n\
             const frame = document.createElement('iframe');\n\
             frame.style.width = `${{width}}px`;\n\
             frame.src = 'file://{}#{ids}';\n\
             frame.onload = () => setTimeout(() => {{\n\
                 frame.contentDocument.getElementById('custom').hidden = false;\n\
                 const {{ scrollWidth, clientWidth }} = frame.contentDocument.documentElement;\n\
                 document.body.append(`${{width}} ${{scrollWidth > clientWidth ? 'is too narrow' : 'is enough'}}; `);\n\
             }}, 500);\n\
             document.body.append(frame);\n\
         }}\n</script>",
        packed(directory.path()).display()
    );
    fs::write(&file, tested).unwrap();
    if let Some(document) = document(&file, "") {
        assert!(document.contains("360 is enough") && document.contains("280 is enough"), "{document}");
    }
}
