//! Attachments of a record: thumbnails, links and upload.

use maud::{Markup, html};
use serde_json::Value;

use super::input;
use crate::language::text;
use crate::panel::format::size::format_size;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::error::Result;
use charter_core::meta::Operation;
use charter_core::ops::protection::Protection;

/// Attachments on a page, the latest first.
const PAGE_SIZE: i64 = 50;

/// Query parameter of the record page: page of the attachments, from 1.
const PAGE_PARAMETER: &str = "files";

/// The card of attachments, if the resource has them.
///
/// A frozen record keeps getting files.
pub(crate) async fn render(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    protection: Option<Protection>,
) -> Result<Markup> {
    let (true, Some(id)) = (target.entry.meta.attachments, target.id) else { return Ok(html! {}) };
    let Some(attached) = request.state.catalog.attached() else { return Ok(html! {}) };
    let parameter = request.raw.query_pairs()?.into_iter().find(|pair| pair.name == PAGE_PARAMETER);
    let page = parameter.and_then(|pair| pair.value.parse::<i64>().ok()).filter(|page| *page > 0).unwrap_or(1);
    let query = format!("sort=-id&per_page={PAGE_SIZE}&page={page}");
    let response = request.get(&format!("{}/{}?{query}", target.path(), attached.meta.path)).await?;
    if !response.is_success() {
        return Ok(html! {});
    }
    let body = response.json()?;
    let files = body[attached.meta.plural].as_array().cloned().unwrap_or_default();
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    let may_update = request.may(target.entry, Operation::Update) && protection != Some(Protection::Rule);
    let page_url = |page: i64| format!("{}?{PAGE_PARAMETER}={page}", target.path());
    Ok(html! {
        section .card {
            h2 { (text!("Files")) " " span .count { (request.locale.numbers.count(total)) } }
            @if may_update {
                form .drop data-upload={ "/panel/api/" (attached.meta.path) } {
                    input type="hidden" name="attachable_type" value=(target.entry.meta.type_name);
                    input type="hidden" name="attachable_id" value=(id);
                    label { span { (text!("Drop files here or choose them")) } input type="file" name="file" multiple; }
                    ul .progress data-progress aria-live="polite" {}
                }
            }
            ul .files { @for file in &files { (render_file(request, attached.meta.path, file, may_update, target)) } }
            @if total > PAGE_SIZE {
                nav .pager aria-label=(text!("Files")) {
                    @if page > 1 { a .button.small href=(page_url(page - 1)) { (text!("Newer files")) } }
                    @if page.saturating_mul(PAGE_SIZE) < total { a .button.small href=(page_url(page + 1)) { (text!("Older files")) } }
                }
            }
        }
    })
}

fn render_file(request: &PanelRequest<'_>, path: &str, file: &Value, may_delete: bool, target: &Target<'_>) -> Markup {
    let name = input::to_text(&file["original_name"]);
    let id = input::to_text(&file["id"]);
    html! {
        li {
            @match file["thumb_url"].as_str() {
                Some(thumb) => { img src=(local_url(request, thumb)) alt="" width="48" height="48" loading="lazy"; }
                None => { span .file aria-hidden="true" { (name.rsplit('.').next().unwrap_or_default().chars().take(4).collect::<String>()) } }
            }
            div {
                a href=(local_url(request, &input::to_text(&file["url"]))) rel="noopener" { (name) }
                p .faint { (format_size(file["file_size"].as_u64().unwrap_or_default())) @if let Some(description) = file["description"].as_str() { " · " (description) } }
            }
            @if may_delete {
                a .button.quiet href={ (target.path()) "/" (path) "/" (id) "/delete" } aria-label=(text!("Delete {name}", name = name)) { "×" }
            }
        }
    }
}

/// A link to this server without its origin: the browser may know the server by another one.
fn local_url(request: &PanelRequest<'_>, link: &str) -> String {
    link.strip_prefix(&request.state.base_url()).unwrap_or(link).to_string()
}
