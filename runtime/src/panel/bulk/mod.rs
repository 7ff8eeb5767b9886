//! Many records changed, deleted or restored at once, step by step: what will happen is shown first.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Value, json};

use super::change::{self, Change};
use super::place::Place;
use super::sweep::Sweep;
use super::visit::{Visit, field, sent_back};
use super::{page, see, words};
use crate::error::{Error, Result};
use crate::query::Pair;
use crate::server::Answer;

/// As many as a page has.
const MOST: usize = 100;

/// One step of the way: choose a field, give its value, look at what will happen, do it.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    let sent = |name: &str| field(form, name);
    let back = sent_back(form).map_or_else(|| place.collection(), String::from);
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
    let mut changes = change::all(visit, place).await?;
    let asked = sent("_field").and_then(|name| changes.iter().position(|change| change.name() == name));
    let change = asked.map(|index| changes.swap_remove(index));
    let mut work = Work { visit, place, chosen, back: &back };
    match (sent("_step").unwrap_or_default(), change) {
        ("delete", _) => work.about_to_delete().await,
        ("restore", _) => work.about_to_restore().await,
        ("edit", None) => Ok(work.page("Change which field?", &work.choose(&changes))),
        ("edit", Some(change)) => Ok(work.ask(&change, &Value::Null, None)),
        ("preview", Some(change)) => work.about_to_change(&change, form).await,
        ("apply", Some(change)) => work.change(&change, form).await,
        ("apply-delete", _) => work.delete().await,
        ("apply-restore", _) => work.restore().await,
        _ => Err(Error::NotFound),
    }
}

/// Which records are meant.
pub enum Chosen {
    These(Vec<i64>),
    /// All that meet the conditions of the list.
    All(Box<Sweep>),
}

/// One step, and what it is about.
pub struct Work<'w> {
    pub visit: &'w Visit<'w>,
    pub place: &'w Place<'w>,
    pub chosen: Chosen,
    back: &'w str,
}

impl Work<'_> {
    pub fn page(&self, title: &str, content: &Markup) -> Answer {
        self.page_with(StatusCode::OK, title, content)
    }

    fn page_with(&self, status: StatusCode, title: &str, content: &Markup) -> Answer {
        let entry = self.place.entry;
        let content = html! {
            (page::head(&[(self.back.to_string(), words::plural(entry.meta))], &html! { (title) }, &html! {}))
            (content)
        };
        page::with_status(self.visit, status, title, &content)
    }

    /// The way back without anything done.
    pub fn cancel(&self) -> Markup {
        html! { a .button href=(self.back) { "Cancel" } }
    }

    /// What every step hands on.
    pub fn carried(&self, step: &str) -> Markup {
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

    pub fn action(&self) -> String {
        format!("{}/bulk", self.place.collection())
    }

    fn number(&self) -> i64 {
        match &self.chosen {
            Chosen::These(ids) => ids.len() as i64,
            Chosen::All(sweep) => sweep.progress.total,
        }
    }

    pub fn count(&self) -> String {
        self.visit.locale.amounts.records(self.place.entry.meta, self.number())
    }

    fn choose(&self, changes: &[Change]) -> Markup {
        let option = |change: &Change| html! { option value=(change.name()) { (change.label()) } };
        html! {
            form .record method="post" action=(self.action()) {
                (self.carried("edit"))
                div .field { label for="_field" { "Field to change in " (self.count()) }
                    select #_field name="_field" {
                        @for change in changes.iter().filter(|change| change.field().is_some()) { (option(change)) }
                        @if changes.iter().any(|change| change.field().is_none()) {
                            optgroup label="Custom fields" { @for change in changes.iter().filter(|change| change.field().is_none()) { (option(change)) } }
                        }
                    } }
                div .buttons { button .primary { "Next" } (self.cancel()) }
            }
        }
    }

    /// The page that asks for the new value; again, when the one that was given cannot be had.
    pub fn ask(&self, change: &Change, value: &Value, problem: Option<&str>) -> Answer {
        let label = change.label();
        let content = html! {
            form .record method="post" action=(self.action()) novalidate {
                (self.carried("preview"))
                input type="hidden" name="_field" value=(change.name());
                div .field .invalid[problem.is_some()] { label for="value" { (label) }
                    (change.input(self.visit, self.place, value, problem.is_some()))
                    @if let Some(said) = problem { p .error #value-error { (label) " " (said) } }
                    p .help { "The new value of " (self.count()) @if change.clearable() { "; leave it empty to clear it" } "." } }
                div .buttons { button .primary { "Show what will happen" } (self.cancel()) }
            }
        };
        let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        self.page_with(status, &format!("Change {label}"), &content)
    }

    /// What the first portion begins with.
    pub fn begin(&self) -> Markup {
        match &self.chosen {
            Chosen::These(_) => html! {},
            Chosen::All(sweep) => html! { input type="hidden" name="_progress" value=(json!(sweep.progress)); },
        }
    }

    async fn change(&mut self, change: &Change, form: &[Pair]) -> Result<Answer> {
        let (part, name) = (change.part(change.value(self.visit, self.place, form)?), self.place.entry.meta.name);
        let operation = |id: i64| json!({ "method": "update", "id": id, name: part });
        self.apply(operation, "changed", "apply", change.again(form)).await
    }

    async fn delete(&mut self) -> Result<Answer> {
        let operation = |id: i64| json!({ "method": "delete", "id": id });
        self.apply(operation, "deleted", "apply-delete", html! {}).await
    }

    async fn restore(&mut self) -> Result<Answer> {
        let operation = |id: i64| json!({ "method": "restore", "id": id });
        self.apply(operation, "restored", "apply-restore", html! {}).await
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
                div .notice role="status" { p { (self.visit.locale.amounts.records_were(self.place.entry.meta, self.number())) " " (done) "." } }
                p { a .button.primary href=(self.back) { "Back to the list" } }
            };
            return Ok(self.page("Done", &content));
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
        Ok(self.page("Nothing was changed", &content))
    }
}

