//! Rules on the values of a field: their keys, their arguments, and the types that accept them.

use std::cmp::Ordering;

use crate::{Notation, TypeFacts, keywords};

keywords! {
    /// The values of the key `format`. Each is a rule of its own in attributes.
    Format { Url = "url", Email = "email" }
}

/// A rule for the value of a field. Numbers are decimal text, which is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule<N: Notation> {
    /// At least.
    Min(N::Name),
    /// At most.
    Max(N::Name),
    /// More than.
    Above(N::Name),
    /// Less than.
    Below(N::Name),
    /// Minimum of characters, or of elements of a list.
    MinLength(u32),
    /// Maximum of elements of a list.
    MaxLength(u32),
    /// Matches the regular expression as a whole.
    Pattern(N::Name),
    /// An absolute http or https URL.
    Url,
    Email,
    /// No other record has this value; deleted records do not count.
    Unique,
    /// A record of `resource` has this value in `field`.
    Exists {
        resource: N::Name,
        field: N::Name,
    },
    /// Not equal to another field of the record.
    DiffersFrom(N::Name),
    /// Equal to another field of the record, which must have a value if this one has.
    MatchesField(N::Name),
    /// Later, or more, than another field of the record when both are given.
    After(N::Name),
    /// Not earlier, or not less, than another field of the record when both are given.
    NotBefore(N::Name),
    /// Required in a record for which the condition holds. See [`crate::expression`].
    RequiredWhen(N::Name),
}

/// The value of a rule's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleTakes {
    /// A number as decimal text.
    Number,
    /// A whole number from 0.
    Count,
    Text,
    /// One of the words of [`Format`].
    Format,
    /// `true`, or in an attribute nothing.
    Flag,
    /// A field of another resource: `currency.code`.
    Path,
    /// Another field of the same record.
    Field,
    /// A condition over the fields of the same record.
    Condition,
}

/// The value of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RuleArgument<N: Notation> {
    Flag,
    Count(u32),
    Text(N::Name),
    Path { resource: N::Name, field: N::Name },
}

/// The properties of a rule's key.
#[derive(Debug)]
pub struct RuleFacts {
    /// The key in YAML.
    pub key: &'static str,
    pub takes: RuleTakes,
    /// True if a type accepts the rule.
    pub fits: fn(&TypeFacts) -> bool,
    pub example: &'static str,
    pub meaning: &'static str,
}

const fn facts(
    key: &'static str,
    takes: RuleTakes,
    fits: fn(&TypeFacts) -> bool,
    example: &'static str,
    meaning: &'static str,
) -> RuleFacts {
    RuleFacts { key, takes, fits, example, meaning }
}

fn is_number(of: &TypeFacts) -> bool {
    of.is_number
}

fn is_text(of: &TypeFacts) -> bool {
    of.is_text
}

impl RuleFacts {
    pub const MIN: RuleFacts = facts("min", RuleTakes::Number, is_number, "min: 0", "The minimum of the number.");
    pub const MAX: RuleFacts = facts("max", RuleTakes::Number, is_number, "max: 100", "The maximum of the number.");
    pub const ABOVE: RuleFacts =
        facts("above", RuleTakes::Number, is_number, "above: 0", "The exclusive minimum of the number.");
    pub const BELOW: RuleFacts =
        facts("below", RuleTakes::Number, is_number, "below: 1", "The exclusive maximum of the number.");
    pub const MIN_LENGTH: RuleFacts = facts(
        "min_length",
        RuleTakes::Count,
        |of| of.is_text || of.is_list,
        "min_length: 1",
        "The minimum number of characters of a text, or of elements of a list.",
    );
    pub const MAX_LENGTH: RuleFacts = facts(
        "max_length",
        RuleTakes::Count,
        |of| of.is_list,
        "max_length: 10",
        "The maximum number of elements of a list. For text, use the type `string(n)`.",
    );
    pub const PATTERN: RuleFacts = facts(
        "pattern",
        RuleTakes::Text,
        is_text,
        "pattern: \"[A-Z]{3}\"",
        "The regular expression that the whole text must match.",
    );
    pub const FORMAT: RuleFacts = facts(
        "format",
        RuleTakes::Format,
        is_text,
        "format: email",
        "The format of the text: an absolute http or https URL, or an e-mail address.",
    );
    pub const UNIQUE: RuleFacts = facts(
        "unique",
        RuleTakes::Flag,
        |of| of.can_be_unique,
        "unique: true",
        "Two records cannot have the same value.",
    );
    pub const EXISTS: RuleFacts = facts(
        "exists",
        RuleTakes::Path,
        |of| of.can_exist,
        "exists: currency.code",
        "A record of the other resource must have the value in this field.",
    );
    pub const DIFFERS_FROM: RuleFacts = facts(
        "differs_from",
        RuleTakes::Field,
        |of| of.family.is_some(),
        "differs_from: source_currency_code",
        "The value must differ from that of the other field.",
    );
    pub const MATCHES_FIELD: RuleFacts = facts(
        "matches_field",
        RuleTakes::Field,
        |of| of.family.is_some(),
        "matches_field: email",
        "The value, if there is one, must equal that of the other field.",
    );
    pub const AFTER: RuleFacts = facts(
        "after",
        RuleTakes::Field,
        TypeFacts::follows,
        "after: effective_at",
        "The value must be later or greater than that of the other field, if both have one.",
    );
    pub const NOT_BEFORE: RuleFacts = facts(
        "not_before",
        RuleTakes::Field,
        TypeFacts::follows,
        "not_before: starts_at",
        "The value must not be earlier or less than that of the other field, if both have one.",
    );

