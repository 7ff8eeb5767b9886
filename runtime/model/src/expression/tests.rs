//! Texts of expressions, with their trees or their mistakes.

use super::*;

struct Ticket;

impl Scope for Ticket {
    fn field(&self, name: &str) -> Option<Type> {
        Some(match name {
            "quantity" => Type::Number(Digits::whole(1 << 31)),
            "price" => Type::Number(Digits { places: 2, largest: 10_i128.pow(9) }),
            "agent_id" => Type::Number(Digits::ID),
            "title" => Type::Text,
            "status" => Type::Word(["open", "solved", "closed"].map(str::to_owned).into()),
            "urgent" => Type::Boolean,
            "starts_at" | "ends_at" => Type::Timestamp,
            "due_on" => Type::Date,
            "tags" => Type::Opaque,
            _ => return None,
        })
    }

    fn reference(&self, name: &str) -> Option<(Via, Box<dyn Scope + '_>)> {
        let via = Via { field: "agent_id".to_owned(), resource: "agent".to_owned() };
        (name == "agent").then(|| (via, Box::new(Ticket) as Box<dyn Scope>))
    }

    fn has_references(&self) -> bool {
        true
    }

    fn has_request(&self) -> bool {
        true
    }

    fn names(&self) -> Vec<String> {
        ["quantity", "price", "status", "starts_at"].map(str::to_owned).into()
    }
}

fn mistake(text: &str) -> Mistake {
    check(text, &Ticket).expect_err(text)
}

#[test]
fn operators_bind_from_arithmetic_over_comparison_to_logic() {
    let as_written = [
        (
            "quantity + 2 * price > 3 and not urgent or title = 'x'",
            "((quantity + (2 * price)) > 3 and not urgent) or (title = 'x')",
        ),
        ("not urgent and urgent", "(not urgent) and urgent"),
        ("- quantity - 1 < 0", "((-quantity) - 1) < 0"),
        ("status is not null", "not (status is null)"),
        ("status not in [open, closed]", "not (status in [open, closed])"),
    ];
    for (text, same) in as_written {
        assert_eq!(check(text, &Ticket), check(same, &Ticket), "{text}");
        assert!(check(text, &Ticket).is_ok(), "{text}: {:?}", check(text, &Ticket));
    }
}

#[test]
fn a_word_of_an_enum_needs_no_quotes() {
    let equal = |text: &str| check(text, &Ticket).unwrap();
    assert_eq!(equal("status = open"), equal("status = 'open'"));
    assert!(matches!(equal("open = status"), Node::Compare(Comparison::Equal, ..)));
    let wrong = mistake("urgent and status in [open, solvd]");
    assert_eq!((wrong.span, wrong.message.as_str()), (28..33, "`solvd` is not a value of the enum"));
    assert!(wrong.known.contains(&"solved".to_owned()));
}

#[test]
fn values_of_different_types_are_not_compared() {
    let wrong = [
        ("title = 3", 0..9, "a text is compared with a number"),
        ("due_on < starts_at", 0..18, "a date is compared with a timestamp"),
        ("title < 'x'", 0..11, "a text has no order"),
        ("quantity", 0..8, "this is a number, and not a condition"),
        ("urgent and quantity", 11..19, "this is a number, and a condition is needed"),
        ("title + 1 = 2", 0..5, "this is a text, and a number is needed"),
        ("tags = tags", 0..11, "a list or JSON is compared with a list or JSON"),
        ("quantity = null", 11..15, "a comparison with `null` is never true"),
        ("due_on + 2 hours = due_on", 9..16, "only days can be added to a date"),
        ("quantity + 2 days = 3", 0..8, "this is a number, and a duration belongs to a date or a timestamp"),
        ("coalesce(quantity, title) = 1", 19..24, "this is a text, and the value before it is a number"),
        ("length(title, title) > 1", 0..20, "`length` takes one text, and has 2"),
        ("date '2026-02-30' = due_on", 0..17, "this is not a day"),
    ];
    for (text, span, message) in wrong {
        let found = mistake(text);
        assert_eq!((found.span, found.message.as_str()), (span, message), "{text}");
    }
}

#[test]
fn mistakes_of_writing_are_named_at_their_place() {
    let wrong = [
        ("", 0..0, "the expression is empty"),
        ("stauts = open", 0..6, "there is no field `stauts`"),
        ("quantity >", 10..10, "a value is missing here"),
        ("quantity > and urgent", 11..14, "a value is missing before `and`"),
        ("(quantity > 1", 13..13, "`)` is missing here"),
        ("quantity > 1 urgent", 11..19, "`1 urgent` stands alone"),
        ("urgent urgent", 7..13, "the expression should end here"),
        ("1 < quantity < 3", 13..14, "the expression should end here"),
        ("quantity == 1", 9..11, "`==` is not an operator"),
        ("quantity / 2 > 1", 9..10, "`/` has no meaning here"),
        ("title = 'x", 8..10, "the text has no closing quote"),
        ("lenght(title) > 1", 0..6, "there is no function `lenght`"),
        ("status is open", 10..14, "`null` is missing after `is`"),
        ("status in []", 0..12, "the list is empty, so that nothing is in it"),
        ("quantity > 1.", 11..13, "a number needs digits after its point"),
    ];
    for (text, span, message) in wrong {
        let found = mistake(text);
        assert_eq!((found.span, found.message.as_str()), (span, message), "{text}");
    }
}

