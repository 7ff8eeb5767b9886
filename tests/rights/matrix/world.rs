//! A world: the service with records of each resource, made from the metadata alone.

use std::collections::{BTreeMap, BTreeSet};

use charter_runtime::catalog::Entry;
use charter_runtime::db::Dialect;
use charter_runtime::meta::{Access, FieldMeta, Kind, Operation, Rule};
use serde_json::{Map, Value, json};

use super::callers::{Caller, Owners, callers};
use super::fixture::{UNFIT, Vaults};
use super::marker::{MAX_MARKERS, Marker, Role, Variant, markers, value};
use super::platform;
use crate::routes::attachments::Form;
use crate::support::{Client, Database, Fixture};

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub resource: &'static str,
    /// The resource whose ability a caller needs.
    pub holder: &'static str,
    pub role: Role,
    pub id: i64,
    /// The id in its path, of the record that it is under.
    pub parent: Option<i64>,
    /// The records that it refers to, by field.
    pub refers: BTreeMap<&'static str, i64>,
}

pub struct World {
    pub server: Vaults,
    pub rows: Vec<Row>,
    pub markers: Vec<Marker>,
    pub callers: Vec<Caller>,
    pub owners: Owners,
    variant: Variant,
    admin: Client,
    /// Number of values that were made.
    count: usize,
    /// Records that are being made, which nothing can refer to yet.
    begun: BTreeSet<(&'static str, Role)>,
}

/// Name of the custom field of each resource that has any.
const CUSTOM_FIELD: &str = "motive";

impl World {
    pub async fn new(database: Database, variant: Variant) -> World {
        let server = Vaults::start(database).await;
        let admin = server.admin().undescribed();
        let (callers, owners) = callers(&server).await;
        let (rows, markers) = (Vec::new(), Vec::new());
        let mut world =
            World { server, rows, markers, callers, owners, variant, admin, count: 0, begun: BTreeSet::new() };
        platform::use_tokens(&world).await;
        platform::webhooks(&world).await;
        world.fill().await;
        platform::fill(&mut world).await;
        world.doom().await;
        world.freeze().await;
        world
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.server.state.catalog.entries().iter()
    }

    pub fn entry(&self, name: &str) -> &Entry {
        self.server.state.catalog.linked(name)
    }

    pub fn row(&self, resource: &str, role: Role) -> Option<&Row> {
        self.rows.iter().find(|row| row.resource == resource && row.role == role)
    }

    pub fn rows_of<'w>(&'w self, resource: &'w str) -> impl Iterator<Item = &'w Row> {
        self.rows.iter().filter(move |row| row.resource == resource)
    }

    /// True if the worlds differ in a record of the resource.
    pub fn hides_something(&self, resource: &str) -> bool {
        let entry = self.entry(resource);
        let needs_right = |name| entry.field(name).is_some_and(|field| !entry.read_right(field).is_empty());
        let own = self.markers.iter().filter(|marker| marker.resource == resource);
        own.into_iter().any(|marker| marker.role.is_hidden() || needs_right(marker.field))
    }

    /// Another value in each world for what is hidden, the same for everything else.
    pub fn differing(&self, is_hidden: bool) -> Option<Variant> {
        is_hidden.then_some(self.variant)
    }

    pub fn number(&mut self) -> usize {
        self.count += 1;
        assert!(self.count < MAX_MARKERS, "there are too many values for the digits of a marker");
        self.count
    }

    pub fn add(&mut self, resource: &'static str, role: Role, record: &Value, parent: Option<i64>) {
        self.add_with_ability_of(resource, resource, role, record, parent);
    }

    /// Adds a record that needs the ability of `holder`.
    fn add_with_ability_of(
        &mut self,
        resource: &'static str,
        holder: &'static str,
        role: Role,
        record: &Value,
        parent: Option<i64>,
    ) {
        let entry = self.server.state.catalog.linked(resource);
        let id = record["id"].as_i64().expect("an id");
        let reference = |field: &FieldMeta| match field.kind {
            Kind::Ref { .. } => Some((field.name, record[field.name].as_i64()?)),
            _ => None,
        };
        let refers = entry.meta.fields.iter().filter_map(reference).collect();
        self.rows.push(Row { resource, holder, role, id, parent, refers });
        self.markers.extend(markers(entry, holder, role, record));
        for field in entry.meta.fields {
            if let Kind::Embedded { resource, .. } = field.kind {
                for part in record[field.name].as_array().into_iter().flatten() {
                    self.add_with_ability_of(resource, holder, role, part, Some(id));
                }
            }
        }
    }

    async fn fill(&mut self) {
        let application = |entry: &&Entry| !entry.behavior.is_platform;
        let names: Vec<&'static str> = self.entries().filter(application).map(|entry| entry.meta.name).collect();
        for entry in self.entries().filter(|entry| entry.meta.custom_fields) {
            let field = json!({ "entity_type": entry.meta.plural, "name": CUSTOM_FIELD, "field_type": "string" });
            self.admin.post("/custom_fields", field).await.created("custom_field");
        }
        for role in [Role::Open, Role::Bridge, Role::Hidden, Role::Doomed] {
            for name in &names {
                if !role.is_hidden() || self.entry(name).is_restricted {
                    self.make(name, role).await;
                }
            }
        }
        for target in self
            .entries()
            .filter(|entry| entry.meta.attachments && entry.is_restricted)
            .map(|entry| entry.meta.name)
            .collect::<Vec<_>>()
        {
            for role in [Role::Bridge, Role::Hidden] {
                self.attach(target, role).await;
            }
        }
    }

