//! A list: its conditions, its columns, its pages, and what can be done with the records that are chosen.

use std::borrow::Cow;

use maud::{Markup, html};
use serde_json::Value;

use super::api::Reply;
use super::columns::{self, Column};
use super::condition::Wish;
use super::listing::{Listing, Record};
use super::place::Place;
use super::table::Table;
use super::title::{self, Titles};
use super::tools::Tool;
use super::visit::Visit;
use super::{deleted, filter, page, plot, see, tools, views, words};
use crate::error::Result;
use crate::meta::{FieldMeta, Operation};
use crate::ops::{API, Format};
use crate::query::{Pair, Predicate};
use crate::server::Answer;

/// So many of the latest records lines are drawn of.
const LATEST: &str = "100";

/// The page of a collection.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let entry = place.entry;
    let known = columns::all(visit, entry).await?;
    let mark = deleted::mark(entry).filter(|_| deleted::is_asked(&visit.asked.pairs().unwrap_or_default()));
    let columns = match mark {
        Some(mark) => Cow::Owned([&known[..], &[columns::of_mark(visit, entry, mark)]].concat()),
        None => Cow::Borrowed(&known[..]),
    };
    let mut wish = Wish::read(visit.asked.pairs()?, &columns, visit.locale.zone)?;
    if wish.is_rough {
        // An arrow that was pressed has the focus again, in a menu that is open again.
        let plain = Wish { is_rough: false, page: None, ..wish };
        let Some(arrow) = &plain.arrow else { return Ok(see(&plain.address(place))) };
        return Ok(see(&format!("{}#{}", tools::opened(place, &plain, Tool::Columns), words::escape(arrow))));
    }
    if mark.is_some() && wish.sort.is_none() && wish.view_id.is_none() {
        wish.sort = Some("-deleted_at".into());
    }
    let views = views::Shelf::load(visit, place, wish.view_id).await?;
    // What nobody makes is a log, of which the newest is looked for.
    if wish.sort.is_none() && wish.view_id.is_none() && columns::is_log(entry) {
        wish.sort = Some("-id".into());
    }
    let column = |name: &String| columns.iter().find(|column| column.name == *name);
    let is_known = |names: &Vec<String>| names.iter().any(|name| column(name).is_some());
    // None that is known is as none that was chosen.
    let chosen = wish.columns.clone().filter(is_known);
    let mut names =
        chosen.clone().or_else(|| views.columns().filter(is_known)).unwrap_or_else(|| columns::usual(entry));
    // What is asked of deleted records first of all is when that was.
    names.extend(mark.filter(|_| chosen.is_none()).map(|mark| mark.name.to_string()));
    let shown: Vec<&Column> = names.iter().filter_map(column).collect();
    let asked = wish.api(place, Some(&columns::fields(entry, &shown)));
    let reply = visit.get(&asked).await?;
    let title = if mark.is_some() { deleted::title(entry) } else { words::plural(entry.meta) };
    let parents = title::parents(visit, place).await?;
    let lines = if mark.is_none() && reply.is_success() {
        lines(visit, place, &wish).await?
    } else {
        html! {}
    };
    let list =
        List { visit, place, parents: &parents, wish: &wish, columns: &columns, shown: &shown, views: &views, lines };
    let asking = views.conditions();
    let mut titles = Titles::of_conditions(visit, asking.iter().chain(&wish.rows), &columns).await?;
    if !reply.is_success() {
        if !reply.status.is_client_error() || [403, 404].contains(&reply.status.as_u16()) {
            return Err(reply.error());
        }
        return Ok(page::with_status(visit, reply.status, &title, &list.refused(&reply, &titles)));
    }
    let listing = reply.listing()?;
    let referring: Vec<&'static FieldMeta> = shown.iter().filter_map(|column| column.field).collect();
    titles.extend(Titles::load(visit, entry, &referring, &listing.records).await?);
    let content = list.page(&listing, &titles, &asked);
    Ok(page::answer(visit, &title, &content))
}

/// What a page of a list is made of.
struct List<'l> {
    visit: &'l Visit<'l>,
    place: &'l Place<'l>,
    parents: &'l [(String, String)],
    wish: &'l Wish,
    columns: &'l [Column],
    shown: &'l [&'l Column],
    views: &'l views::Shelf,
    /// What is drawn over the table.
    lines: Markup,
}

/// Lines over time, of the latest that meet the list's conditions, whatever its page and its order show of them.
async fn lines(visit: &Visit<'_>, place: &Place<'_>, wish: &Wish) -> Result<Markup> {
    let Some((fields, sort)) = plot::asked(place.entry) else { return Ok(html! {}) };
    let latest = Wish { sort: Some(sort), page: None, per_page: Some(LATEST.into()), ..wish.clone() };
    let reply = visit.get(&latest.api(place, Some(&fields))).await?;
    Ok(plot::lines(visit, place.entry, &reply.listing()?.records))
}

