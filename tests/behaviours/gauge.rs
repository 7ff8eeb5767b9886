//! Test resource with a field of each type and rule, whose hooks and action set the invalid value that a record names.

use charter_runtime::Result;
use charter_runtime::generated::{Decimal, Resource};
use charter_runtime::ops::{Context, Draft, Route};
use chrono::{DateTime, NaiveDate, TimeDelta};
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::{DateTimeUtc, Json};
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "gauge", events, action(name = "spoil", on = "record"))]
pub struct Model {
    pub id: i64,
    /// Names the change that a hook makes, and the hook: `before_save`, `check` or `spoil`.
    #[field(string(30))]
    pub wish: Option<String>,
    #[field(string(30))]
    pub place: Option<String>,
    #[field(string(10), required)]
    pub title: String,
    #[field(enumeration("small", "large"))]
    pub size: Option<String>,
    #[field(code(1 = "Planned", 2 = "Held"))]
    pub status: Option<i32>,
    #[field(string(5), pattern = "[a-z]*")]
    pub letters: Option<String>,
    #[field(text, min_length = 2)]
    pub story: Option<String>,
    #[field(min = "1", max = "9")]
    pub count: Option<i32>,
    #[field(decimal(5, 2), above = "0", below = "100")]
    pub share: Option<Decimal<2>>,
    #[field(string(200), url)]
    pub site: Option<String>,
    #[field(string(200), email)]
    pub mail: Option<String>,
    #[field(string(200), matches_field = "mail")]
    pub mail_again: Option<String>,
    #[field(list(3), max_length = 2)]
    pub tags: Option<Json>,
    #[field(json)]
    pub notes: Option<Json>,
    pub day: Option<chrono::NaiveDate>,
    pub begins_at: Option<DateTimeUtc>,
    #[field(not_before = "begins_at")]
    pub ends_at: Option<DateTimeUtc>,
    #[field(string(5), differs_from = "letters")]
    pub others: Option<String>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// Invalid values: name and field of each.
pub const WRONG: &[(&str, &str)] = &[
    ("unknown word", "size"),
    ("unknown code", "status"),
    ("text too long", "letters"),
    ("text without form", "letters"),
    ("text too short", "story"),
    ("null character", "story"),
    ("blank title", "title"),
    ("empty title", "title"),
    ("long title", "title"),
    ("number too small", "count"),
    ("number too large", "count"),
    ("nothing", "share"),
    ("all", "share"),
    ("no address", "site"),
    ("no mail", "mail"),
    ("list too long", "tags"),
    ("element too long", "tags"),
    ("no list", "tags"),
    ("no object", "notes"),
    ("a day beyond", "day"),
    ("a time beyond", "begins_at"),
];

/// Values that contradict another field, which the client may have given.
pub const CONTRADICTING: &[(&str, &str)] =
    &[("the end before", "ends_at"), ("the same", "others"), ("another mail", "mail_again")];

fn set(draft: &mut Draft<Entity>, wish: &str) {
    let (model, text) = (&mut draft.model, |text: &str| Set(Some(text.to_string())));
    match wish {
        "unknown word" => model.size = text("bogus"),
        "unknown code" => model.status = Set(Some(3)),
        "text too long" => model.letters = text("abcdef"),
        "text without form" => model.letters = text("ABC"),
        "text too short" => model.story = text("a"),
        "null character" => model.story = text("a\0b"),
        "blank title" => model.title = Set("  ".into()),
        "empty title" => model.title = Set(String::new()),
        "long title" => model.title = Set("eleven char".into()),
        "number too small" => model.count = Set(Some(0)),
        "number too large" => model.count = Set(Some(10)),
        "nothing" => model.share = Set(Some("0".parse().expect("a number"))),
        "all" => model.share = Set(Some("100".parse().expect("a number"))),
        "no address" => model.site = text("ftp://example.com"),
        "no mail" => model.mail = text("nobody"),
        "list too long" => model.tags = Set(Some(json!(["a", "b", "c"]))),
        "element too long" => model.tags = Set(Some(json!(["abcd"]))),
        "no list" => model.tags = Set(Some(json!({ "a": 1 }))),
        "no object" => model.notes = Set(Some(json!("text"))),
        "a day beyond" => model.day = Set(NaiveDate::from_ymd_opt(12026, 1, 1)),
        "a time beyond" => model.begins_at = Set(DateTime::from_timestamp(300_000_000_000, 0)),
        "the end before" => {
            model.begins_at = Set(DateTime::from_timestamp(2_000_000, 0));
            model.ends_at = Set(DateTime::from_timestamp(1_000_000, 0));
        }
        "the same" => {
            model.letters = text("abc");
            model.others = text("abc");
        }
        "another mail" => {
            model.mail = text("a@example.com");
            model.mail_again = text("b@example.com");
        }
        "another form" => {
            model.size = text("LARGE");
            model.begins_at = Set(DateTime::from_timestamp(1_000_000, 0).map(|time| time + TimeDelta::microseconds(5)));
            model.story = text("");
        }
        other => panic!("there is no wish `{other}`"),
    }
}

pub fn route() -> Route {
    charter_runtime::route!(Entity, Behaviour, hooks(check, before_save), actions(record spoil))
}

trait Behaviour {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn spoil(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
}

fn set_at(draft: &mut Draft<Entity>, place: &str) {
    let here = draft.model.place.try_as_ref().cloned().flatten().is_some_and(|wanted| wanted == place);
    if let (true, Some(wish)) = (here, draft.model.wish.try_as_ref().cloned().flatten()) {
        set(draft, &wish);
    }
}

impl Behaviour for Entity {
    async fn check(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        set_at(draft, "check");
        Ok(())
    }

    async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        set_at(draft, "before_save");
        Ok(())
    }

    async fn spoil(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        set_at(draft, "spoil");
        Ok(())
    }
}
