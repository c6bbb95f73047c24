//! The files of tests/vectors/.

use serde_json::Value;

/// The cases of a section of `tests/vectors/FILE.json`.
pub fn cases(file: &str, section: &str) -> Vec<Value> {
    let path = format!("{}/../vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut sections: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(cases) = sections[section].take() else { panic!("{path} has no {section}") };
    assert!(!cases.is_empty());
    cases
}

/// Calls `differs` with each case of a section, and fails with everything that it says.
pub fn each(file: &str, section: &str, differs: impl Fn(&Value) -> Option<String>) {
    let wrong = |case: Value| Some(format!("{case}\n    {}\n", differs(&case)?));
    let wrong: String = cases(file, section).into_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{wrong}");
}

/// The bytes of a text, in which a character is a byte.
pub fn bytes(text: &Value) -> Vec<u8> {
    let characters = text.as_str().unwrap().chars();
    characters.map(|character| u8::try_from(character).expect("a character above U+00FF")).collect()
}
