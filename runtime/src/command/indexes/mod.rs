//! The indexes that the resources declare, held against those that the database has and uses: what `doctor` says of them.

mod present;
mod used;

use present::Present;

use crate::context::Context;
use crate::db::Dialect;
use crate::error::Result;
use crate::meta::{FieldMeta, Kind, ResourceMeta};

/// Something about the indexes of a table.
#[derive(Debug)]
pub struct Remark {
    /// The plural of the resource.
    pub kind: &'static str,
    /// The fields, or the index.
    pub name: String,
    /// A clause whose subject is either.
    pub problem: String,
    /// Nothing is wrong: somebody may want to look at it.
    pub advice: bool,
}

/// An index that a resource declares.
#[derive(Debug)]
struct Wanted {
    /// The key that declares it: `indexes`.
    word: &'static str,
    fields: Vec<&'static str>,
    /// What its keys begin with: columns, and `folded <column>`.
    keys: Vec<String>,
    unique: bool,
    substrings: bool,
    /// It has an order, in which rows without a value come first.
    nulls_first: bool,
}

/// What is missing, what the database does not use, and which tables it reads as a whole though they are large. Of a
/// database that has still to be migrated nothing is missing yet: the migrations bring it.
pub async fn remarks(context: &Context<'_>, migrated: bool) -> Result<Vec<Remark>> {
    let mut found = Vec::new();
    let dialect = context.state().db.dialect();
    for entry in context.catalog().entries() {
        let there = present::read(context, entry.meta.table).await?;
        for wanted in wanted(dialect, entry.meta).into_iter().filter(|_| migrated) {
            let fitting: Vec<&Present> = there.iter().filter(|index| wanted.fits(dialect, entry.meta, index)).collect();
            if fitting.iter().any(|index| index.valid) {
                found.extend(used::unplanned(context, entry.meta, &wanted, &fitting).await?);
                continue;
            }
            let problem = match fitting.first() {
                Some(broken) => {
                    format!(
                        "is declared under `{}`, and its index `{}` is not valid: make it again",
                        wanted.word, broken.name
                    )
                }
                None => format!("is declared under `{}`, and no index serves it", wanted.word),
            };
            found.push(Remark { kind: entry.meta.plural, name: wanted.fields.join(", "), problem, advice: false });
        }
        found.extend(used::unused(context, entry.meta, &there).await?);
    }
    Ok(found)
}

/// The indexes that a resource declares, of those that a database has.
fn wanted(dialect: Dialect, meta: &'static ResourceMeta) -> Vec<Wanted> {
    let plain = |word, fields: &[&'static str], unique| Wanted {
        word,
        fields: fields.to_vec(),
        keys: fields.iter().map(ToString::to_string).collect(),
        unique,
        substrings: false,
        nulls_first: false,
    };
    let mut wanted: Vec<Wanted> = meta.unique_sets().map(|set| plain("unique", set, true)).collect();
    wanted.extend(meta.indexes.iter().map(|set| plain("indexes", set, false)));
    for field in meta.fields.iter().filter(|field| meta.ordered.contains(&field.name)) {
        let mut order = plain("ordered", &[field.name], false);
        order.nulls_first = field.nullable;
        if is_folded(field) {
            order.keys.insert(0, format!("folded {}", field.name));
        }
        // SQLite keeps no order of text: no index there may depend on a function of the application.
        if dialect == Dialect::Postgres || !is_folded(field) {
            wanted.push(order);
        }
    }
    for &name in meta.search.iter().filter(|_| dialect == Dialect::Postgres) {
        let keys = vec![format!("folded {name}")];
        wanted.push(Wanted { keys, substrings: true, ..plain("search", &[name], false) });
    }
    wanted
}

/// Whether a list has the values of a field in the order of the folded text.
fn is_folded(field: &FieldMeta) -> bool {
    matches!(field.kind, Kind::String { .. } | Kind::Text | Kind::Enum { .. } | Kind::PolymorphicType { .. })
}

impl Wanted {
    /// Whether an index serves it, if it is valid.
    fn fits(&self, dialect: Dialect, meta: &ResourceMeta, index: &Present) -> bool {
        // What must not repeat may be compared without regard to case: that is narrower, and finds the same.
        let is = |(key, wanted): (&String, &String)| key == wanted || self.unique && *key == format!("folded {wanted}");
        let begins = index.keys.len() >= self.keys.len() && index.keys.iter().zip(&self.keys).all(is);
        let whole = if self.unique { index.unique && index.keys.len() == self.keys.len() } else { true };
        let rows = !index.partial || index.live && meta.soft_delete;
        // Null is the smallest value of SQLite.
        let nulls = !self.nulls_first || index.nulls_first || dialect == Dialect::Sqlite;
        begins && whole && rows && nulls && index.substrings == self.substrings
    }
}
