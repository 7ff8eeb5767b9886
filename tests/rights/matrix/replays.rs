//! Answers that are kept for a caller: those of idempotency keys, and the report of an import's rehearsal.

use std::fmt::Write;

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{FieldMeta, Kind, Operation};
use serde_json::{Value, json};

use super::callers::Caller;
use super::marker::{Role, value};
use super::request::{ABSENT, replace_number};
use super::valid::{is_set, new_record};
use super::world::World;
use crate::routes::imports::{finished, uploaded};

/// The title of no record.
const ABSENT_TITLE: &str = "zqv9999";

/// The resources of the application that can be created without a parent and without a file.
fn creatable(world: &World) -> impl Iterator<Item = &Entry> {
    world.entries().filter(|entry| {
        let meta = entry.meta;
        let is_plain = meta.under.is_none() && !meta.singleton && !entry.receives_file();
        is_plain && !entry.behavior.is_platform && meta.operations.contains(&Operation::Create)
    })
}

/// The owner of the hidden records, and the reader.
fn pair(world: &World) -> (&Caller, &Caller) {
    let owner = world.callers.iter().find(|caller| caller.owns_hidden()).expect("an owner");
    let reader = world.callers.iter().find(|caller| caller.is_compared()).expect("a reader");
    (owner, reader)
}

/// Answers to the first caller with an idempotency key that a second one with the same key and request receives.
pub async fn problems(world: &World, number: usize) -> String {
    let mut found = String::new();
    let mut replayed = 0;
    for entry in creatable(world) {
        let path = format!("/{}", entry.meta.path);
        let body = new_record(world, entry, number);
        let (owner, reader) = pair(world);
        let send = async |caller: &Caller| {
            caller.client.with("idempotency-key", entry.meta.name).post(&path, body.clone()).await
        };
        let (first, repeated, second) = (send(owner).await, send(owner).await, send(reader).await);
        if first.status != 201 {
            continue;
        }
        replayed += 1;
        let (first, repeated) = (first.created(entry.meta.name), repeated.created(entry.meta.name));
        assert_eq!(first, repeated, "the same caller has the answer replayed");
        let second = second.text;
        if second.contains(&format!("\"id\":{},", first["id"])) {
            writeln!(found, "{} | the key of another caller replays {second}", entry.meta.plural).expect("text grows");
        }
    }
    assert!(replayed >= 5, "{replayed} resources have a replayed answer");
    found
}

/// Reports of rehearsals that tell a hidden record from an absent one, by its id or its title.
pub async fn rehearsals(world: &World, number: usize) -> String {
    let (mut found, mut compared) = (String::new(), 0);
    let (_, reader) = pair(world);
    for entry in creatable(world) {
        let hidden = |field: &&FieldMeta| match field.kind {
            Kind::Ref { resource } | Kind::RefList { resource } | Kind::Links { resource, .. } => {
                is_set(entry, field) && title(world, resource).is_some()
            }
            _ => false,
        };
        let fields: Vec<&FieldMeta> = entry.meta.fields.iter().filter(hidden).collect();
        if fields.is_empty() {
            continue;
        }
        let required = entry.meta.fields.iter().filter(|field| field.required && is_set(entry, field));
        let required: Vec<(&str, Value)> =
            required.filter_map(|field| Some((field.name, value(field, number, None)?))).collect();
        let names = required.iter().map(|(name, _)| *name).chain(fields.iter().map(|field| field.name));
        let mut file = names.collect::<Vec<_>>().join(",");
        let mut pairs = Vec::new();
        for (position, field) in fields.iter().enumerate() {
            let (Kind::Ref { resource } | Kind::RefList { resource } | Kind::Links { resource, .. }) = field.kind
            else {
                continue;
            };
            let (id, title) = title(world, resource).expect("it was filtered by");
            for (known, absent) in [(id.to_string(), ABSENT.to_string()), (title, ABSENT_TITLE.to_string())] {
                for word in [&known, &absent] {
                    let mut cells: Vec<String> =
                        required.iter().map(|(_, value)| value.as_str().unwrap_or("5").to_string()).collect();
                    let last =
                        (0..fields.len()).map(|other| if other == position { word.clone() } else { String::new() });
                    cells.extend(last);
                    write!(file, "\n{}", cells.join(",")).expect("text grows");
                }
                pairs.push((field.name, known, absent));
            }
        }
        let import = uploaded(&reader.client, entry.meta.plural, &file).await;
        finished(&reader.client, &import, "rehearse").await;
        let rows = format!("/imports/{}/rows?sort=number&per_page=100", import["id"]);
        let rows = reader.client.get(&rows).await.records("import_rows");
        assert_eq!(rows.len(), 2 * pairs.len(), "{file}\n{rows:?}");
        for ((field, known, absent), two) in pairs.iter().zip(rows.chunks(2)) {
            let of = |row: &Value| json!([row["outcome"], row["errors"]]).to_string();
            let (of_known, of_absent) = (of(&two[0]), of(&two[1]));
            compared += 1;
            if replace_number(&of_known, known, absent) != of_absent {
                writeln!(found, "rehearsal of {} | {field} {known} | {of_known} {of_absent}", entry.meta.plural)
                    .expect("text grows");
            }
        }
    }
    assert!(compared >= 8, "{compared} references were rehearsed");
    found
}

/// The id and the title of a hidden record.
fn title(world: &World, resource: &str) -> Option<(i64, String)> {
    let entry = world.entry(resource);
    let row = world.row(resource, Role::Hidden).filter(|_| entry.is_restricted)?;
    let field = entry.meta.fields.iter().find(|field| matches!(field.kind, Kind::String { .. }))?;
    let is_it = |marker: &&super::marker::Marker| {
        (marker.resource, marker.role, marker.field) == (resource, Role::Hidden, field.name)
    };
    let title = world.markers.iter().find(is_it)?.value.as_str()?.to_string();
    Some((row.id, title))
}
