//! In Chromium, readers/js reads tests/vectors/, and the web reader shows ids.

use crate::readers::{read, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// What a browser prints of a file, after its script has run.
fn browse(file: &Path, fragment: &str, options: &[&str]) -> Option<Output> {
    let profile = tempfile::tempdir().unwrap();
    let (profile, url) =
        (format!("--user-data-dir={}", profile.path().display()), format!("file://{}#{fragment}", file.display()));
    let always = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--virtual-time-budget=60000",
        &profile,
    ];
    let output = run(&["chromium", "chromium-browser", "google-chrome"], &[&always[..], options, &[&*url]].concat())?;
    assert!(output.status.success(), "{output:?}");
    Some(output)
}

/// The document that a browser makes of a file.
fn document(file: &Path, fragment: &str) -> Option<String> {
    browse(file, fragment, &["--dump-dom"]).map(|output| String::from_utf8(output.stdout).unwrap())
}

/// A text as it stands behind the # of an address.
fn fragment(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Two ids a second.
fn ids(count: usize) -> String {
    (0..count as i64)
        .map(|n| format!("{} GET /{n}\n", txid::Txid::wrapping_bounds_of(1_522_545_688_000 + n * 500)[0]))
        .collect()
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
    let table = read("readers/js/formats.js").replace("export default", "const table =");
    let module = read("readers/js/txid.js").replace("import table from \"./formats.js\";", &table);
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

#[test]
fn many_ids_are_a_table_and_a_timeline() {
    let directory = tempfile::tempdir().unwrap();
    let Some(document) = document(&packed(directory.path()), &fragment(&ids(20))) else { return };
    assert!(document.contains("<div id=\"overview\">"), "the table is hidden");
    assert!(document.contains("20 ids. Choose one to see what it holds"));
    assert_eq!(document.matches("<tr><td>").count(), 20);
    assert_eq!(document.matches("style=\"height: ").count(), 60);
    for shown in ["<span>2018-04-01T01:21:28.000Z</span>", "<span>2018-04-01T01:21:37.500Z</span>", "<td>txid</td>"] {
        assert!(document.contains(shown), "it does not show {shown}");
    }
    assert!(!document.contains("<article>"));
}

/// A page that has the reader in a frame, and does something there. The browser's time runs ahead while a page waits, so
/// `until` also computes, for as long as a worker may need.
fn driven(width: u32, fragment: &str, script: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("driven.html");
    let page = format!(
        "<meta charset=utf-8><body style='margin: 0'><script>\n\
         const frame = document.createElement('iframe');\n\
         frame.style = 'width: {width}px; height: 1400px; border: 0';\n\
         frame.src = 'file://{}#{fragment}';\n\
         let turns = 0;\n\
         const until = async (holds) => {{\n\
             for (let tried = 0; !holds(); tried++) {{\n\
                 if (tried === 2500) {{ document.body.append(`waited in vain for ${{holds}}`); return; }}\n\
                 for (let turn = 0; turn < 2e7; turn++) {{ turns ^= turn; }}\n\
                 await new Promise((go) => setTimeout(go, 20));\n\
             }}\n\
         }};\n\
         const type = (id, text) => {{\n\
             const field = frame.contentDocument.getElementById(id);\n\
             field.value = text;\n\
             field.dispatchEvent(new frame.contentWindow.Event('input'));\n\
         }};\n\
         const text = (id) => frame.contentDocument.getElementById(id).textContent;\n\
         frame.onload = async () => {{ {script} }};\n\
         document.body.append(frame);\n</script>",
        packed(directory.path()).display()
    );
    fs::write(&file, page).unwrap();
    (directory, file)
}

/// What the script writes with `say`.
fn said(fragment: &str, script: &str) -> Option<String> {
    let say = "const say = (text) => { const at = document.createElement('p'); at.className = 'said'; at.textContent = text; \
               document.body.append(at); };";
    let (_directory, file) = driven(800, fragment, &format!("{say}\n{script}"));
    let document = document(&file, "")?;
    let lines = document.split("<p class=\"said\">").skip(1).map(|part| part.split("</p>").next().unwrap().to_string());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

const TXID: &str = "b2fr5nvmbtcu7vl9phl0";

#[test]
fn the_address_follows_what_is_typed_and_the_page_follows_the_address() {
    let script = format!(
        "type('input', '{TXID} x'); say(frame.contentWindow.location.hash);\n\
         frame.contentWindow.location.hash = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';\n\
         await until(() => text('found').includes('UUID version 7')); say(frame.contentDocument.getElementById('input').value);"
    );
    let Some(said) = said("x", &script) else { return };
    assert_eq!(said, format!("#{TXID}%20x\n017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
}

/// In a worker, so the page goes on meanwhile.
#[test]
fn a_long_paste_is_read_without_a_pause() {
    let script = "const path = 'item/'.repeat(90);\n\
         const lines = Array.from({ length: 4000 }, (_, n) => `b2fr5nvm${String(n).padStart(11, '0')}0 GET /${path}${n}\\n`);\n\
         type('input', lines.join('')); say(text('status'));\n\
         await until(() => text('status') !== 'Reading …'); say(lines.join('').length > 1900000); say(text('status'));";
    let Some(said) = said("x", script) else { return };
    assert_eq!(said, "Reading …\ntrue\n4000 ids; the first 500 are shown. Choose one to see what it holds");
}

#[test]
fn a_file_that_is_dropped_is_read() {
    let script = format!(
        "const drop = async (parts, name) => {{\n\
             const data = new frame.contentWindow.DataTransfer();\n\
             data.items.add(new frame.contentWindow.File(parts, name));\n\
             frame.contentWindow.dispatchEvent(new frame.contentWindow.DragEvent('drop', {{ dataTransfer: data, cancelable: true }}));\n\
         }};\n\
         await drop(['{TXID} a'], 'a.log'); await until(() => text('found').includes('{TXID}')); say('plain');\n\
         const packed = new Response(new Blob(['017f22e2-79b0-7cc3-98c4-dc0c0c07398f']).stream().pipeThrough(new CompressionStream('gzip')));\n\
         await drop([await packed.arrayBuffer()], 'b.gz'); await until(() => text('found').includes('017f22e2')); say('gzip');\n\
         await drop([('{TXID} ' + 'x'.repeat(80) + '\\n').repeat(5000)], 'long.log');\n\
         await until(() => text('status').startsWith('5000 ids')); say(frame.contentDocument.getElementById('input').placeholder);"
    );
    let Some(said) = said("x", &script) else { return };
    assert_eq!(said, "plain\ngzip\nlong.log");
}

#[test]
fn a_time_has_its_first_and_last_id_and_an_id_its_link() {
    let script = "type('time', '2018-04-01T01:21:28.552Z'); say(['b2fr5nvq000000000000', '01627ecb-7fe8-7fff-bfff-ffffffffffff']\n\
             .map((id) => text('bounds').includes(id)));\n\
         type('time', 'x'); say(text('bounds'));\n\
         type('template', 'https://logs.example.com/?from={from_ms}&to={to_s}&at={time}&q={id}');\n\
         const link = () => frame.contentDocument.querySelector('#found a')?.href; say(link());\n\
         type('template', 'javascript:alert(1)'); say(link());";
    let Some(said) = said(TXID, script) else { return };
    assert_eq!(
        said,
        format!(
            "true,true\nnot a timewrite it as 2018-04-01T01:21:28.552Z or 1522545688552\n\
             https://logs.example.com/?from=1522545628537&amp;to=1522545748&amp;at=2018-04-01T01:21:28.537Z&amp;q={TXID}\n"
        )
    );
}

/// Pictures of the page, to be looked at: they are in target/tmp/web-reader.
#[test]
fn pictures_of_the_page() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("web-reader");
    fs::create_dir_all(&directory).unwrap();
    let one = format!("GET /?id={TXID} trace=017F22E2-79B0-7CC3-98C4-DC0C0C07398F.");
    let many = ids(40);
    // Each takes the browser two seconds.
    for (name, text, width, scheme) in [("two", &one, 1280, "light"), ("many", &many, 360, "dark")] {
        let (_page, file) = driven(width, &fragment(text), "");
        let picture = directory.join(format!("{name}-{width}-{scheme}.png"));
        let options = [
            format!("--screenshot={}", picture.display()),
            // A window is at least 500 wide; the frame in it is as narrow as a telephone.
            format!("--window-size={},1400", width.max(500)),
            format!("--blink-settings=preferredColorScheme={}", u8::from(scheme == "light")),
            "--hide-scrollbars".to_string(),
        ];
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        if browse(&file, "", &options).is_none() {
            return;
        }
        let picture_has = fs::read(&picture).unwrap();
        assert!(picture_has.starts_with(b"\x89PNG") && picture_has.len() > 10_000, "{}", picture.display());
        println!("{}", picture.display());
    }
}
