//! Schema of a table, from the catalogs of the database.

use sea_orm::QueryResult;

use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::{Error, Result};

/// A table. The columns are in their order.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    pub references: Vec<Reference>,
    pub indexes: Vec<Index>,
}

#[derive(Debug, Default)]
pub(crate) struct Column {
    pub name: String,
    /// The type in lower case, as the database writes it: `character varying(20)`.
    pub kind: String,
    pub nullable: bool,
    /// The default expression, as the database writes it.
    pub default: Option<String>,
    /// The values of an enum type.
    pub enum_values: Vec<String>,
    /// A generated column.
    pub computed: bool,
    /// Position in the primary key, from 1; 0 for a column outside of it.
    pub key: i64,
    /// The database makes its values: an identity column, or on SQLite the row id.
    pub identity: bool,
}

impl Table {
    /// The columns of the primary key, in its order.
    pub(crate) fn key(&self) -> impl Iterator<Item = &str> {
        let mut key: Vec<&Column> = self.columns.iter().filter(|column| column.key > 0).collect();
        key.sort_by_key(|column| column.key);
        key.into_iter().map(|column| column.name.as_str())
    }
}

/// A foreign key.
#[derive(Debug)]
pub(crate) struct Reference {
    pub columns: Vec<String>,
    pub table: String,
    /// The referenced columns.
    pub targets: Vec<String>,
}

/// An index, other than that of the primary key.
#[derive(Debug)]
pub(crate) struct Index {
    /// `None` if the index has an expression.
    pub columns: Option<Vec<String>>,
    pub unique: bool,
    /// A partial index with another condition than `deleted_at IS NULL`, which every index of a resource with `delete: soft` has.
    pub partial: bool,
}

/// The names of all tables, without system tables.
pub(crate) async fn names(dialect: Dialect, connection: &Connection) -> Result<Vec<String>> {
    let text = match dialect {
        Dialect::Sqlite => {
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        }
        Dialect::Postgres => {
            "SELECT relname::text AS name FROM pg_class
             WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace ORDER BY relname"
        }
    };
    let rows = Sql::new(dialect, text).all(connection).await?;
    rows.iter().map(|row| Ok(row.try_get("", "name")?)).collect()
}

/// Reads an existing table.
pub(crate) async fn read(dialect: Dialect, connection: &Connection, table: &str) -> Result<Table> {
    let query = async |text: &str| {
        let (before, after) = text.split_once("{table}").unwrap_or((text, ""));
        let mut sql = Sql::new(dialect, before);
        sql.bind(table).push(after);
        sql.all(connection).await
    };
    let (columns, references, indexes) = match dialect {
        Dialect::Sqlite => (SQLITE_COLUMNS, SQLITE_REFERENCES, SQLITE_INDEXES),
        Dialect::Postgres => (POSTGRES_COLUMNS, POSTGRES_REFERENCES, POSTGRES_INDEXES),
    };
    let mut found = Table::default();
    for row in query(columns).await? {
        found.columns.push(Column {
            name: row.try_get("", "name")?,
            kind: row.try_get::<String>("", "kind")?.to_lowercase(),
            nullable: row.try_get::<i64>("", "nullable")? == 1,
            default: row.try_get("", "fallback")?,
            enum_values: list(&row, "words")?,
            computed: row.try_get::<i64>("", "computed")? == 1,
            key: row.try_get("", "key")?,
            identity: row.try_get::<i64>("", "identity")? == 1,
        });
    }
    for row in query(references).await? {
        let targets = list(&row, "targets")?;
        found.references.push(Reference {
            columns: list(&row, "columns")?,
            table: row.try_get("", "target")?,
            // SQLite leaves out the referenced columns if they are the primary key.
            targets: if targets.is_empty() { vec!["id".to_owned()] } else { targets },
        });
    }
    for row in query(indexes).await? {
        let whole = row.try_get::<i64>("", "expressions")? == 0;
        found.indexes.push(Index {
            columns: whole.then(|| list(&row, "columns")).transpose()?,
            unique: row.try_get::<i64>("", "is_unique")? == 1,
            partial: row.try_get::<i64>("", "partial")? == 1,
        });
    }
    Ok(found)
}

