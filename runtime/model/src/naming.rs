//! Names that follow from other names: plurals, labels, type names, and the forms that a name can have.

/// Maximum length of a name in bytes: the limit of PostgreSQL, which truncates a longer one.
pub const MAX_NAME_LENGTH: usize = 63;

/// True for lower-case letters, digits and single underscores between them, after a first letter.
pub fn is_snake_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !name.ends_with('_')
        && !name.contains("__")
}

/// True if the server reads two type names as the same: it ignores case and the `_` between words.
pub fn same_type(one: &str, other: &str) -> bool {
    let folded = |name: &str| name.replace('_', "").to_lowercase();
    folded(one) == folded(other)
}

/// `productGroup`
pub fn is_camel_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The English plural of a name: `currency` is `currencies`, `box` is `boxes`, `rate` is `rates`.
pub fn plural(name: &str) -> String {
    let vowel_before_y = ["ay", "ey", "iy", "oy", "uy"].iter().any(|end| name.ends_with(end));
    if let Some(stem) = name.strip_suffix('y').filter(|_| !vowel_before_y) {
        return format!("{stem}ies");
    }
    match ["s", "x", "ch", "sh"].iter().any(|end| name.ends_with(end)) {
        true => format!("{name}es"),
        false => format!("{name}s"),
    }
}

/// The probable singular of a plural; none for a name that looks like a singular.
pub fn singular(name: &str) -> Option<String> {
    let singular_end = ["ss", "us", "is", "ws"].iter().any(|end| name.ends_with(end));
    let stem = name.strip_suffix('s').filter(|_| !singular_end)?;
    let candidates =
        [stem.strip_suffix("ie").map(|stem| format!("{stem}y")), stem.strip_suffix('e').map(str::to_owned)];
    let known = candidates.into_iter().flatten().find(|candidate| plural(candidate) == name);
    known.or_else(|| Some(stem.to_owned())).filter(|found| plural(found) == name)
}

/// The label for people: `exchange_rate` is `Exchange rate`.
pub fn label(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut characters = spaced.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// The name of a type: `exchange_rate` is `ExchangeRate`.
pub fn upper_camel(name: &str) -> String {
    name.split('_').map(label).collect()
}

/// The variants of an enum for these values: `in progress` is `InProgress`, and `2 days` is `_2Days`. `None` if a value has
/// no such name, or if two have the same.
pub fn variants<'v>(values: impl IntoIterator<Item = &'v str>) -> Option<Vec<String>> {
    let mut variants = Vec::new();
    for value in values {
        let variant = variant(value).filter(|variant| !variants.contains(variant))?;
        variants.push(variant);
    }
    Some(variants)
}

fn variant(value: &str) -> Option<String> {
    // Letters beyond these may not be part of a name in Rust.
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c.is_alphabetic() && ('À'..='ɏ').contains(&c);
    if value.chars().any(|c| c.is_alphanumeric() && !is_letter(c)) {
        return None;
    }
    let name: String = value.split(|c| !is_letter(c)).map(label).collect();
    match name.chars().next()? {
        first if first.is_ascii_digit() => Some(format!("_{name}")),
        _ if name == "Self" => None,
        _ => Some(name),
    }
}

/// `product_group` is `productGroup`, as clients ask for an include.
pub fn lower_camel(name: &str) -> String {
    let upper = upper_camel(name);
    let end = upper.chars().next().map_or(0, char::len_utf8);
    upper[..end].to_lowercase() + &upper[end..]
}

/// The name of an include as a key of a record: `productGroup` is `product_group`.
pub fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The nearest name in snake_case: `Exchange-Rate` is `exchange_rate`, `skuID` is `sku_id`.
pub fn to_snake_case(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 4);
    let mut before = None::<char>;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        // A word starts after a small letter, and at the last capital before one.
        let ends = before.is_some_and(|before| !before.is_ascii_uppercase());
        let begins = before.is_some() && letters.peek().is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase() && (ends || begins) {
            spaced.push('_');
        }
        spaced.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        before = Some(c);
    }
    spaced.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals() {
        let pairs = [
            ("product", "products"),
            ("currency", "currencies"),
            ("activity", "activities"),
            ("day", "days"),
            ("box", "boxes"),
            ("address", "addresses"),
            ("match", "matches"),
            ("dish", "dishes"),
            ("exchange_rate", "exchange_rates"),
        ];
        for (name, expected) in pairs {
            assert_eq!(plural(name), expected);
        }
    }

    #[test]
    fn plurals_and_singulars_are_distinguished() {
        for (name, expected) in
            [("suppliers", "supplier"), ("currencies", "currency"), ("boxes", "box"), ("rates", "rate")]
        {
            assert_eq!(singular(name).as_deref(), Some(expected));
        }
        for name in ["supplier", "address", "status", "analysis", "news", "product_group"] {
            assert_eq!(singular(name), None, "{name}");
        }
    }

    #[test]
    fn forms_of_a_name() {
        assert_eq!(label("exchange_rate"), "Exchange rate");
        assert_eq!(upper_camel("exchange_rate"), "ExchangeRate");
        assert_eq!(lower_camel("product_group"), "productGroup");
        assert_eq!(snake("customFieldValues"), "custom_field_values");
        assert_eq!(to_snake_case("Exchange-Rate"), "exchange_rate");
        assert_eq!(to_snake_case("isActive"), "is_active");
        assert_eq!([to_snake_case("ID"), to_snake_case("skuID"), to_snake_case("APIKey")], ["id", "sku_id", "api_key"]);
    }

    #[test]
    fn variants_of_values() {
        let variants = |values: &[&str]| variants(values.iter().copied());
        let names = variants(&["open", "in progress", "loss_and_damage", "Time shown as", "2 days", "größer", "USD"]);
        let expected = ["Open", "InProgress", "LossAndDamage", "TimeShownAs", "_2Days", "Größer", "USD"];
        assert_eq!(names.expect("names"), expected);
        for values in [&["+", "-"][..], &["a b", "a_b"], &["self"], &["開く"], &["x²"], &[""]] {
            assert_eq!(variants(values), None, "{values:?}");
        }
    }

    #[test]
    fn snake_case() {
        for name in ["a", "product", "exchange_rate", "line2", "a_1"] {
            assert!(is_snake_case(name), "{name}");
        }
        for name in ["", "_a", "a_", "a__b", "A", "aB", "1a", "a-b", "a b", "ä"] {
            assert!(!is_snake_case(name), "{name}");
        }
    }

    #[test]
    fn camel_case() {
        assert!(is_camel_case("productGroup") && is_camel_case("owner"));
        assert!(!is_camel_case("ProductGroup") && !is_camel_case("product_group") && !is_camel_case(""));
    }
}
