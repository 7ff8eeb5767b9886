//! Tests of the query parameters of a list page.

use charter_core::meta::Kind;

use super::*;

fn columns() -> Vec<Column> {
    let column = |name: &str, kind: Kind| Column {
        name: name.into(),
        label: name.into(),
        kind,
        field: None,
        custom_field: None,
        predicates: kind.predicates().collect(),
        sortable: true,
        script_json: String::new(),
    };
    let at = Kind::Timestamp { form: charter_core::meta::TimestampForm::Seconds };
    vec![column("name", Kind::Text), column("is_not", Kind::Boolean), column("made_at", at)]
}

fn parse(query: &str) -> ListParams {
    ListParams::parse(charter_core::query::decode(query).unwrap(), &columns(), chrono_tz::Tz::UTC).unwrap()
}

#[test]
fn parsing_and_building_a_query_string_is_lossless() {
    for query in [
        "q[name_cont]=a%20b&sort=-name",
        "q[is_not_eq]=true&view_id=3&columns=name,made_at&per_page=50",
        "q[name_in]=a,b",
        "q[other_cont]=x",
    ] {
        let params = parse(query);
        assert!(!params.needs_redirect, "{query}");
        assert_eq!(url::with_query("", &params.pairs()), format!("?{query}"));
    }
    assert_eq!(parse("q[name_in][]=a&q[name_in][]=b").rows[0].value, "a,b");
}

#[test]
fn the_filter_form_is_parsed_into_conditions() {
    let params = parse(
        "apply=1&f0.logic=and&f0.field=name&f0.predicate=cont&f0.value=x&f1.logic=or&f1.field=made_at&f1.predicate=gt\
         &f1.value=2026-03-21T10:00&f2.field=name&f2.predicate=eq&f2.value=&f3.field=name&f3.predicate=present&f3.value=",
    );
    assert!(params.needs_redirect);
    let rows: Vec<_> =
        params.rows.iter().map(|row| (row.logic.as_str(), row.parameter_key(), row.value.as_str())).collect();
    let expected = [
        ("and", "name_cont".into(), "x"),
        ("or", "made_at_gt".into(), "2026-03-21T10:00:00Z"),
        ("and", "name_present".into(), ""),
    ];
    assert_eq!(rows, expected);
    assert_eq!(params.filter_pairs().len(), 1, "`or` needs the parameter `filters`");
    let again = ListParams::parse(params.pairs(), &columns(), chrono_tz::Tz::UTC).unwrap();
    assert_eq!(again.filters_json(), params.filters_json());
}

#[test]
fn an_arrow_button_moves_a_column() {
    let params = parse("columns=name&columns=made_at&_up=made_at");
    assert!(params.needs_redirect);
    assert_eq!(params.pressed_arrow.as_deref(), Some("up-made_at"));
    assert_eq!(url::with_query("", &params.pairs()), "?columns=made_at,name");
}

#[test]
fn conditions_without_inputs_are_passed_through_unchanged() {
    for query in [
        "filters=[{",
        "filters={}",
        "filters=[{\"field\":\"name\",\"predicate\":\"in\",\"value\":[\"a,b\"]}]",
        "filters=[{\"field\":\"other.name\",\"predicate\":\"eq\",\"value\":\"a\"}]",
        "filters=[{\"field\":\"name\",\"predicate\":\"eq\",\"value\":[\"a\"]}]",
        "filters=[{\"field\":\"name\",\"predicate\":\"in\",\"value\":[\" a\"]}]",
        "filters=[{\"field\":\"name\",\"predicate\":\"eq\",\"value\":\"a\"},{\"field\":\"name_or_other\",\"predicate\":\"eq\",\"value\":\"a\"}]",
        "q[name_in][]=a,b",
    ] {
        let params = parse(query);
        assert!(params.rows.is_empty() && params.raw_conditions().count() == 1, "{query}");
        assert!(params.without_raw_condition(&params.passthrough[0]).pairs().is_empty(), "{query}");
    }
    let or = r#"[{"field":"name","predicate":"cont","value":"a","logic":"and"},{"field":"name","predicate":"cont","value":"b","logic":"or"}]"#;
    let params = parse(&format!("q[is_not_true]=1&filters={or}"));
    let fields: Vec<&str> = params.rows.iter().map(|row| row.field.as_str()).collect();
    assert_eq!(fields, ["name", "name", "is_not"], "conditions of `q` follow those of `filters`");
    assert_eq!(params.rows[2].logic, "and");
}

#[test]
fn conditions_stay_in_the_parameter_that_they_came_from() {
    let plain = r#"[{"field":"name","predicate":"cont","value":"a","logic":"AND"},{"field":"is_not","predicate":"true","value":"F"}]"#;
    let params = parse(&format!("filters={plain}&q[name_cont]=b&view_id=3"));
    assert_eq!((params.rows.len(), params.filters_param_rows()), (3, 2));
    let names = |params: &ListParams| params.pairs().into_iter().map(|pair| pair.name).collect::<Vec<_>>();
    assert_eq!(names(&params), ["filters", "q[name_cont]", "view_id"]);
    assert_eq!(names(&params.without_filter(0)), ["filters", "q[name_cont]", "view_id"]);
    assert_eq!(names(&params.without_filter(0).without_filter(0)), ["q[name_cont]", "view_id"]);
    // The filter form preserves it.
    let form = "f0.field=name&f0.predicate=cont&f0.value=a&f1.field=name&f1.predicate=cont&f1.value=b";
    assert_eq!(names(&parse(&format!("{form}&listed=1"))), ["filters", "q[name_cont]"]);
    assert_eq!(names(&parse(&format!("{form}&listed=1&f1.logic=or"))), ["filters"]);
    assert_eq!(names(&parse("f0.field=name&f0.predicate=cont&f0.value=a")), ["q[name_cont]"]);
}

#[test]
fn logic_words_are_case_insensitive() {
    let written = r#"[{"field":"name","predicate":"cont","value":"a","logic":"NAND"},{"field":"name","predicate":"in","value":[1,true],"logic":"Or"}]"#;
    let params = parse(&format!("filters={written}"));
    let rows: Vec<_> = params.rows.iter().map(|row| (row.logic.as_str(), row.value.as_str())).collect();
    assert_eq!(rows, [("nand", "a"), ("or", "1,true")]);
    // The first condition keeps only its negation.
    assert_eq!(params.without_filter(0).rows[0].logic, "and");
    assert_eq!(parse("f1.logic=nor&f1.field=name&f1.predicate=cont&f1.value=a").rows[0].logic, "nand");
}

#[test]
fn two_conditions_with_the_same_field_and_predicate_are_both_kept() {
    let params = parse("f0.field=name&f0.predicate=cont&f0.value=x&f1.field=name&f1.predicate=cont&f1.value=y");
    assert_eq!(params.filter_pairs()[0].name, "filters");
}
