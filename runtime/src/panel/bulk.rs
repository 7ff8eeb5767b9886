//! Many records changed or deleted at once, after what will happen was shown.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::cell::{self, Room};
use super::input::{self, Given};
use super::place::Place;
use super::sweep::Sweep;
use super::title::{self, Titles};
use super::visit::{Visit, is_ours};
use super::{choice, page, see, sent, several, words};
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Kind, Operation};
use crate::query::Pair;
use crate::server::Answer;

/// As many as a page has.
const MOST: usize = 100;

/// One step of the way: choose a field, give its value, look at what will happen, do it.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    let sent = |name: &str| form.iter().find(|pair| pair.name == name).map(|pair| pair.value.as_str());
    let back = sent("_back").filter(|back| is_ours(back));
    let back = back.map_or_else(|| place.collection(), String::from);
    let chosen = match sent("_all") {
        Some(_) => {
            let query = sent("_query").unwrap_or_default();
            Chosen::All(Box::new(Sweep::of(visit, place, query, sent("_progress")).await?))
        }
        None => Chosen::These(
            form.iter().filter(|pair| pair.name == "id").filter_map(|pair| pair.value.parse().ok()).collect(),
        ),
    };
    match &chosen {
        Chosen::These(ids) if ids.is_empty() => return Ok(see(&back)),
        Chosen::These(ids) if ids.len() > MOST => {
            return Err(Error::Malformed(format!("At most {MOST} records can be chosen one by one.")));
        }
        _ => {}
    }
    let field = sent("_field").and_then(|name| changeable(place).into_iter().find(|field| field.name == name));
    let mut work = Work { visit, place, chosen, back: &back };
    match (sent("_step").unwrap_or_default(), field) {
        ("delete", _) => work.about_to_delete().await,
        ("edit", None) => Ok(work.page("Change which field?", &work.choose_field(), true)),
        ("edit", Some(field)) => {
            Ok(work.page(&format!("Change {}", words::field(field)), &work.give_value(field, None), true))
        }
        ("preview", Some(field)) => work.about_to_change(field, form).await,
        ("apply", Some(field)) => work.change(field, form).await,
        ("apply-delete", _) => work.delete().await,
        _ => Err(Error::NotFound),
    }
}

/// The fields that can be the same for many records.
fn changeable(place: &Place<'_>) -> Vec<&'static FieldMeta> {
    let fits = |field: &&FieldMeta| {
        sent::is_given(&place.of(0), field)
            && !matches!(field.kind, Kind::Embedded { .. } | Kind::CustomFields | Kind::Json)
    };
    place.entry.meta.fields.iter().filter(fits).collect()
}

/// Which records are meant.
enum Chosen {
    These(Vec<i64>),
    /// All that meet the conditions of the list.
    All(Box<Sweep>),
}

struct Work<'w> {
    visit: &'w Visit<'w>,
    place: &'w Place<'w>,
    chosen: Chosen,
    back: &'w str,
}

