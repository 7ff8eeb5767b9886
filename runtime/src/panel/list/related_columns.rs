//! Fields of related records that a list can be filtered by: of those that it refers to, such as `product_group.name`, and of
//! those that belong to it, such as `tags.name`.

use std::sync::Arc;

use super::columns::{self, Column};
use crate::panel::format::labels;
use crate::panel::request::PanelRequest;
use charter_core::catalog::Entry;
use charter_core::error::Result;
use charter_core::meta::Kind;
use charter_core::query::{Pair, Planner, RelativeTo};
use charter_model::naming::snake;

/// The columns of a resource, followed by the fields of referred records that the user may filter by.
///
/// # Errors
/// When the database fails.
pub(crate) async fn load(request: &PanelRequest<'_>, entry: &Entry) -> Result<Arc<Vec<Column>>> {
    let own = columns::load(request, entry).await?;
    let related = of(request, entry);
    Ok(if related.is_empty() { own } else { Arc::new([&own[..], &related].concat()) })
}

/// Returns true if a page needs these columns: it has conditions that may name one, or shows the filter form.
pub(super) fn are_needed(pairs: &[Pair]) -> bool {
    let names_one = |pair: &Pair| match pair.name.as_str() {
        "filters" | "view_id" | "tool" | "apply" | "incomplete" => true,
        name => name.starts_with("q[") && name.contains('.') || name.ends_with(".field"),
    };
    pairs.iter().any(names_one)
}

/// The fields of referred records that the API lets the user filter by.
pub(super) fn of(request: &PanelRequest<'_>, entry: &Entry) -> Vec<Column> {
    let catalog = &request.state.catalog;
    let caller = &request.user.principal;
    // Names do not depend on the records that the caller sees, nor on the time.
    let relative_to = RelativeTo::in_utc(request.state.clock.now(), caller.user_id);
    let custom = Default::default();
    let planner = Planner {
        catalog,
        entry,
        custom: &custom,
        deleted: false,
        caller,
        visible: &|_| None,
        relative_to: &relative_to,
    };
    let one = entry.meta.fields.iter().filter(|field| request.may_read_field(entry, field)).filter_map(|via| {
        let Kind::Ref { resource } = via.kind else { return None };
        let relation = via.name.strip_suffix("_id").unwrap_or(via.name);
        Some((relation.to_owned(), labels::field(via), catalog.linked(resource)))
    });
    let many = planner.relations_to_several().map(|(relation, target)| {
        let relation = snake(relation);
        let label = labels::from_name(&relation);
        (relation, label, target)
    });
    let mut found = Vec::new();
    for (relation, label, target) in one.chain(many) {
        for field in target.meta.fields {
            let name = format!("{relation}.{}", field.name);
            if planner.meaning(&name).is_none() {
                continue;
            }
            let column = columns::of_field(catalog, target, field);
            let label = format!("{label}: {}", column.label);
            found.push(Column { name, label, sortable: false, ..column });
        }
    }
    columns::disambiguate_labels(&mut found);
    found.into_iter().map(|column| column.with_script_json(catalog)).collect()
}
