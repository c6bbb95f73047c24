//! What is written from the table of options, `PolicyOption::ALL`.

use super::{assert_checked_in, in_tree};
use std::fs;
use txid::request::{Kind, Policy, PolicyOption, RESERVED_BEGINNINGS, RESERVED_HEADERS, Takes};

/// Compares what is between `begin` and `end` in the file, with the lines of both.
fn assert_part(path: &str, begin: &str, end: &str, fresh: &str) {
    let text = fs::read_to_string(in_tree(path)).unwrap();
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{path} has no {begin:?}"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{path} has no {end:?} after {begin:?}"));
    assert_checked_in(path, &format!("{before}{begin}{fresh}{end}{after}"));
}

/// The default as a value of Lua.
fn default_in_lua(option: &PolicyOption) -> String {
    match option.takes {
        Takes::Switch => (option.default == "on").to_string(),
        Takes::Words | Takes::OneOf(_) | Takes::Ratio => format!("{:?}", option.default),
        _ if option.default == "off" => "false".to_string(),
        _ => format!("{:?}", option.default),
    }
}

fn kind_in_lua(takes: Takes) -> &'static str {
    match takes {
        Takes::Switch => "switch",
        Takes::OneOf(_) | Takes::Ratio => "word",
        Takes::Text => "text",
        Takes::NameOrOff => "name_or_off",
        Takes::Networks => "networks",
        _ => "words",
    }
}

/// The words in lines of at most 110 characters, in brackets of Lua.
fn long_text(words: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        if lines.last().is_some_and(|line| line.len() + word.len() > 110) {
            lines.push(String::new());
        }
        let line = lines.last_mut().unwrap();
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    format!("[[\n        {}\n    ]]", lines.join("\n        "))
}

#[test]
fn luas_list_is_fresh() {
    let mut list = "-- The options of a policy, and the headers that cannot carry an id. Written by `make headers` from src/request/: do not\n\
        -- edit.\n\nreturn {\n    options = {\n"
        .to_string();
    for option in PolicyOption::ALL {
        list += &format!("        {{\n            name = {:?},\n", option.name);
        list += &format!("            takes = {:?},\n", kind_in_lua(option.takes));
        list += &format!("            expected = '{}',\n", option.in_lua);
        list += &format!("            default = {},\n", default_in_lua(option));
        for (flag, is_set) in [("is_of_lua", option.is_of_lua), ("is_of_policy", option.is_of_policy())] {
            list += &if is_set { format!("            {flag} = true,\n") } else { String::new() };
        }
        list += "        },\n";
    }
    list += &format!("    }},\n    most_headers = {},\n", Policy::MOST_HEADERS);
    list += &format!("    reserved = {},\n", long_text(RESERVED_HEADERS));
    list += &format!("    reserved_beginnings = {},\n}}\n", long_text(RESERVED_BEGINNINGS));
    assert_checked_in("lua/resty/txid/request/table.lua", &list);
}

#[test]
fn each_kind_of_trace_is_named_to_lua() {
    let trace = PolicyOption::ALL.iter().find(|option| option.name == "trace").unwrap();
    let kinds = Kind::ALL.map(|(name, _)| format!("{name:?}")).join(", ");
    assert_eq!(trace.in_lua, format!("\"off\", {kinds} or a list of these"));
}

#[test]
fn each_default_is_what_a_policy_does() {
    for option in PolicyOption::ALL.iter().filter(|option| option.is_of_policy()) {
        let mut policy = Policy::default();
        policy.set(option.name, &[option.default]).unwrap();
        let both = [&policy, &Policy::default()].map(|policy| {
            let trace = policy.new_span(0).traceparent().to_string();
            (
                policy.header().to_string(),
                policy.trusts_nobody(),
                policy.rejects(),
                policy.kinds().to_vec(),
                policy.trace_id_header().map(str::to_string),
                trace[52..].to_string(),
                policy.sample(),
            )
        });
        assert_eq!(both[0], both[1], "{}", option.name);
    }
}

