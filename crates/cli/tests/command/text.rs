//! Ids in text, links, and manuals: `txid inspect`, `txid completions` and `txid man`.

use crate::{directory, id, printed, refusal, txid};
use serde_json::Value;

const TXID: &str = "b2fr5nvmbtcu7vl9phl0";
const UUID: &str = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

/// The ids that `inspect` shows of a text.
fn ids(text: &str) -> Vec<String> {
    let lines = printed(&mut txid(&["inspect", "--json", "--", text]));
    lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_string()).collect()
}

#[test]
fn the_ids_in_a_text_are_shown() {
    let xray = "1-58406520-a006649127e371903a2de979";
    for (text, expected) in [
        (format!("https://example.com/orders/{UUID}?id={TXID}"), vec![UUID, TXID]),
        (format!("10.0.0.1 - - [01/Apr/2018:01:21:28 +0000] \"GET / HTTP/1.1\" 200 \"{TXID}\""), vec![TXID]),
        (format!("Root={xray};Parent=53995c3f42cd8ad8;Sampled=1"), vec![xray, "53995c3f42cd8ad8"]),
        (format!("urn:uuid:{UUID}"), vec![UUID]),
        (format!("{TXID},"), vec![TXID]),
        (format!("{{{UUID}}}"), vec![UUID]),
    ] {
        assert_eq!(ids(&text), expected, "{text}");
        let lines = printed(txid(&["inspect", "--json"]).write_stdin(&*text));
        assert_eq!(lines.lines().count(), expected.len(), "{text}");
    }
    let message = "txid: 'GET / HTTP/1.1': no id is in this text\n";
    txid(&["inspect", "GET / HTTP/1.1"]).assert().code(1).stdout("").stderr(message);
}

