//! Parser for the query string of a list. It keeps all values, valid or not, and needs no metadata.

use charter_model::Predicate;

use super::request::{Group, Pair, Quantifier, Request, Term, Values, decode, split_names};
use crate::error::{Error, Result};

/// The list parameter that names a field whose choices are wanted: `choices_of=order.product_id`.
pub const CHOICES_OF: &str = "choices_of";

/// Reads `q[...]`, `sort`, `page`, `per_page`, `cursor`, `count`, `include`, `fields`, `search`, `view_id`, `filters`,
/// `choices_of`, `explain`, `csv` and `deleted`. Other parameters are ignored. If a single-valued parameter is repeated, the last value
/// applies.
///
/// `q[s]=name desc, id asc` and `q[s][]=name desc` also set the order. `sort` takes precedence.
///
/// # Errors
/// [`Error::Malformed`] if the string cannot be decoded, `q` is not followed by one name in brackets, or `filters` is
/// followed by brackets. 422 if a count exceeds its limit ([`Request::check_size`]).
pub fn parse(query: &str) -> Result<Request> {
    let mut request = Request::default();
    let mut q_sort: Option<Vec<String>> = None;
    for Pair { name, value } in decode(query)? {
        match name.as_str() {
            // A blank value counts as absent. `fields=,` selects no field.
            "sort" | "fields" | "fields[]" if value.trim().is_empty() => {}
            "search" => request.search = Some(value).filter(|text| !text.trim().is_empty()),
            "sort" => request.sort = Some(vec![value]),
            "q[s]" | "q[s][]" if value.trim().is_empty() => {}
            "q[s]" => q_sort = Some(value.split(',').map(sort_key).collect()),
            "q[s][]" => q_sort.get_or_insert_default().push(sort_key(&value)),
            "page" => request.page = Some(value),
            "per_page" => request.per_page = Some(value),
            "cursor" => request.cursor = Some(value),
            "count" => request.count = Some(value),
            "explain" => request.explain = Some(value),
            "csv" if value.trim().is_empty() => {}
            "csv" => request.csv = Some(value),
            "deleted" => request.deleted = Some(value),
            CHOICES_OF => request.choices_of = Some(value),
            "view_id" => request.view_id = Some(value),
            "filters" => request.filters = Some(value),
            "include" | "include[]" => request.include.extend(split_names(&value)),
            "fields" | "fields[]" => request.fields.get_or_insert_default().extend(split_names(&value)),
            _ if name.starts_with("q[") => add(&mut request, &name, value)?,
            // Ignoring it would return every record where the client wants few.
            "q" => return Err(Error::Malformed("`q` is not of the form `q[<field>_<predicate>]`.".into())),
            _ if name.starts_with("filters[") => {
                return Err(Error::Malformed(format!(
                    "`{name}` is not a parameter: `filters` takes all conditions as JSON."
                )));
            }
            _ => {}
        }
    }
    request.sort = request.sort.or(q_sort);
    request.check_size()?;
    Ok(request)
}

/// `name desc` becomes `-name`, `name` and `name asc` become `name`. Any other text is kept; it names no field and is
/// ignored later.
fn sort_key(written: &str) -> String {
    let mut words = written.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(name), None, _) => name.to_string(),
        (Some(name), Some(word), None) if word.eq_ignore_ascii_case("asc") => name.to_string(),
        (Some(name), Some(word), None) if word.eq_ignore_ascii_case("desc") => format!("-{name}"),
        _ => written.to_string(),
    }
}

/// Adds a condition, or one of a group: `q[lines.some][quantity_gt]`.
fn add(request: &mut Request, name: &str, value: String) -> Result<()> {
    let malformed = || Error::Malformed(format!("`{name}` is not of the form `q[<field>_<predicate>]`."));
    let (key, rest) = name[2..].split_once(']').ok_or_else(malformed)?;
    let quantified = key.rsplit_once('.').and_then(|(of, word)| Some((of, Quantifier::from_word(word)?)));
    let (Some((relation, quantifier)), Some(inner)) = (quantified, rest.strip_prefix('[')) else {
        return add_term(&mut request.terms, "q", (key, rest), value).ok_or_else(malformed);
    };
    let parameter = format!("q[{key}]");
    let position = request.groups.iter().position(|group| group.parameter == parameter).unwrap_or_else(|| {
        let relation = relation.to_owned();
        request.groups.push(Group { parameter: parameter.clone(), relation, quantifier, terms: Vec::new() });
        request.groups.len() - 1
    });
    let inner = inner.split_once(']').filter(|(key, _)| !key.is_empty()).ok_or_else(malformed)?;
    add_term(&mut request.groups[position].terms, &parameter, inner, value).ok_or_else(malformed)
}