#[test]
fn no_text_exhausts_the_stack() {
    assert!(mistake(&"(".repeat(100_000)).message.contains("more than 200"));
    assert!(mistake(&"(".repeat(100)).message.contains("nested more than 20 times"));
    let long = format!("{}urgent", "urgent or ".repeat(99));
    assert!(check(&long, &Ticket).is_ok());
    assert!(mistake(&format!("urgent or {long}")).message.contains("more than 200"));
    assert!(check(&format!("{}urgent", "not ".repeat(199)), &Ticket).is_ok());
}

#[test]
fn numbers_that_can_exceed_64_bits_are_refused_before_any_record_is() {
    let wrong = [
        ("quantity * quantity * quantity > 1", 0..30, "this can have 28 digits"),
        ("agent_id + 1 > 2", 0..12, "this can have 19 digits"),
        ("abs(agent_id) > 1", 4..12, "this can have 19 digits"),
        ("-agent_id < 1", 1..9, "this can have 19 digits"),
        ("agent_id > 0.5", 0..14, "this can have 20 digits"),
        ("round(price, 2) > 1", 6..11, "this has 2 decimal places, so that nothing is rounded"),
        ("quantity > 9223372036854775808", 11..30, "the number is larger than those of 64 bits"),
    ];
    for (text, span, message) in wrong {
        let found = mistake(text);
        assert_eq!(found.span, span, "{text}: {found:?}");
        assert!(found.message.starts_with(message), "{text}: {found:?}");
    }
    for text in ["quantity * price > 0.5", "round(quantity * price, 1) > 2", "agent_id = 7", "quantity * price * 0 = 0"]
    {
        assert!(check(text, &Ticket).is_ok(), "{text}: {:?}", check(text, &Ticket));
    }
}

#[test]
fn names_after_a_point_are_fields_of_another_record_or_of_the_caller() {
    let node = check("agent.title = 'x' and agent_id = caller.id and caller.can(tickets.all)", &Ticket).unwrap();
    assert_eq!(node.fields(), ["agent_id"]);
    let wrong = [
        ("agent.titel = 'x'", 6..11, "`agent` has no field `titel`"),
        ("owner.title = 'x'", 0..5, "`owner` is not a reference"),
        ("agent.agent.title = 'x'", 12..17, "an expression takes one step to another record"),
        ("caller.name = 'x'", 7..11, "`caller` has no `name`"),
        ("caller.can(all)", 11..14, "`caller.can` takes the name of a permission"),
        ("caller.can()", 0..12, "`caller.can` takes the name of a permission"),
        ("caller = 1", 0..6, "`caller` is not a value"),
        ("agent.can(x)", 0..12, "there is no function `agent.can`"),
    ];
    for (text, span, message) in wrong {
        let found = mistake(text);
        assert_eq!((found.span, found.message.as_str()), (span, message), "{text}");
    }
}

#[test]
fn fields_are_named_once() {
    let node = check("if(urgent, quantity, price) > quantity and length(title) > 2", &Ticket).unwrap();
    assert_eq!(node.fields(), ["urgent", "quantity", "price", "title"]);
}

#[test]
fn values_of_fields_are_read_from_their_text() {
    type Kind = crate::FieldType<crate::Constant>;
    let price = Kind::Decimal { precision: 8, places: 2 };
    for (kind, text, expected) in [
        (Kind::Integer, "-7", Some(Scalar::Number(-7))),
        (Kind::Integer, "0x10", None),
        (price, "2.5", Some(Scalar::Number(250))),
        (price, "2.505", None),
        (Kind::Boolean, "true", Some(Scalar::Boolean(true))),
        (Kind::Boolean, "yes", None),
        (Kind::Text, "7", Some(Scalar::Text("7".to_owned()))),
        (Kind::Date, "1970-01-02", Some(Scalar::Date(1))),
        (Kind::Date, "1970-02-30", None),
        (Kind::Time, "00:01", Some(Scalar::Time(60_000_000_000))),
        (
            Kind::Timestamp { form: crate::TimestampForm::Seconds },
            "1970-01-01T00:00:01Z",
            Some(Scalar::Timestamp(1_000_000_000)),
        ),
        (Kind::Uuid, "00000000-0000-0000-0000-00000000000a", Some(Scalar::Uuid(10))),
        (Kind::Uuid, "a", None),
        (Kind::Json, "{}", None),
    ] {
        assert_eq!(Scalar::read(&kind, text), expected, "{kind:?} {text}");
    }
}
