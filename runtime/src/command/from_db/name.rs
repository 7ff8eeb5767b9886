//! Name of a resource by that of its table: the English singular of its last word.

use charter_core::catalog::Entry;
use charter_model::naming::{MAX_NAME_LENGTH, is_snake_case, plural};
use charter_model::reserved::{LIST_META, TOP_PATHS, is_keyword, is_never_a_name};

/// Names of the generated modules and of an event of the platform, which no resource may have.
const TAKEN: [&str; 4] = ["charter_runtime", "event", "migrations", "resources"];

/// Plurals whose singular follows no rule, and words that are their own plural.
const IRREGULAR: &[(&str, &str)] = &[
    ("aches", "ache"),
    ("analyses", "analysis"),
    ("appendices", "appendix"),
    ("atlases", "atlas"),
    ("axes", "axis"),
    ("birdies", "birdie"),
    ("brownies", "brownie"),
    ("caches", "cache"),
    ("calories", "calorie"),
    ("calves", "calf"),
    ("canoes", "canoe"),
    ("canvases", "canvas"),
    ("causes", "cause"),
    ("children", "child"),
    ("clauses", "clause"),
    ("cookies", "cookie"),
    ("crises", "crisis"),
    ("criteria", "criterion"),
    ("diagnoses", "diagnosis"),
    ("excuses", "excuse"),
    ("feet", "foot"),
    ("fuses", "fuse"),
    ("gases", "gas"),
    ("geese", "goose"),
    ("goalies", "goalie"),
    ("halves", "half"),
    ("hoodies", "hoodie"),
    ("hypotheses", "hypothesis"),
    ("indices", "index"),
    ("knives", "knife"),
    ("leaves", "leaf"),
    ("lenses", "lens"),
    ("lives", "life"),
    ("loaves", "loaf"),
    ("matrices", "matrix"),
    ("men", "man"),
    ("mice", "mouse"),
    ("movies", "movie"),
    ("news", "news"),
    ("niches", "niche"),
    ("pauses", "pause"),
    ("people", "person"),
    ("phenomena", "phenomenon"),
    ("pies", "pie"),
    ("quizzes", "quiz"),
    ("rookies", "rookie"),
    ("selfies", "selfie"),
    ("series", "series"),
    ("shelves", "shelf"),
    ("shoes", "shoe"),
    ("smoothies", "smoothie"),
    ("species", "species"),
    ("teeth", "tooth"),
    ("theses", "thesis"),
    ("thieves", "thief"),
    ("ties", "tie"),
    ("toes", "toe"),
    ("uses", "use"),
    ("vertices", "vertex"),
    ("wives", "wife"),
    ("women", "woman"),
    ("zombies", "zombie"),
];

/// True if a name is valid in the grammar: snake_case, and an identifier of Rust.
pub(super) fn is_name(name: &str) -> bool {
    is_snake_case(name) && name.len() <= MAX_NAME_LENGTH && !is_never_a_name(name)
}

/// True if a resource may have this name, next to the resources that exist.
pub(super) fn is_free(name: &str, entries: &[Entry]) -> bool {
    let plural = plural(name);
    is_name(name)
        && plural.len() <= MAX_NAME_LENGTH
        && !is_keyword(name)
        && !TAKEN.contains(&name)
        && plural != LIST_META
        && !TOP_PATHS.contains(&plural.as_str())
        && entries
            .iter()
            .all(|entry| entry.meta.name != name && ![entry.meta.plural, entry.meta.path].contains(&plural.as_str()))
}

/// The name of the resource of a table, and the better name if that one is reserved.
pub(super) fn of_table(table: &str, entries: &[Entry]) -> (String, Option<String>) {
    let name = singular(table);
    if is_free(&name, entries) {
        return (name, None);
    }
    (format!("{name}_record"), Some(name))
}

/// The singular of a name whose last word is an English plural: `order_statuses` is `order_status`.
pub(super) fn singular(name: &str) -> String {
    match name.rsplit_once('_') {
        Some((before, word)) => format!("{before}_{}", singular_word(word)),
        None => singular_word(name),
    }
}

fn singular_word(word: &str) -> String {
    if let Some((_, singular)) = IRREGULAR.iter().find(|(plural, _)| *plural == word) {
        return (*singular).to_owned();
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    // A singular that ends in `s`: `status`, `analysis`, `address`.
    if ends(&["ss", "us", "is"]) {
        return word.to_owned();
    }
    // `houses` and `spouses`, but `statuses`; `aliases`, but `cases`.
    let is_of_s = ends(&["uses", "iases"]) && !ends(&["ouses"]);
    let stem = match is_of_s || ends(&["sses", "xes", "ches", "shes", "zzes", "oes"]) {
        true => word.strip_suffix("es"),
        false => word.strip_suffix('s'),
    };
    stem.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plural_of_a_table_becomes_singular() {
        let pairs = [
            ("currencies", "currency"),
            ("boxes", "box"),
            ("addresses", "address"),
            ("exchange_rates", "exchange_rate"),
            ("houses", "house"),
            ("glass", "glass"),
            ("stock", "stock"),
            ("movies", "movie"),
            ("order_statuses", "order_status"),
            ("status", "status"),
            ("news", "news"),
            ("people", "person"),
            ("heroes", "hero"),
            ("leaves", "leaf"),
            ("valves", "valve"),
            ("licenses", "license"),
            ("databases", "database"),
            ("aliases", "alias"),
            ("warehouses", "warehouse"),
            ("analyses", "analysis"),
            ("tax_indices", "tax_index"),
            ("matches", "match"),
            ("buses", "bus"),
            ("prizes", "prize"),
        ];
        for (plural, expected) in pairs {
            assert_eq!(singular(plural), expected);
        }
    }

    #[test]
    fn reserved_name_gets_another() {
        assert_eq!(of_table("boxes", &[]), ("box_record".into(), Some("box".into())));
        assert_eq!(of_table("files", &[]), ("file_record".into(), Some("file".into())));
        assert_eq!(of_table("movies", &[]), ("movie".into(), None));
    }
}
