//! Parser of paths in Rust code: `use` declarations, which it splits into single paths, and paths in expressions.

use std::collections::BTreeSet;

/// Every path of two segments or more, with `self` and `super` resolved from the module of the code.
pub fn names(code: &str, module: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let begins = rest[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || before == '(');
        let (declaration, after) = rest[at + 4..].split_once(';').unwrap_or((&rest[at + 4..], ""));
        if begins {
            let plain: String = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
            expand("", &plain, &mut |path| {
                found.insert(resolve(path, module));
            });
        }
        rest = if begins { after } else { &rest[at + 4..] };
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in code.split(|c: char| !is_path(c)).filter(|word| word.contains("::")) {
        found.insert(resolve(word.trim_matches(':'), module));
    }
    found
}

/// `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn expand(prefix: &str, tree: &str, found: &mut dyn FnMut(&str)) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or(tree).trim();
        let path = format!("{prefix}{name}");
        return found(path.trim_end_matches("::self").trim_end_matches("::*"));
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let prefix = format!("{prefix}{}", head.trim());
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&prefix, &inner[begin..at], found);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !inner[begin..].trim().is_empty() {
        expand(&prefix, &inner[begin..], found);
    }
}

fn resolve(path: &str, module: &[&str]) -> String {
    let mut segments: Vec<&str> = path.split("::").collect();
    let mut base = module.to_vec();
    match segments[0] {
        "self" => drop(segments.remove(0)),
        "super" => {
            while segments.first() == Some(&"super") {
                segments.remove(0);
                base.pop();
            }
        }
        _ => return path.to_string(),
    }
    ["crate"].into_iter().chain(base).chain(segments).collect::<Vec<_>>().join("::")
}

#[test]
fn paths_are_taken_apart_and_resolved() {
    let code = "use a::{b, c::{d, self}};\npub use super::x::Y;\nfn f() { crate::z::g(self::h::<T>()) }";
    let found: Vec<String> = names(code, &["query", "plan"]).into_iter().collect();
    for path in ["a::b", "a::c", "a::c::d", "crate::query::x::Y", "crate::z::g", "crate::query::plan::h"] {
        assert!(found.iter().any(|name| name == path), "{path} is not in {found:?}");
    }
}