    pub const REQUIRED_WHEN: RuleFacts = facts(
        "required_when",
        RuleTakes::Condition,
        |of| of.can_be_filled,
        "required_when: status = solved",
        "The field must have a value in each record for which the condition holds.",
    );

    /// Every key, in the order of the documentation.
    pub const ALL: &'static [RuleFacts] = &[
        RuleFacts::MIN,
        RuleFacts::MAX,
        RuleFacts::ABOVE,
        RuleFacts::BELOW,
        RuleFacts::MIN_LENGTH,
        RuleFacts::MAX_LENGTH,
        RuleFacts::PATTERN,
        RuleFacts::FORMAT,
        RuleFacts::UNIQUE,
        RuleFacts::EXISTS,
        RuleFacts::DIFFERS_FROM,
        RuleFacts::MATCHES_FIELD,
        RuleFacts::AFTER,
        RuleFacts::NOT_BEFORE,
        RuleFacts::REQUIRED_WHEN,
    ];

    /// The keys in `#[field(…)]`, each with its argument: those of YAML, with the formats in place of `format`.
    pub fn attributes() -> impl Iterator<Item = (&'static str, RuleTakes)> {
        RuleFacts::ALL.iter().flat_map(|facts| {
            let (own, formats) = match facts.takes {
                RuleTakes::Format => (None, Format::WORDS),
                takes => (Some((facts.key, takes)), &[] as &[&str]),
            };
            own.into_iter().chain(formats.iter().map(|word| (*word, RuleTakes::Flag)))
        })
    }
}

impl<N: Notation> Rule<N> {
    /// The rule of a key in an attribute; none for an unknown key or an argument of another shape.
    pub fn read(attribute: &str, argument: RuleArgument<N>) -> Option<Rule<N>> {
        Some(match (attribute, argument) {
            ("min", RuleArgument::Text(text)) => Rule::Min(text),
            ("max", RuleArgument::Text(text)) => Rule::Max(text),
            ("above", RuleArgument::Text(text)) => Rule::Above(text),
            ("below", RuleArgument::Text(text)) => Rule::Below(text),
            ("min_length", RuleArgument::Count(count)) => Rule::MinLength(count),
            ("max_length", RuleArgument::Count(count)) => Rule::MaxLength(count),
            ("pattern", RuleArgument::Text(text)) => Rule::Pattern(text),
            ("url", RuleArgument::Flag) => Rule::Url,
            ("email", RuleArgument::Flag) => Rule::Email,
            ("unique", RuleArgument::Flag) => Rule::Unique,
            ("exists", RuleArgument::Path { resource, field }) => Rule::Exists { resource, field },
            ("differs_from", RuleArgument::Text(text)) => Rule::DiffersFrom(text),
            ("matches_field", RuleArgument::Text(text)) => Rule::MatchesField(text),
            ("after", RuleArgument::Text(text)) => Rule::After(text),
            ("not_before", RuleArgument::Text(text)) => Rule::NotBefore(text),
            ("required_when", RuleArgument::Text(text)) => Rule::RequiredWhen(text),
            _ => return None,
        })
    }