impl List<'_> {
    fn page(&self, Listing { records, meta }: &Listing<'_>, titles: &Titles, asked: &str) -> Markup {
        let total = meta["total"].as_i64();
        html! {
            (self.head(total, asked))
            @if !self.wish.is_of_deleted() { (self.views.bar(self.visit, self.place, self.wish, self.shown)) }
            (tools::bar(self.visit, self.place, self.wish, self.columns, self.shown, self.views, titles))
            @if records.is_empty() { (self.empty()) } @else {
                (self.lines)
                (self.table(records, titles, total))
                (self.pager(meta, records.len()))
            }
        }
    }

    fn refused(&self, reply: &Reply, titles: &Titles) -> Markup {
        let problem = reply.problem();
        html! {
            (self.head(None, ""))
            (self.views.bar(self.visit, self.place, self.wish, self.shown))
            div .problem role="alert" {
                p { strong { "This list cannot be shown as it is asked for." } }
                ul { @for (name, said) in &problem.errors { li { (self.called(name)) " " (said.join("; ")) } } }
                @if problem.errors.is_empty() { p { (problem.message) } }
                p { a href=(self.place.collection()) { "Show all" } }
            }
            (tools::bar(self.visit, self.place, self.wish, self.columns, self.shown, self.views, titles))
        }
    }

    /// What a parameter that was refused asks about: `q[weight_gt]` is a question about the weight.
    fn called(&self, name: &str) -> Markup {
        let asked = name.strip_prefix("q[").and_then(|rest| rest.strip_suffix(']'));
        let found = asked.and_then(|key| {
            let known = |(field, _): &(&str, Predicate)| self.columns.iter().find(|column| column.name == *field);
            Predicate::splits(key).find_map(|split| known(&split).map(|column| (column, split.1)))
        });
        match found {
            Some((column, predicate)) => {
                html! { strong { (column.label) " " (filter::says(predicate, column.kind)) } ":" }
            }
            None => html! { code { (name) } },
        }
    }

    fn head(&self, total: Option<i64>, asked: &str) -> Markup {
        let (visit, place, entry) = (self.visit, self.place, self.place.entry);
        let mut trail = self.parents.to_vec();
        let of_deleted = self.wish.is_of_deleted();
        if of_deleted {
            trail.push((place.collection(), words::plural(entry.meta)));
        }
        let title = html! {
            @if of_deleted { (deleted::title(entry)) } @else { (words::plural(entry.meta)) }
            @if let Some(total) = total { " " span .count { (self.visit.locale.amounts.count(total)) } }
        };
        let all = self.wish.api(place, None);
        let actions = html! {
            @if !asked.is_empty() {
                details .menu {
                    summary { "Export" }
                    ul {
                        @for format in Format::ALL {
                            @let name = match format { Format::Csv => "CSV", Format::Lines => "Lines of JSON" };
                            li { button type="button" data-export=(format.media_type()) data-address={ "/panel/api" (exported(&all)) } data-name=(entry.meta.plural) { (name) } }
                        }
                        li { button type="button" data-copy=(curl(visit, asked)) { "Copy as curl" } }
                    }
                }
            }
            @if !of_deleted && deleted::may(visit, entry) {
                a .button href=(deleted::address(&place.collection())) { "Deleted" }
            }
            @if !of_deleted && visit.may(entry, Operation::Create) {
                a .button.primary href={ (place.collection()) "/new" } data-new { "New " (words::singular(entry.meta)) }
            }
        };
        page::head(&trail, &title, &actions)
    }

    fn empty(&self) -> Markup {
        let (entry, wish) = (self.place.entry, self.wish);
        let of_deleted = wish.is_of_deleted();
        let others = wish.others.iter().any(|pair| pair.name != "deleted");
        let narrowed = !wish.rows.is_empty() || wish.view_id.is_some() || others;
        let collection = self.place.collection();
        let all = if of_deleted { deleted::address(&collection) } else { collection };
        let beyond = wish.page.as_deref().is_some_and(|page| page != "1");
        html! {
            div .empty {
                (page::mark())
                @if beyond {
                    p { "There is nothing on this page." }
                    p { a .button href=(Wish { page: None, ..wish.clone() }.address(self.place)) { "To the first page" } }
                } @else if narrowed {
                    p { "No " @if of_deleted { "deleted " } (words::singular(entry.meta)) " meets these conditions." }
                    p { a .button href=(all) { "Show all" } }
                } @else if of_deleted {
                    p { "There are no deleted " (words::plural(entry.meta).to_lowercase()) "." }
                    p { a .button href=(self.place.collection()) { "To all that are not" } }
                } @else {
                    p { "There are no " (words::plural(entry.meta).to_lowercase()) " yet." }
                    @if !entry.meta.description.is_empty() { p .faint { (entry.meta.description) } }
                    @if self.visit.may(entry, Operation::Create) {
                        p { a .button.primary href={ (self.place.collection()) "/new" } { "Create the first one" } }
                    }
                }
            }
        }
    }

    fn table(&self, records: &[Record<'_>], titles: &Titles, total: Option<i64>) -> Markup {
        let (visit, place, entry) = (self.visit, self.place, self.place.entry);
        let served = |operation| visit.may(entry, operation);
        let of_deleted = self.wish.is_of_deleted();
        // A deleted record is restored, and nothing else.
        let edits = !of_deleted && served(Operation::Update);
        let deletes = !of_deleted && served(Operation::Delete);
        let restores = of_deleted && deleted::may(visit, entry);
        let bulk = edits || deletes || restores;
        let mut table = Table::new(visit, place, self.shown, titles);
        (table.picks, table.of_deleted) = (bulk, of_deleted);
        html! {
            form method="post" action={ (place.collection()) "/bulk" } data-bulk {
                (page::token(visit))
                input type="hidden" name="_back" value=(visit.asked.address());
                input type="hidden" name="_query" value=(views::query(self.wish));
                div .scroll tabindex="0" role="region" aria-label=(words::plural(entry.meta)) {
                    table .list {
                        thead { tr {
                            @if bulk { th .pick scope="col" { input type="checkbox" data-all aria-label="Select all rows of this page"; } }
                            @for (column, class) in table.columns() { (self.heading(column, class)) }
                        } }
                        tbody {
                            @for record in records { (table.row(record)) }
                        }
                    }
                }
                @if bulk {
                    div .bulk data-bulk-bar {
                        span data-chosen { @if of_deleted { "Choose rows to restore several at once" } @else { "Choose rows to change several at once" } }
                        @if let Some(total) = total.filter(|total| *total > records.len() as i64) {
                            label .box { input type="checkbox" name="_all" value="1"; " All " (self.visit.locale.amounts.count(total)) " that match" }
                        }
                        @if edits { button name="_step" value="edit" { "Edit…" } }
                        @if deletes { button .danger name="_step" value="delete" { "Delete…" } }
                        @if restores { button name="_step" value="restore" { "Restore…" } }
                    }
                }
            }
        }
    }

    fn heading(&self, column: &Column, class: Option<&'static str>) -> Markup {
        let sorted = self.wish.sort.clone().or_else(|| self.views.sort()).unwrap_or_default();
        let (up, down) = (sorted == column.name, sorted.strip_prefix('-') == Some(column.name.as_str()));
        let order = if up {
            Some("ascending")
        } else if down {
            Some("descending")
        } else {
            None
        };
        let next = if up { format!("-{}", column.name) } else { column.name.clone() };
        let to = Wish { sort: Some(next), page: None, ..self.wish.clone() };
        html! {
            th scope="col" class=[class] aria-sort=[order] {
                @if column.sortable {
                    a href=(to.address(self.place)) { (column.label) @if up { " ↑" } @else if down { " ↓" } }
                } @else { (column.label) }
            }
        }
    }

    fn pager(&self, meta: &Value, rows: usize) -> Markup {
        let (page, per_page) = (meta["page"].as_i64().unwrap_or(1), meta["per_page"].as_i64().unwrap_or(20));
        let total = meta["total"].as_i64();
        let first = (page - 1).saturating_mul(per_page) + 1;
        let last = first + rows as i64 - 1;
        let to =
            |page: i64| Wish { page: (page > 1).then(|| page.to_string()), ..self.wish.clone() }.address(self.place);
        let more = total.map_or(rows as i64 == per_page, |total| last < total);
        let number = |number: i64| self.visit.locale.amounts.count(number);
        html! {
            nav .pager aria-label="Pages" {
                p { (number(first)) "–" (number(last)) @if let Some(total) = total { " of " (number(total)) } }
                div {
                    @if page > 1 { a .button href=(to(page - 1)) rel="prev" { "Previous" } }
                    @if more { a .button href=(to(page + 1)) rel="next" { "Next" } }
                    @if let Some(total) = total.filter(|_| more) {
                        a .button href=(to((total + per_page - 1) / per_page)) { "Last" }
                    }
                }
            }
        }
    }
}

/// An export has no pages.
fn exported(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let mut pairs = crate::query::decode(query).unwrap_or_default();
    pairs.retain(|Pair { name, .. }| !["page", "per_page"].contains(&name.as_str()));
    super::condition::address(path, &pairs)
}

/// The request of the API that answers what is seen.
pub fn curl(visit: &Visit<'_>, path: &str) -> String {
    let quoted = path.replace('\'', "%27");
    format!("curl -g -H \"Authorization: Bearer $TOKEN\" '{}{API}{quoted}'", visit.state.base_url())
}