    /// The id of the record with this role, which is made if it can be.
    async fn make(&mut self, name: &'static str, role: Role) -> Option<i64> {
        let state = self.server.state.clone();
        let entry = state.catalog.linked(name);
        // A resource whose records everybody sees has no hidden ones.
        let role = if role.is_hidden() && !entry.is_restricted { Role::Bridge } else { role };
        if let Some(row) = self.row(name, role) {
            return Some(row.id);
        }
        if entry.is_attached() {
            return Box::pin(self.attach("vault", role)).await;
        }
        // Those of the platform are made by hand; users, roles and settings exist from the start.
        if entry.behavior.is_platform || entry.meta.singleton {
            return None;
        }
        let is_embedded = !entry.meta.operations.contains(&Operation::Create);
        if is_embedded || !self.begun.insert((name, role)) {
            return None;
        }
        let mut parent = None;
        let mut path = format!("/{}", entry.meta.path);
        if let Some(under) = entry.meta.under {
            parent = Box::pin(self.make(under.resource, self.of_parent(under.resource, role))).await;
            let over = self.entry(under.resource).meta.path;
            path = format!("/{over}/{}{path}", parent.expect("its parent can be made"));
        }
        let mut body = Map::new();
        for field in entry.meta.fields {
            let is_parent = entry.meta.under.is_some_and(|under| under.field == field.name);
            let is_set = matches!(field.access, Access::Writable | Access::WriteOnly | Access::Immutable);
            if is_set && !is_parent && field.value.is_empty() && !body.contains_key(field.name) {
                Box::pin(self.set(name, field, role, &mut body)).await;
            }
        }
        let answer = self.admin.post(&path, Value::Object(body.clone())).await;
        assert_eq!(answer.status, 201, "{path} {body:?}: {}", answer.text);
        let record = answer.created(entry.meta.name);
        self.add(name, role, &record, parent);
        record["id"].as_i64()
    }

    /// Adds a value of a field to a body.
    async fn set(&mut self, name: &'static str, field: &'static FieldMeta, role: Role, body: &mut Map<String, Value>) {
        let state = self.server.state.clone();
        let entry = state.catalog.linked(name);
        let is_hidden = role.is_hidden() || !entry.read_right(field).is_empty();
        let (number, is_bridge) = (self.number(), role == Role::Bridge);
        let value = match field.kind {
            Kind::Ref { .. } if field.choices == UNFIT => None,
            Kind::Ref { .. } | Kind::RefList { .. } => {
                let (Kind::Ref { resource } | Kind::RefList { resource }) = field.kind else { return };
                let is_parent = entry.parents.iter().any(|parent| parent.field.name == field.name);
                let is_over = |name: &str| entry.meta.under.is_some_and(|under| under.field == name);
                let before = entry.meta.fields.iter().take_while(|other| other.name != field.name);
                let before = before.filter(|other| !is_over(other.name)).any(|other| other.kind == field.kind);
                // A record under another differs from that.
                let is_sibling = entry.meta.under.is_some_and(|under| under.resource == resource);
                let role = if is_parent { self.of_parent(resource, role) } else { role };
                let role = if is_sibling && role == Role::Bridge { Role::Open } else { role };
                let id = self
                    .referred(resource, role, is_parent, before || is_sibling && role == Role::Open && !is_bridge)
                    .await;
                id.map(|id| if matches!(field.kind, Kind::RefList { .. }) { json!([id]) } else { json!(id) })
            }
            Kind::Links { resource, .. } => {
                // A bridge leads to what is hidden as well.
                let roles = [Role::Open, Role::Hidden, Role::Doomed];
                let mut ids = Vec::new();
                for role in roles.into_iter().filter(|role| is_bridge || *role == Role::Open) {
                    ids.extend(Box::pin(self.make(resource, role)).await);
                }
                Some(json!(ids))
            }
            Kind::PolymorphicType { type_names } => {
                let target = self.server.state.catalog.by_type(type_names[0]).expect("it is linked").meta.name;
                let by = |other: &&FieldMeta| matches!(other.kind, Kind::PolymorphicRef { type_field } if type_field == field.name);
                let id_field = entry.meta.fields.iter().find(by).expect("a field with the id");
                let id = self.referred(target, role, false, false).await;
                body.extend(id.map(|id| (id_field.name.to_string(), json!(id))));
                id.map(|_| json!(type_names[0]))
            }
            Kind::Embedded { resource, by } => {
                let part = self.server.state.catalog.linked(resource);
                let mut item = Map::new();
                for inner in
                    part.meta.fields.iter().filter(|inner| inner.name != by && inner.access == Access::Writable)
                {
                    Box::pin(self.set(resource, inner, role, &mut item)).await;
                }
                Some(json!([item]))
            }
            Kind::CustomFields => {
                let text =
                    format!("zq{}{:04}", if is_hidden && self.variant == Variant::Other { 'b' } else { 'a' }, number);
                Some(json!({ CUSTOM_FIELD: text }))
            }
            _ => match exists(field) {
                Some((resource, by)) => {
                    let plural = self.entry(resource).meta.plural;
                    let list = self.admin.get(&format!("/{}?per_page=100", self.entry(resource).meta.path)).await;
                    Some(list.column(plural, by)[number % 100].clone())
                }
                None => value(field, number, self.differing(is_hidden)),
            },
        };
        body.extend(value.map(|value| (field.name.to_string(), value)));
    }