    /// The properties of its key.
    pub fn facts(&self) -> &'static RuleFacts {
        match self {
            Rule::Min(_) => &RuleFacts::MIN,
            Rule::Max(_) => &RuleFacts::MAX,
            Rule::Above(_) => &RuleFacts::ABOVE,
            Rule::Below(_) => &RuleFacts::BELOW,
            Rule::MinLength(_) => &RuleFacts::MIN_LENGTH,
            Rule::MaxLength(_) => &RuleFacts::MAX_LENGTH,
            Rule::Pattern(_) => &RuleFacts::PATTERN,
            Rule::Url | Rule::Email => &RuleFacts::FORMAT,
            Rule::Unique => &RuleFacts::UNIQUE,
            Rule::Exists { .. } => &RuleFacts::EXISTS,
            Rule::DiffersFrom(_) => &RuleFacts::DIFFERS_FROM,
            Rule::MatchesField(_) => &RuleFacts::MATCHES_FIELD,
            Rule::After(_) => &RuleFacts::AFTER,
            Rule::NotBefore(_) => &RuleFacts::NOT_BEFORE,
            Rule::RequiredWhen(_) => &RuleFacts::REQUIRED_WHEN,
        }
    }

    /// The key in YAML.
    pub fn key(&self) -> &'static str {
        self.facts().key
    }

    /// The key in `#[field(…)]`.
    pub fn attribute(&self) -> &'static str {
        match self {
            Rule::Url => "url",
            Rule::Email => "email",
            other => other.key(),
        }
    }

    /// The value of the key in `#[field(…)]`.
    pub fn argument(&self) -> RuleArgument<N> {
        match self {
            Rule::Min(text) | Rule::Max(text) | Rule::Above(text) | Rule::Below(text) => {
                RuleArgument::Text(text.clone())
            }
            Rule::Pattern(text) | Rule::RequiredWhen(text) => RuleArgument::Text(text.clone()),
            Rule::DiffersFrom(name) | Rule::MatchesField(name) | Rule::After(name) | Rule::NotBefore(name) => {
                RuleArgument::Text(name.clone())
            }
            Rule::MinLength(count) | Rule::MaxLength(count) => RuleArgument::Count(*count),
            Rule::Exists { resource, field } => RuleArgument::Path { resource: resource.clone(), field: field.clone() },
            Rule::Url | Rule::Email | Rule::Unique => RuleArgument::Flag,
        }
    }

    /// The value of the key in YAML, as text: `0`, `email`, `currency.code`, `true`.
    pub fn written(&self) -> String {
        match (self, self.argument()) {
            (Rule::Url | Rule::Email, _) => self.attribute().to_owned(),
            (_, RuleArgument::Flag) => "true".to_owned(),
            (_, RuleArgument::Count(count)) => count.to_string(),
            (_, RuleArgument::Text(text)) => N::text(&text).to_owned(),
            (_, RuleArgument::Path { resource, field }) => format!("{}.{}", N::text(&resource), N::text(&field)),
        }
    }

    /// True if a value that compares so with that of the other field satisfies the rule.
    pub fn allows(&self, order: Ordering) -> bool {
        match self {
            Rule::DiffersFrom(_) => order.is_ne(),
            Rule::MatchesField(_) => order.is_eq(),
            Rule::After(_) => order.is_gt(),
            Rule::NotBefore(_) => order.is_ge(),
            _ => true,
        }
    }

    /// The field with which the rule compares its own.
    pub fn other_field(&self) -> Option<&str> {
        match self {
            Rule::DiffersFrom(other) | Rule::MatchesField(other) | Rule::After(other) | Rule::NotBefore(other) => {
                Some(N::text(other))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Constant;

    #[test]
    fn every_attribute_makes_a_rule_that_has_its_key_and_its_argument() {
        for (attribute, takes) in RuleFacts::attributes() {
            let argument: RuleArgument<Constant> = match takes {
                RuleTakes::Flag | RuleTakes::Format => RuleArgument::Flag,
                RuleTakes::Count => RuleArgument::Count(1),
                RuleTakes::Path => RuleArgument::Path { resource: "currency", field: "code" },
                RuleTakes::Number | RuleTakes::Text | RuleTakes::Field | RuleTakes::Condition => {
                    RuleArgument::Text("1")
                }
            };
            let rule = Rule::read(attribute, argument).expect(attribute);
            assert_eq!((rule.attribute(), rule.argument()), (attribute, argument));
        }
        assert_eq!(Rule::<Constant>::read("min", RuleArgument::Flag), None);
    }

    #[test]
    fn a_rule_is_written_as_yaml_has_it() {
        let rules: [(Rule<Constant>, _, _); 4] = [
            (Rule::Url, "format", "url"),
            (Rule::Unique, "unique", "true"),
            (Rule::MinLength(2), "min_length", "2"),
            (Rule::Exists { resource: "currency", field: "code" }, "exists", "currency.code"),
        ];
        for (rule, key, value) in rules {
            assert_eq!((rule.key(), rule.written()), (key, value.to_owned()));
        }
    }
}