impl Work<'_> {
    /// The page after a portion: the script goes on from there by itself, people without one press the button.
    fn went(&self, ended: Result<()>, done: &str, step: &str, again: &Markup) -> Result<Answer> {
        let Chosen::All(sweep) = &self.chosen else { return Err(Error::NotFound) };
        let progress = &sweep.progress;
        let said = match ended {
            Err(error @ (Error::Forbidden(_) | Error::NotFound)) => return Err(error),
            Err(error) => Some(error.message(self.visit.asked.request_id.as_deref().unwrap_or("-"))),
            Ok(()) => None,
        };
        let worked = progress.done + progress.refused;
        if progress.is_another {
            return Ok(self.page("The view was changed", &self.of_another(done)));
        }
        let goes_on = said.is_none() && !progress.is_over;
        let title = if progress.is_over {
            "Done".to_string()
        } else {
            format!("{} of {}", self.visit.locale.amounts.count(worked), self.count())
        };
        let content = html! {
            @if !progress.is_over { progress max=(progress.total) value=(worked) aria-label="How far it is" {} }
            @if let Some(said) = &said { div .problem role="alert" { p { strong { "It was interrupted: " } (said) } } }
            (progress.told(&self.visit.locale.amounts, self.place, done))
            @if progress.is_over { p { a .button.primary href=(self.back) { "Back to the list" } } } @else {
                form method="post" action=(self.action()) data-continue[goes_on] {
                    (self.carried(step))
                    (self.begin())
                    (again)
                    div .buttons { button .primary { "Go on" } a .button href=(self.back) { "Stop" } }
                }
            }
        };
        Ok(self.page(&title, &content))
    }
}

impl Work<'_> {
    /// What is said when the list's view is another than the one whose records were shown.
    fn of_another(&self, done: &str) -> Markup {
        let Chosen::All(sweep) = &self.chosen else { return html! {} };
        html! {
            div .problem role="alert" {
                p { strong { "Somebody has changed the view, or the first of its records, since they were shown." } " Nothing more is done." }
            }
            (sweep.progress.told(&self.visit.locale.amounts, self.place, done))
            p { a .button.primary href=(self.back) { "Look at the list again" } }
        }
    }
}
