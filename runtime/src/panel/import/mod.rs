//! Pages of imports: the upload, the mapping of columns, the report, and the progress.

mod labels;
mod page;
mod upload;

pub(crate) use labels::import_labels;
pub(super) use page::{change_plan, show};
pub(super) use upload::{receive, show_form};

use super::request::PanelRequest;
use charter_core::catalog::Entry;
use charter_core::meta::Operation;
use charter_core::resource::Resource as _;
use charter_platform::import::{is_importable, record};

/// The last segment of the path to which the mapping form is sent.
pub(super) const MAPPING: &str = "mapping";

/// The query parameter of the upload page, and the field of its form.
const ENTITY_TYPE: &str = "entity_type";

/// True for the resource of imports.
pub(super) fn is_import(entry: &Entry) -> bool {
    entry.receives_file() && !entry.is_attached()
}

/// The URL of the upload page, if the user may import records of a resource.
pub(super) fn upload_url(request: &PanelRequest<'_>, entry: &Entry) -> Option<String> {
    let imports = request.state.catalog.linked(record::Entity::meta().name);
    let may = is_importable(entry) && request.may(entry, Operation::Create) && request.may(imports, Operation::Create);
    may.then(|| format!("/{}/new?{ENTITY_TYPE}={}", imports.meta.path, entry.meta.plural))
}
