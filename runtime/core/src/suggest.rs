//! Suggestions of the nearest known name for error messages.

/// The known name that is nearest to the written one. `None` if none is near.
pub fn suggest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // The comparison costs the product of both lengths, and known names are shorter.
    if written.len() > 64 {
        return None;
    }
    let lower = written.to_lowercase();
    let distance = |name: &str| match name.strip_suffix("_id") {
        // Relations and includes name a reference without its `_id`.
        Some(name) if name == lower => 1,
        _ => strsim::damerau_levenshtein(&lower, &name.to_lowercase()),
    };
    let near: Vec<(usize, &str)> = known.into_iter().map(|name| (distance(name), name)).collect();
    // Among equally near names, one that starts with the written text is preferred: `gteq` for `gte`, not `gt`.
    let (distance, name) = near.iter().min_by_key(|(distance, name)| (*distance, !name.starts_with(&lower), *name))?;
    // A longer text can be a written-out name, such as `contains`.
    let prefixes = || near.iter().map(|(_, name)| *name).filter(|name| name.len() > 2 && lower.starts_with(name));
    if *distance <= written.chars().count().max(3) / 3 + 1 {
        Some(name)
    } else {
        prefixes().max_by_key(|name| name.len())
    }
}

/// `; did you mean \`name\`?`, or the empty text.
pub fn hint<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    suggest(written, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn nearest_name_is_suggested_case_insensitively_and_ties_prefer_a_prefix() {
        assert_eq!(suggest("nmae", ["id", "name"]), Some("name"));
        assert_eq!(suggest("S", ["t", "d", "s"]), Some("s"));
        assert_eq!(suggest("q", ["t", "d", "b"]), Some("b"));
        assert_eq!(suggest("gte", ["gt", "gteq"]), Some("gteq"));
        assert_eq!(suggest("contains", ["eq", "cont", "not_cont"]), Some("cont"));
        assert_eq!(suggest("not_contains", ["eq", "cont", "not_cont"]), Some("not_cont"));
        assert_eq!(suggest("product_group", ["product_group_name", "product_group_id"]), Some("product_group_id"));
        assert_eq!(suggest("something", ["eq", "cont", "some_other_thing"]), None);
    }
}