impl Work<'_> {
    fn page(&self, title: &str, content: &Markup, cancels: bool) -> Answer {
        let entry = self.place.entry;
        let content = html! {
            (page::head(&[(self.back.to_string(), words::plural(entry.meta))], &html! { (title) }, &html! {}))
            (content)
            @if cancels { p { a href=(self.back) { "Cancel" } } }
        };
        page::answer(self.visit, title, &content)
    }

    /// What every step hands on.
    fn carried(&self, step: &str) -> Markup {
        html! {
            (page::token(self.visit))
            input type="hidden" name="_back" value=(self.back);
            input type="hidden" name="_step" value=(step);
            @match &self.chosen {
                Chosen::These(ids) => { @for id in ids { input type="hidden" name="id" value=(id); } }
                Chosen::All(sweep) => {
                    input type="hidden" name="_all" value="1";
                    input type="hidden" name="_query" value=(sweep.query);
                }
            }
        }
    }

    fn action(&self) -> String {
        format!("{}/bulk", self.place.collection())
    }

    fn number(&self) -> i64 {
        match &self.chosen {
            Chosen::These(ids) => ids.len() as i64,
            Chosen::All(sweep) => sweep.progress.total,
        }
    }

    fn count(&self) -> String {
        words::count(self.place.entry.meta, self.number())
    }

    fn choose_field(&self) -> Markup {
        html! {
            form .record method="post" action=(self.action()) {
                (self.carried("edit"))
                div .field { label for="_field" { "Field to change in " (self.count()) }
                    select #_field name="_field" { @for field in changeable(self.place) { option value=(field.name) { (words::field(field)) } } } }
                div .buttons { button .primary { "Next" } }
            }
        }
    }

    fn give_value(&self, field: &'static FieldMeta, problem: Option<&str>) -> Markup {
        let (value, titles) = (Value::Null, Titles::default());
        let given = Given {
            id: "value".into(),
            name: field.name.into(),
            required: false,
            value: &value,
            choices: choice::of_field(self.visit, self.place.entry, field),
            described: problem.map(|_| "value-error".into()),
            invalid: problem.is_some(),
            titles: &titles,
            search: input::titles(self.visit, Some(field)),
            shown: None,
            widget: None,
        };
        html! {
            form .record method="post" action=(self.action()) novalidate {
                (self.carried("preview"))
                input type="hidden" name="_field" value=(field.name);
                div .field { label for="value" { (words::field(field)) }
                    (input::of(self.visit, field.kind, field.rules, &given))
                    @if let Some(said) = problem { p .error #value-error { (said) } }
                    p .help { "The new value of " (self.count()) @if field.nullable { "; nothing clears it" } "." } }
                div .buttons { button .primary { "Show what will happen" } }
            }
        }
    }

    /// The records as they are; the latest of very many.
    async fn records(&self) -> Result<Vec<Value>> {
        let ids = match &self.chosen {
            Chosen::These(ids) => ids,
            Chosen::All(sweep) => return Ok(sweep.sample.clone()),
        };
        let entry = self.place.entry;
        let replies = several::ask(self.visit, entry, &self.place.collection(), ids, "").await?;
        let records = replies.iter().map(|reply| several::records(entry, reply)).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    async fn about_to_delete(&self) -> Result<Answer> {
        if !self.visit.may(self.place.entry, Operation::Delete) {
            return Err(Error::PermissionMissing(String::new()));
        }
        let records = self.records().await?;
        let entry = self.place.entry;
        let content = html! {
            div .notice { p { strong { (words::count(entry.meta, self.found(&records))) " will be deleted" } ", " (self.manner())
                @if !entry.meta.soft_delete { " They cannot be brought back." } } }
            (self.conditions().await?)
            ul { @for record in &records { li { (title::of(entry, record)) } } @if let Some(more) = self.more(&records) { li { (more) } } }
            form method="post" action=(self.action()) { (self.carried("apply-delete")) (self.begin()) button .danger { "Delete " (self.count()) } }
        };
        Ok(self.page(&format!("Delete {}?", self.count()), &content, true))
    }

    fn value(&self, field: &'static FieldMeta, form: &[Pair]) -> Result<Value> {
        let fields = self.place.entry.meta.fields;
        let pairs: Vec<Pair> = form.iter().filter(|pair| pair.name != "id").cloned().collect();
        let mut record = sent::read(&self.visit.state.catalog, fields, &[], self.visit.zone, &pairs, false)?;
        Ok(record.remove(field.name).unwrap_or_default())
    }

    async fn about_to_change(&self, field: &'static FieldMeta, form: &[Pair]) -> Result<Answer> {
        let entry = self.place.entry;
        if !self.visit.may(entry, Operation::Update) {
            return Err(Error::PermissionMissing(String::new()));
        }
        let value = self.value(field, form)?;
        let records = self.records().await?;
        let new = json!({ field.name: of_number(field, &value) });
        let mut titles = Titles::load(self.visit, &[field], &records).await?;
        titles.extend(Titles::load(self.visit, &[field], std::slice::from_ref(&new)).await?);
        let shown = |record: &Value| cell::of(self.visit, entry, field, record, &titles, Room::Table);
        let content = html! {
            div .notice { p { strong { (words::count(entry.meta, self.found(&records))) " will be changed" } ", " (self.manner()) } }
            (self.conditions().await?)
            div .scroll tabindex="0" role="region" aria-label="What will happen" { table {
                thead { tr { th scope="col" { (entry.meta.label) } th scope="col" { "Now" } th scope="col" { "Then" } } }
                tbody { @for record in &records { tr { td { (title::of(entry, record)) } td { (shown(record)) } td { strong { (shown(&new)) } } } } }
            } }
            @if let Some(more) = self.more(&records) { p { (more) } }
            form method="post" action=(self.action()) {
                (self.carried("apply"))
                (self.begin())
                (again(field, form))
                div .buttons { button .primary { "Change " (self.count()) } }
            }
        };
        Ok(self.page(&format!("Change {} of {}?", words::field(field), self.count()), &content, true))
    }

    /// How many there are of those that were chosen.
    fn found(&self, records: &[Value]) -> i64 {
        match &self.chosen {
            Chosen::These(_) => records.len() as i64,
            Chosen::All(sweep) => sweep.progress.total,
        }
    }

    /// What is one thing, and what is not.
    fn manner(&self) -> &'static str {
        match &self.chosen {
            Chosen::These(_) => "all or none of them.",
            Chosen::All(_) => {
                "a hundred at a time, and each for itself: what is refused stays as it is, and what is done by then is done, \
                 also when the rest is stopped. What is made meanwhile is left alone."
            }
        }
    }

    async fn conditions(&self) -> Result<Markup> {
        match &self.chosen {
            Chosen::These(_) => Ok(html! {}),
            Chosen::All(sweep) => sweep.told(self.visit, self.place).await,
        }
    }

    fn more(&self, records: &[Value]) -> Option<String> {
        let more = self.found(records) - records.len() as i64;
        (more > 0).then(|| format!("and {} more", words::number(&more.to_string())))
    }

    /// What the first portion begins with.
    fn begin(&self) -> Markup {
        match &self.chosen {
            Chosen::These(_) => html! {},
            Chosen::All(sweep) => html! { input type="hidden" name="_progress" value=(json!(sweep.progress)); },
        }
    }

    async fn change(&mut self, field: &'static FieldMeta, form: &[Pair]) -> Result<Answer> {
        let (value, name) = (self.value(field, form)?, self.place.entry.meta.name);
        let operation = |id: i64| json!({ "method": "update", "id": id, name: { field.name: value } });
        self.apply(operation, "changed", "apply", again(field, form)).await
    }

    async fn delete(&mut self) -> Result<Answer> {
        let operation = |id: i64| json!({ "method": "delete", "id": id });
        self.apply(operation, "deleted", "apply-delete", html! {}).await
    }

    async fn apply(
        &mut self,
        operation: impl Fn(i64) -> Value,
        done: &str,
        step: &str,
        again: Markup,
    ) -> Result<Answer> {
        let ids = match &mut self.chosen {
            Chosen::These(ids) => ids.clone(),
            Chosen::All(sweep) => {
                let ended = sweep.go_on(self.visit, self.place, operation).await;
                return self.went(ended, done, step, &again);
            }
        };
        let operations: Vec<Value> = ids.iter().map(|id| operation(*id)).collect();
        let body = json!({ "operations": operations });
        let reply = self.visit.send("POST", &self.action(), &[], Some(&body)).await?;
        if reply.is_success() {
            let content = html! {
                div .notice role="status" { p { (words::were(self.place.entry.meta, self.number())) " " (done) "." } }
                p { a .button.primary href=(self.back) { "Back to the list" } }
            };
            return Ok(self.page("Done", &content, false));
        }
        if reply.status.as_u16() == 403 {
            return Err(reply.error());
        }
        let problem = reply.problem();
        let record = |name: &str| {
            let index: Option<usize> = name.strip_prefix("operations.")?.split('.').next()?.parse().ok();
            index.and_then(|index| ids.get(index))
        };
        let content = html! {
            div .problem role="alert" {
                p { strong { "Nothing was changed." } @if problem.errors.is_empty() { " " (problem.message) } }
                ul { @for (name, said) in &problem.errors {
                    li { @if let Some(id) = record(name) { a href=(self.place.of(*id).path()) { (self.place.entry.meta.label) " " (id) } ": " } (said.join("; ")) }
                } }
            }
            p { a .button href=(self.back) { "Back to the list" } }
        };
        Ok(self.page("Nothing was changed", &content, false))
    }
}

impl Work<'_> {
    /// The page after a portion: the script goes on from there by itself, people without one press the button.
    fn went(&self, ended: Result<()>, done: &str, step: &str, again: &Markup) -> Result<Answer> {
        let Chosen::All(sweep) = &self.chosen else { return Err(Error::NotFound) };
        let progress = &sweep.progress;
        let said = match ended {
            Err(error @ (Error::PermissionMissing(_) | Error::NotFound)) => return Err(error),
            Err(error) => Some(error.message(self.visit.asked.request_id.as_deref().unwrap_or("-"))),
            Ok(()) => None,
        };
        let worked = progress.done + progress.refused;
        let goes_on = said.is_none() && !progress.is_over;
        let title = if progress.is_over {
            "Done".to_string()
        } else {
            format!("{} of {}", words::number(&worked.to_string()), self.count())
        };
        let content = html! {
            @if !progress.is_over { progress max=(progress.total) value=(worked) aria-label="How far it is" {} }
            @if let Some(said) = &said { div .problem role="alert" { p { strong { "It was interrupted: " } (said) } } }
            (progress.told(self.place, done))
            @if progress.is_over { p { a .button.primary href=(self.back) { "Back to the list" } } } @else {
                form method="post" action=(self.action()) data-continue[goes_on] {
                    (self.carried(step))
                    (self.begin())
                    (again)
                    div .buttons { button .primary { "Go on" } a .button href=(self.back) { "Stop" } }
                }
            }
        };
        Ok(self.page(&title, &content, false))
    }
}

/// The field and its new value, as the form before had them.
fn again(field: &FieldMeta, form: &[Pair]) -> Markup {
    html! {
        input type="hidden" name="_field" value=(field.name);
        @for pair in form.iter().filter(|pair| is_value(field, &pair.name)) { input type="hidden" name=(pair.name) value=(pair.value); }
    }
}

fn is_value(field: &FieldMeta, name: &str) -> bool {
    name.strip_prefix(field.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// Codes and ids come from a form as text.
fn of_number(field: &FieldMeta, value: &Value) -> Value {
    let number = value.as_str().and_then(|text| text.parse::<i64>().ok());
    match field.kind {
        Kind::Code { .. } | Kind::Ref { .. } | Kind::Integer | Kind::BigInt => number.map_or(Value::Null, Value::from),
        Kind::Boolean => value.as_str().map_or(Value::Null, |text| Value::Bool(text == "true")),
        _ if value == "" => Value::Null,
        _ => value.clone(),
    }
}