/// They are those that readers/js/txid.js finds.
#[test]
fn a_browser_finds_the_same_ids() {
    let texts = [
        format!("GET /?id={TXID} trace={UUID}. {TXID}.{UUID}"),
        "b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042.x 146028887998464 14602888799846 a_b-c@d 35kLKK5Xcf76Cg11zybVdSPtuWA;".to_string(),
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 user_01h455vb4pex5vsknk084sn02q/1439530262794464807"
            .to_string(),
        format!("-{TXID}- _{UUID}_ x{TXID} {TXID}x"),
        // A dot or a dash can be part of an id, and can be before one.
        format!("a.b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042 req-{UUID}, x-1-58406520-a006649127e371903a2de979"),
        "x-user_01h455vb4pex5vsknk084sn02q, a_b_01h455vb4pex5vsknk084sn02q_, X_01h455vb4pex5vsknk084sn02q".to_string(),
    ];
    let module = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../readers/js/txid.js");
    let script = format!(
        "import {{ find }} from '{}'; for (const text of {}) \
         console.log(JSON.stringify(find(text).map(({{ ids }}) => ids[0].text)))",
        module.display(),
        serde_json::to_string(&texts).unwrap()
    );
    let Ok(output) = std::process::Command::new("node").args(["--input-type=module", "-e", &script]).output() else {
        return;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (text, line) in texts.iter().zip(said.lines()) {
        assert_eq!(ids(text), serde_json::from_str::<Vec<String>>(line).unwrap(), "{text}");
    }
}

#[test]
fn the_time_stands_before_each_line_that_flows_through() {
    let lines = format!("a {TXID} x\n\tat f\n{UUID} y");
    let stamped = printed(txid(&["inspect", "--time"]).write_stdin(lines));
    let blank = " ".repeat(24);
    assert_eq!(
        stamped,
        format!("2018-04-01T01:21:28.537Z a {TXID} x\n{blank} \tat f\n2022-02-22T19:22:22.000Z {UUID} y\n")
    );
    let number = printed(txid(&["inspect", "--time", "--layout", "discord"]).write_stdin("1439530262794464807 bot\n"));
    assert_eq!(number, "2025-11-16T08:19:19.829Z 1439530262794464807 bot\n");
}

#[test]
fn a_link_has_the_window_round_an_id() {
    let url = "https://logs.example.com/?from={from_ms}&to={to_ms}&q={id}";
    let link = |args: &[&str]| printed(&mut txid(&[&["inspect", "--url"], args].concat()));
    assert_eq!(link(&[url, TXID]), format!("https://logs.example.com/?from=1522545628537&to=1522545748537&q={TXID}\n"));
    assert_eq!(link(&["x://{from}/{id}", "--within", "1s", TXID]), format!("x://2018-04-01T01:21:27.537Z/{TXID}\n"));
    let json: Value = serde_json::from_str(&link(&["x://{id}", "--json", TXID])).unwrap();
    assert_eq!((&json["id"], &json["url"]), (&TXID.into(), &format!("x://{TXID}").into()));
    assert!(link(&["x://{id}", "--json", TXID]).ends_with(&format!("}}],\"url\":\"x://{TXID}\"}}\n")), "at the end");
    let directory =
        directory(&[("links", format!("# old = x://old\nlogs = {url}\ntempo=x://{{id}}\nlogs = x://b\n").as_bytes())]);
    let named = |name: &str| {
        let mut command = txid(&["inspect", "--url", name, TXID]);
        command.current_dir(&directory).env("TXID_LINKS", "links").env("XDG_CONFIG_HOME", "/none");
        command
    };
    assert_eq!(printed(&mut named("tempo")), format!("x://{TXID}\n"));
    assert!(printed(&mut named("logs")).contains("from=1522545628537"));
    let others = "txid: --url 'jaeger': not a URL, and links has only: logs, tempo, logs\n";
    assert_eq!(refusal(&mut named("jaeger")), others);
    let none = refusal(named("tempo").env_remove("TXID_LINKS"));
    let why = "not a URL, and no link: /none/txid/links: No such file or directory (os error 2)";
    assert_eq!(none, format!("txid: --url 'tempo': {why}\n"));
    std::fs::create_dir(directory.path().join("txid")).unwrap();
    std::fs::rename(directory.path().join("links"), directory.path().join("txid/links")).unwrap();
    let mut config = named("tempo");
    assert_eq!(
        printed(config.env_remove("TXID_LINKS").env("XDG_CONFIG_HOME", directory.path())),
        format!("x://{TXID}\n")
    );
    std::fs::create_dir(directory.path().join(".config")).unwrap();
    std::fs::rename(directory.path().join("txid"), directory.path().join(".config/txid")).unwrap();
    let mut home = named("tempo");
    home.env("TXID_LINKS", "").env("XDG_CONFIG_HOME", "").env("HOME", directory.path());
    assert_eq!(printed(&mut home), format!("x://{TXID}\n"), "an empty variable is as none");
    let none = "txid: --url 'tempo': not a URL, and no file of links; set TXID_LINKS\n";
    assert_eq!(refusal(home.env_remove("HOME")), none);
    let known = "known are {id}, {time}, {from}, {to}, {s}, {from_s}, {to_s}, {ms}, {from_ms}, {to_ms}, {ns}, {from_ns} and \
                 {to_ns}; write {{ or }} for a brace";
    for (url, why) in
        [("x://{ids}", "{ids} is not known"), ("x://{id", "a { stands alone"), ("x://id}", "a } stands alone")]
    {
        assert_eq!(
            refusal(&mut txid(&["inspect", "--url", url, TXID])),
            format!("txid: --url '{url}': {why}; {known}\n")
        );
    }
    let said = refusal(&mut txid(&["inspect", "--url", url, "--within", "1", TXID]));
    assert_eq!(said, "txid: --within '1': not a span of time; write it as 10m, 1h30m or '2 days'\n");
    let random = "919108f7-52d1-4320-9bac-f847db4148a8";
    let why = format!("txid: '{random}': an id of UUID version 4 holds no time for the link\n");
    let output = txid(&["inspect", "--url", "x://{ms}", random, TXID]).assert().code(1).stderr(why);
    output.stdout("x://1522545688537\n");
}

/// As many writes as blocks, not as lines.
#[test]
fn output_is_buffered_where_it_is_no_terminal() {
    let lines: String = (0..2_000).map(|ms| id(ms) + "\n").collect();
    let directory = directory(&[("ids", lines.as_bytes())]);
    let command = "strace -f -c -e trace=write,ioctl -o counts \"$0\" inspect <ids >out";
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", command, crate::program()]).current_dir(&directory);
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        return;
    }
    shell.assert().success();
    let counts = std::fs::read_to_string(directory.path().join("counts")).unwrap();
    let total = counts.lines().last().unwrap().split_whitespace().nth(3).unwrap().parse::<u64>().unwrap();
    let written = directory.path().join("out").metadata().unwrap().len();
    assert!(total <= written / (32 << 10), "{total} calls for {written} bytes:\n{counts}");
}

#[test]
fn completions_and_manuals_come_from_the_command_alone() {
    for (shell, has) in [("bash", "complete -F _txid"), ("zsh", "#compdef txid"), ("fish", "complete -c txid")] {
        let text = printed(&mut txid(&["completions", shell]));
        assert!(text.contains(has) && text.contains("audit"), "{shell}");
    }
    for (args, has) in
        [(&["man"][..], ".TH txid 1"), (&["man", "grep"], ".TH txid-grep 1"), (&["man", "audit"], "steps back")]
    {
        let text = printed(&mut txid(args));
        assert!(text.contains(has) && text.contains(".SH NOTES\n.nf\n"), "{args:?}: {}", &text[..400]);
    }
    let names = "new, inspect, range, grep, sort, audit, key, hide, reveal, completions, man";
    let said = refusal(&mut txid(&["man", "nothing"]));
    assert_eq!(said, format!("txid: 'nothing' is no command; they are {names}\n"));
}