    /// A record is seen with its parent.
    fn of_parent(&self, parent: &str, role: Role) -> Role {
        if role == Role::Bridge && self.entry(parent).is_restricted { Role::Open } else { role }
    }

    /// The id that a record refers to: users own records, and a bridge leads to what is hidden.
    async fn referred(&mut self, resource: &'static str, role: Role, is_parent: bool, is_second: bool) -> Option<i64> {
        if resource == "user" {
            let owner = if role.is_hidden() { &self.owners.other } else { &self.owners.reader };
            return owner["id"].as_i64();
        }
        let role = match role {
            _ if is_parent => role,
            Role::Open if is_second => Role::Bridge,
            Role::Open => Role::Open,
            _ if is_second => Role::Open,
            _ => Role::Hidden,
        };
        if let Some(row) = self.row(resource, role) {
            return Some(row.id);
        }
        Box::pin(self.make(resource, role)).await
    }

    /// Attaches a file with a marker in its name.
    async fn attach(&mut self, target: &'static str, role: Role) -> Option<i64> {
        let id = Box::pin(self.make(target, role)).await?;
        let (number, type_name) = (self.number(), self.entry(target).meta.type_name);
        let letter = if role.is_hidden() && self.variant == Variant::Other { 'b' } else { 'a' };
        let form = Form::default().field("attachable_type", type_name).field("attachable_id", id);
        let file = form.file(&format!("zq{letter}{number:04}.txt"), b"a file");
        let record = file.send(&self.admin).await.created("attachment");
        self.add_with_ability_of("attachment", target, role, &record, None);
        record["id"].as_i64()
    }

    /// Deletes the doomed records in one world, and changes them in the other: the worlds have the same numbers of
    /// records that were made, of writes, and of audit entries.
    async fn doom(&mut self) {
        let doomed: Vec<Row> = self.rows.iter().rev().filter(|row| row.role == Role::Doomed).cloned().collect();
        for row in doomed {
            let state = self.server.state.clone();
            let entry = state.catalog.linked(row.resource);
            if !entry.meta.operations.contains(&Operation::Delete) {
                continue;
            }
            let path = self.path(&row);
            if self.variant == Variant::One {
                self.admin.delete(&path).await.deleted();
                continue;
            }
            let number = self.number();
            let is_text =
                |field: &&FieldMeta| field.access == Access::Writable && matches!(field.kind, Kind::String { .. });
            let field = entry.meta.fields.iter().find(is_text).expect("a text");
            let body = json!({ field.name: value(field, number, Some(self.variant)) });
            self.admin.put(&path, body).await.ok();
        }
    }

    /// Gives all rows the same times, so that entity tags and pages do not differ by them.
    async fn freeze(&self) {
        for column in ["created_at", "updated_at", "deleted_at"] {
            let tables = match self.server.state.db.dialect() {
                Dialect::Sqlite => format!(
                    "SELECT m.name AS text FROM pragma_table_list AS m JOIN pragma_table_info(m.name) AS c ON c.name = '{column}' WHERE m.schema = 'main' AND m.type = 'table'"
                ),
                Dialect::Postgres => format!(
                    "SELECT table_name::text AS text FROM information_schema.columns WHERE column_name = '{column}' AND table_schema = 'public'"
                ),
            };
            // A session that is as old as that has ended.
            for table in self.server.texts(&tables).await.into_iter().filter(|table| table != "user_sessions") {
                let time = "2026-03-01T10:00:00+00:00";
                self.server
                    .sql(&format!("UPDATE \"{table}\" SET {column} = '{time}' WHERE {column} IS NOT NULL"))
                    .await;
            }
        }
    }

    /// The path of a record in the API and the panel.
    pub fn path(&self, row: &Row) -> String {
        format!("{}/{}", self.collection(row), row.id)
    }

    /// The path of the list that has a record.
    pub fn collection(&self, row: &Row) -> String {
        let meta = self.entry(row.resource).meta;
        match (meta.under, row.parent) {
            (Some(under), Some(parent)) => format!("/{}/{parent}/{}", self.entry(under.resource).meta.path, meta.path),
            _ => format!("/{}", meta.path),
        }
    }
}

fn exists(field: &FieldMeta) -> Option<(&'static str, &'static str)> {
    field.rules.iter().find_map(|rule| match rule {
        Rule::Exists { resource, field } => Some((*resource, *field)),
        _ => None,
    })
}
