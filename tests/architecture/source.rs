//! What other tests ask about a Rust file: the functions that it declares and the names that it calls.

/// A call of a method or function.
pub(crate) struct Call {
    pub(crate) name: String,
}

pub(crate) struct Source {
    pub(crate) calls: Vec<Call>,
    /// The functions under an attribute such as `#[test]`: line and name.
    pub(crate) tests: Vec<(usize, String)>,
}

/// The Rust files below `folder` whose names end with `ending`.
pub(crate) fn whole(folder: &str, ending: &str) -> Vec<(String, Source)> {
    let files = crate::files(folder, ending).into_iter();
    files.map(|(file, text)| (file, Source { calls: calls(&text), tests: tests(&text) })).collect()
}

fn calls(text: &str) -> Vec<Call> {
    let parts = text
        .split('(')
        .filter_map(|part| part.rsplit(|c: char| !(c == '_' || c.is_alphanumeric())).next());
    parts.map(|name| Call { name: name.to_owned() }).collect()
}

fn tests(text: &str) -> Vec<(usize, String)> {
    let mut is_test = false;
    let mut tests = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim_start)) {
        match line.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')) {
            _ if line.starts_with("#[") => is_test |= line.contains("test"),
            Some((name, _)) if std::mem::take(&mut is_test) => {
                tests.push((number, name.to_owned()))
            }
            _ => {}
        }
    }
    tests
}
