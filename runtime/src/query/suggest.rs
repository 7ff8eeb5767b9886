//! The nearest known name, for the hint of an error.

/// The known name that was most likely meant, if any is near.
pub fn suggest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // The comparison costs the product of both lengths, and no name of ours is longer.
    if written.len() > 64 {
        return None;
    }
    let near = known.into_iter().map(|name| (strsim::damerau_levenshtein(written, name), name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= written.chars().count().max(3) / 3 + 1).then_some(name)
}

/// `; did you mean \`name\`?`, or nothing.
pub fn hint<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    suggest(written, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
