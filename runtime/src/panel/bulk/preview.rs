//! What will happen to many records, shown before it does.

use maud::{Markup, html};
use serde_json::Value;

use super::bulk::{Chosen, Work};
use super::change::Change;
use super::title::{self, Titles};
use super::{deleted, page, several};
use crate::error::Result;
use crate::meta::{FieldMeta, Operation};
use crate::query::Pair;
use crate::server::Answer;

impl Work<'_> {
    /// The records as they are, by a further part of the query; the latest of very many.
    async fn records(&self, with: &str) -> Result<Vec<Value>> {
        let ids = match &self.chosen {
            Chosen::These(ids) => ids,
            Chosen::All(sweep) => return Ok(sweep.sample.clone()),
        };
        let entry = self.place.entry;
        let replies = several::ask(self.visit, entry, &self.place.collection(), ids, with).await?;
        let records = replies.iter().map(|reply| several::records(entry, reply)).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    pub async fn about_to_delete(&self) -> Result<Answer> {
        if !self.visit.may(self.place.entry, Operation::Delete) {
            return Err(page::not_permitted());
        }
        let records = self.records("").await?;
        let (entry, found) = (self.place.entry, self.found(&records));
        let content = html! {
            div .notice { p { strong { (self.visit.locale.amounts.records(entry.meta, found)) " will be deleted" } (self.manner(found))
                @if !entry.meta.soft_delete { @if found == 1 { " It cannot be brought back." } @else { " They cannot be brought back." } } } }
            (self.conditions().await?)
            (self.names(&records))
            form method="post" action=(self.action()) {
                (self.carried("apply-delete"))
                (self.begin())
                div .buttons { button .danger { "Delete " (self.count()) } (self.cancel()) }
            }
        };
        Ok(self.page(&format!("Delete {}?", self.count()), &content))
    }

    pub async fn about_to_restore(&self) -> Result<Answer> {
        if !deleted::may(self.visit, self.place.entry) {
            return Err(page::not_permitted());
        }
        let records = self.records(deleted::WITH).await?;
        let (entry, found) = (self.place.entry, self.found(&records));
        let content = html! {
            div .notice { p { strong { (self.visit.locale.amounts.records(entry.meta, found)) " will be restored" } (self.manner(found))
                @if found == 1 { " It comes back into every list, as it was." } @else { " They come back into every list, as they were." } } }
            (self.conditions().await?)
            (self.names(&records))
            form method="post" action=(self.action()) {
                (self.carried("apply-restore"))
                (self.begin())
                div .buttons { button .primary { "Restore " (self.count()) } (self.cancel()) }
            }
        };
        Ok(self.page(&format!("Restore {}?", self.count()), &content))
    }

    /// What the records are called.
    fn names(&self, records: &[Value]) -> Markup {
        html! { ul .card .names { @for record in records { li { (title::of(self.place.entry, record)) } } @if let Some(more) = self.more(records) { li { (more) } } } }
    }

    pub async fn about_to_change(&self, change: &Change, form: &[Pair]) -> Result<Answer> {
        let entry = self.place.entry;
        if !self.visit.may(entry, Operation::Update) {
            return Err(page::not_permitted());
        }
        let value = change.value(self.visit, self.place, form)?;
        let new = match change.foreseen(&value) {
            Ok(new) => change.part(new),
            Err(problem) => return Ok(self.ask(change, &value, Some(&problem))),
        };
        let records = self.records("").await?;
        let fields: Vec<&'static FieldMeta> = change.field().into_iter().collect();
        let mut titles = Titles::load(self.visit, entry, &fields, &records).await?;
        titles.extend(Titles::load(self.visit, entry, &fields, std::slice::from_ref(&new)).await?);
        let found = self.found(&records);
        let shown = |record: &Value| change.cell(self.visit, self.place, record, &titles);
        let content = html! {
            div .notice { p { strong { (self.visit.locale.amounts.records(entry.meta, found)) " will be changed" } (self.manner(found)) } }
            (self.conditions().await?)
            div .card.scroll tabindex="0" role="region" aria-label="What will happen" { table {
                thead { tr { th scope="col" { (entry.meta.label) } th scope="col" { "Now" } th scope="col" { "Then" } } }
                tbody { @for record in &records { tr { td { (title::of(entry, record)) } td { (shown(record)) } td { strong { (shown(&new)) } } } } }
            } }
            @if let Some(more) = self.more(&records) { p { (more) } }
            form method="post" action=(self.action()) {
                (self.carried("apply"))
                (self.begin())
                (change.again(form))
                div .buttons { button .primary { "Change " (self.count()) } (self.cancel()) }
            }
        };
        Ok(self.page(&format!("Change {} of {}?", change.label(), self.count()), &content))
    }

    /// How many there are of those that were chosen.
    fn found(&self, records: &[Value]) -> i64 {
        match &self.chosen {
            Chosen::These(_) => records.len() as i64,
            Chosen::All(sweep) => sweep.progress.total,
        }
    }

    /// What is one thing, and what is not.
    fn manner(&self, found: i64) -> &'static str {
        match &self.chosen {
            Chosen::These(_) if found == 1 => ".",
            Chosen::These(_) => ", all or none of them.",
            Chosen::All(_) => {
                ", a hundred at a time, and each for itself: what is refused stays as it is, and what is done by then is done, \
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
        (more > 0).then(|| format!("and {} more", self.visit.locale.amounts.count(more)))
    }
}