/// Adds the parameter `<prefix>[<key>]`; `None` if something else than `[]` follows it.
fn add_term(terms: &mut Vec<Term>, prefix: &str, (key, rest): (&str, &str), value: String) -> Option<()> {
    let repeated = match rest {
        "" => false,
        "[]" => true,
        _ => return None,
    };
    let parameter = format!("{prefix}[{key}]");
    if repeated {
        let same = |term: &&mut Term| term.parameter == parameter && matches!(term.values, Values::Repeated(_));
        if let Some(Term { values: Values::Repeated(values), .. }) = terms.iter_mut().find(same) {
            values.push(value);
            return Some(());
        }
    }
    let (name, predicate) = match Predicate::split(key) {
        Some((name, predicate)) => (name, Some(predicate)),
        None => (key, None),
    };
    let name = name.to_string();
    let values = if repeated { Values::Repeated(vec![value]) } else { Values::One(value) };
    terms.push(Term { parameter, name, predicate, key: Some(key.to_string()), values });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_string_is_split_into_its_parameters() {
        let request =
            parse("q[name_cont]=a%20b&q%5Bid_in%5D%5B%5D=1&q[id_in][]=2&sort=-name&include=a,b&include[]=c&x=y")
                .unwrap();
        assert_eq!(request.terms.len(), 2);
        assert_eq!(request.terms[0].name, "name");
        assert_eq!(request.terms[0].predicate, Some(Predicate::Cont));
        assert_eq!(request.terms[0].values, Values::One("a b".into()));
        assert_eq!(request.terms[1].values, Values::Repeated(vec!["1".into(), "2".into()]));
        assert_eq!(request.sort, Some(vec!["-name".into()]));
        assert_eq!(request.include, ["a", "b", "c"]);
    }

    #[test]
    fn conditions_of_a_relation_are_grouped_by_relation_and_word() {
        let query =
            "q[lines.some][quantity_gt]=2&q[lines.none][id_in][]=1&q[lines.some][price_lt]=5&q[lines.none][id_in][]=2";
        let request = parse(query).unwrap();
        assert_eq!(request.terms, []);
        let [some, none] = request.groups.as_slice() else { panic!("{request:?}") };
        assert_eq!((some.relation.as_str(), some.quantifier, some.terms.len()), ("lines", Quantifier::Some, 2));
        assert_eq!(
            (some.terms[1].parameter.as_str(), some.terms[1].name.as_str()),
            ("q[lines.some][price_lt]", "price")
        );
        assert_eq!((none.quantifier, none.terms.len()), (Quantifier::None, 1));
        assert_eq!(none.terms[0].values, Values::Repeated(vec!["1".into(), "2".into()]));
    }

    #[test]
    fn order_is_read_from_both_parameters_and_sort_takes_precedence() {
        let sort = |query: &str| parse(query).unwrap().sort.unwrap_or_default();
        assert_eq!(sort("q[s]=name+desc"), ["-name"]);
        assert_eq!(sort("q[s]=name,%20sku%20ASC,%20id%20Desc"), ["name", "sku", "-id"]);
        assert_eq!(sort("q[s][]=name%20desc&q%5Bs%5D%5B%5D=id"), ["-name", "id"]);
        assert_eq!(sort("q[s]=name%20downwards"), ["name downwards"]);
        assert_eq!(sort("sort=id&q[s]=name"), ["id"]);
        assert_eq!(sort("q[s]=name&sort=id"), ["id"]);
        assert_eq!(sort("sort=&q[s]=name"), ["name"]);
        assert_eq!(parse("sort=&q[s]=%20&q[s][]=").unwrap().sort, None);
        assert_eq!(sort("page=1"), [""; 0]);
    }

    #[test]
    fn undecodable_query_string_is_malformed() {
        for query in
            ["q[name_eq]=%", "q[name_eq]=%zz", "q[name_eq]=%ff", "q[name_eq=1", "q[name_eq]x=1", "q[a_eq][b]=1"]
                .into_iter()
                .chain(["q[a.some][]=1", "q[a.some][b_eq][c]=1", "q[a.some][b_eq=1", "q[a.any][b_eq]=1"])
                .chain(["q=1", "q", "filters[]=x", "filters[0][field]=name"])
        {
            assert!(matches!(parse(query), Err(Error::Malformed(_))), "{query}");
        }
    }
}