#[test]
fn nginxs_directives_are_fresh() {
    let mut rows = "/*\n * The directives that set options of the policy. Written by `make headers` from\n \
        * src/request/options.rs: do not edit.\n */\n"
        .to_string();
    // A share may be a variable, and another one in each location.
    let is_generic =
        |option: &&PolicyOption| option.is_directive && option.is_of_policy() && option.takes != Takes::Ratio;
    for option in PolicyOption::ALL.iter().filter(is_generic) {
        let arguments = match option.takes {
            Takes::Switch | Takes::OneOf(_) | Takes::Text | Takes::NameOrOff => "TAKE1",
            _ => "1MORE",
        };
        rows += &format!("    ngx_http_txid_policy_option(\"txid_{}\", NGX_CONF_{arguments}),\n", option.name);
    }
    assert_checked_in("nginx/ngx_http_txid_options.h", &rows);
}

#[test]
fn kongs_schema_is_fresh() {
    let mut fields = String::new();
    for option in PolicyOption::ALL {
        let default = format!(", default = {}", default_in_lua(option));
        let field = match option.takes {
            Takes::NameOrOff => "typedefs.header_name".to_string(),
            Takes::Switch => format!("{{ type = \"boolean\"{default} }}"),
            Takes::OneOf(words) => {
                format!("{{ type = \"string\", one_of = {{ \"{}\" }}{default} }}", words.join("\", \""))
            }
            Takes::Text if option.default == "off" => "{ type = \"string\" }".to_string(),
            Takes::Text | Takes::Ratio => format!("{{ type = \"string\"{default} }}"),
            takes => {
                let elements = if takes == Takes::Names { "a_header" } else { "text" };
                let default = if option.default == "off" { String::new() } else { format!(" {:?} ", option.default) };
                format!("{{ type = \"array\", elements = {elements}, default = {{{default}}} }}")
            }
        };
        fields += &format!("                {{ {} = {field} }},\n", option.name);
    }
    assert_part(
        "packaging/kong/kong/plugins/txid/schema.lua",
        "                -- Written by `make headers`, down to the end of the list.\n",
        "            },\n        } },\n",
        &fields,
    );
}

/// Where nginx's directive may be.
fn context(option: &PolicyOption) -> &'static str {
    if option.takes == Takes::Ratio { "http, server, location" } else { "http, server" }
}

/// For a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', r"\|")
}

#[test]
fn the_pages_entries_are_fresh() {
    for option in PolicyOption::ALL {
        let PolicyOption { name, syntax, in_lua, default, sentence, since, .. } = option;
        let mut entry = "| | |\n|---|---|\n".to_string();
        if option.is_directive {
            entry += &format!("| Syntax | `txid_{name} {};` |\n", cell(syntax));
        }
        entry += &format!("| In Lua | {} |\n", cell(in_lua));
        entry += &match option.is_directive {
            true => {
                format!("| Default | `txid_{name} {default};` |\n| Context | {}; `configure` |\n", context(option))
            }
            false => format!("| Default | `{name} = {}` |\n| Context | `configure` |\n", default_in_lua(option)),
        };
        entry += &format!("| Since | {since} |\n\n{sentence}\n");
        assert_part("docs/request.md", &format!("\n### {name}\n\n"), "<!-- more -->\n", &entry);
    }
}

#[test]
fn the_table_of_directives_is_fresh() {
    let mut rows = String::new();
    for option in PolicyOption::ALL.iter().filter(|option| option.is_directive) {
        let PolicyOption { name, syntax, default, .. } = option;
        rows +=
            &format!("| [`txid_{name} {}`](request.md#{name}) | {} | `{default}` |\n", cell(syntax), context(option));
    }
    assert_part("docs/nginx-module.md", "| | context | default |\n|---|---|---|\n", "| `txid_response_header", &rows);
}