/// A list of names, which both databases return as JSON because names can contain any separator.
fn list(row: &QueryResult, column: &str) -> Result<Vec<String>> {
    let text: Option<String> = row.try_get("", column)?;
    let Some(text) = text else { return Ok(Vec::new()) };
    let names: Vec<Option<String>> = serde_json::from_str(&text).map_err(Error::internal)?;
    Ok(names.into_iter().flatten().collect())
}

// A primary key without an index of its own is the row id, which SQLite makes: `INTEGER PRIMARY KEY`, but neither
// `BIGINT PRIMARY KEY` nor `INTEGER PRIMARY KEY DESC`.
const SQLITE_COLUMNS: &str = "
    WITH t(name) AS (SELECT {table})
    SELECT x.name, x.type AS kind, CAST(x.\"notnull\" = 0 AS integer) AS nullable, x.dflt_value AS fallback,
           NULL AS words, CAST(x.hidden IN (2, 3) AS integer) AS computed, CAST(x.pk AS integer) AS \"key\",
           CAST(x.pk = 1 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) AS i WHERE i.origin = 'pk') AS integer)
               AS \"identity\"
    FROM t, pragma_table_xinfo(t.name) AS x WHERE x.hidden <> 1 ORDER BY x.cid";

const SQLITE_REFERENCES: &str = "
    SELECT \"table\" AS target, json_group_array(\"from\") AS columns, json_group_array(\"to\") AS targets
    FROM (SELECT * FROM pragma_foreign_key_list({table}) ORDER BY id, seq) GROUP BY id ORDER BY id DESC";

const SQLITE_INDEXES: &str = "
    SELECT i.name, CAST(i.\"unique\" AS integer) AS is_unique,
           CAST(i.partial AND trim(substr(s.said, instr(s.said, ' where ') + 7)) <> 'deleted_at is null' AS integer) AS partial,
           json_group_array(x.name) AS columns, CAST(sum(x.name IS NULL) AS integer) AS expressions
    FROM pragma_index_list({table}) AS i JOIN pragma_index_xinfo(i.name) AS x ON x.key = 1
         LEFT JOIN (SELECT name, lower(replace(replace(replace(replace(sql, '\"', ''), '(', ' '), ')', ' '), char(10), ' '))
                        AS said FROM sqlite_schema WHERE type = 'index') AS s ON s.name = i.name
    WHERE i.origin <> 'pk' GROUP BY i.name ORDER BY i.seq DESC";

const POSTGRES_COLUMNS: &str = "
    SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS kind,
           (NOT a.attnotnull)::int::bigint AS nullable,
           CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END AS fallback,
           (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = a.atttypid)::text
               AS words,
           (a.attgenerated <> '')::int::bigint AS computed, (a.attidentity <> '')::int::bigint AS \"identity\",
           coalesce((SELECT n.at FROM pg_index i, unnest(i.indkey::int[]) WITH ORDINALITY AS n(number, at)
                     WHERE i.indrelid = c.oid AND i.indisprimary AND n.number = a.attnum), 0)::bigint AS \"key\"
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
         LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = {table} AND c.relkind IN ('r', 'p')
          AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

const POSTGRES_REFERENCES: &str = "
    SELECT f.relname::text AS target,
           (SELECT json_agg(a.attname ORDER BY n.at) FROM unnest(k.conkey) WITH ORDINALITY AS n(number, at)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.number)::text AS columns,
           (SELECT json_agg(a.attname ORDER BY n.at) FROM unnest(k.confkey) WITH ORDINALITY AS n(number, at)
            JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = n.number)::text AS targets
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
    WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace AND c.relname = {table} ORDER BY k.oid";

const POSTGRES_INDEXES: &str = "
    SELECT i.indisunique::int::bigint AS is_unique,
           coalesce(pg_get_expr(i.indpred, i.indrelid) <> '(deleted_at IS NULL)', false)::int::bigint AS partial,
           (SELECT json_agg(a.attname ORDER BY n.at) FROM unnest(i.indkey::int[]) WITH ORDINALITY AS n(number, at)
            LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = n.number
            WHERE n.at <= i.indnkeyatts)::text AS columns,
           (SELECT count(*) FROM unnest(i.indkey::int[]) WITH ORDINALITY AS n(number, at)
            WHERE n.number = 0 AND n.at <= i.indnkeyatts) AS expressions
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE NOT i.indisprimary AND c.relnamespace = current_schema()::regnamespace AND c.relname = {table}
    ORDER BY i.indexrelid";
