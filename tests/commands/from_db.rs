//! `charter from-db`: the YAML of a table that is there, which `cargo charter check` accepts.

use std::fs;
use std::path::Path;

use sea_orm::{ConnectionTrait, Database, DbBackend};

use super::{blocking, on_both};
use crate::support::program::Program;

on_both!(
    a_table_becomes_yaml_that_holds,
    what_is_unique_among_records_that_are_not_deleted_is_unique,
    defaults_are_told_as_they_are,
    what_is_no_table_for_it_is_told,
);

const POSTGRES: &str = "
    CREATE TABLE shelves (id bigserial PRIMARY KEY, code varchar(9) UNIQUE);
    CREATE TYPE mood AS ENUM ('calm', 'on');
    CREATE TABLE box_parts (
        id bigserial PRIMARY KEY,
        name varchar(80) NOT NULL,
        sku varchar(20) NOT NULL UNIQUE,
        label text NOT NULL DEFAULT 'it''s: #1',
        note text UNIQUE,
        price numeric(12, 2) NOT NULL DEFAULT 1.50,
        exact numeric,
        weight double precision,
        amount bigint NOT NULL DEFAULT 3,
        is_old boolean NOT NULL DEFAULT false,
        seen_at timestamptz NOT NULL DEFAULT now(),
        local timestamp,
        day date,
        key uuid NOT NULL DEFAULT gen_random_uuid(),
        mood mood NOT NULL DEFAULT 'on',
        more jsonb NOT NULL DEFAULT '{}',
        parent_id bigint REFERENCES box_parts (id),
        group_id bigint NOT NULL REFERENCES product_groups (id),
        shelf_id bigint REFERENCES shelves (id),
        shelf_code varchar(9) REFERENCES shelves (code),
        \"badName\" text,
        self text,
        raw bytea,
        twice bigint GENERATED ALWAYS AS (amount * 2) STORED,
        created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX ON box_parts (name, amount);
    CREATE INDEX ON box_parts (day);
    CREATE INDEX ON box_parts (lower(name));
    CREATE INDEX ON box_parts (amount) WHERE is_old";

const SQLITE: &str = "
    CREATE TABLE shelves (id integer PRIMARY KEY, code varchar(9) UNIQUE);
    CREATE TABLE box_parts (
        id integer PRIMARY KEY,
        name varchar(80) NOT NULL,
        sku varchar(20) NOT NULL UNIQUE,
        label text NOT NULL DEFAULT 'it''s: #1',
        note text UNIQUE,
        price decimal(12, 2) NOT NULL DEFAULT 1.50,
        exact numeric,
        weight double precision,
        amount bigint NOT NULL DEFAULT 3,
        is_old boolean NOT NULL DEFAULT false,
        seen_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
        local datetime,
        day date,
        key uuid NOT NULL DEFAULT (randomblob(16)),
        more json NOT NULL DEFAULT '{}',
        parent_id bigint REFERENCES box_parts,
        group_id bigint NOT NULL REFERENCES product_groups (id),
        shelf_id bigint REFERENCES shelves (id),
        shelf_code varchar(9) REFERENCES shelves (code),
        \"badName\" text,
        self text,
        raw blob,
        twice bigint GENERATED ALWAYS AS (amount * 2) STORED,
        created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
    );
    CREATE UNIQUE INDEX parts_name ON box_parts (name, amount);
    CREATE INDEX parts_day ON box_parts (day);
    CREATE INDEX parts_lower ON box_parts (lower(name));
    CREATE INDEX parts_old ON box_parts (amount) WHERE is_old";

/// What the YAML says on both databases.
const LINES: &[&str] = &[
    "resource: box_part",
    "table: box_parts",
    "# To do: the table has no `updated_at`, which every record has.",
    "  name: { type: string(80), required: true }",
    "  sku: { type: string(20), required: true, unique: true }",
    "  label: { type: text, default: \"it's: #1\" }",
    "  # note: it is unique in the table, of which the type here keeps no order.",
    "  note: { type: text, nullable: true }",
    "  price: { type: decimal(12, 2), default: 1.50 }",
    "  # exact: numeric does not say at most 18 digits; choose how many.",
    "  exact: { type: decimal(18, 4), nullable: true }",
    "  weight: { type: decimal(18, 4), nullable: true }",
    "  amount: { type: bigint, default: 3 }",
    "  is_old: { type: boolean, default: false }",
    "  seen_at: { type: timestamp, default: now }",
    "  local: { type: timestamp, nullable: true }",
    "  day: { type: date, nullable: true }",
    "  key: { type: uuid, required: true }",
    "  more: { type: json }",
    "  parent_id: { type: ref(box_part), nullable: true }",
    "  group_id: { type: ref(product_group), required: true }",
    "  # shelf_id: it refers to `shelves` (id), which is the id of no resource yet.",
    "  shelf_id: { type: bigint, nullable: true }",
    "  # shelf_code: it refers to `shelves` (code), which is the id of no resource yet.",
    "  shelf_code: { type: string(9), nullable: true }",
    "  # Left out: `badName` (text): its name is not in snake_case, or no name in Rust; rename it.",
    "  # Left out: `self` (text): its name is not in snake_case, or no name in Rust; rename it.",
    "  # Left out: `twice` (bigint): the database computes it.",
    "unique: [[name, amount]]",
    "indexes: [[day]]",
    "# Left out: an index over an expression, with a condition or of what has no order.",
    "# Left out: an index over amount, with a condition or of what has no order.",
];

/// Runs statements on the program's database and answers which it is.
fn execute(program: &Program, sqlite: &str, postgres: &str) -> DbBackend {
    blocking(async {
        let database = Database::connect(program.url()).await.expect("it is there");
        let backend = database.get_database_backend();
        let text = if backend == DbBackend::Sqlite { sqlite } else { postgres };
        database.execute_unprepared(text).await.expect("they are statements");
        database.close().await.expect("it was open");
        backend
    })
}

fn a_table_becomes_yaml_that_holds(program: Program) {
    program.done(&["migrate"]);
    let backend = execute(&program, SQLITE, POSTGRES);
    let yaml = program.done(&["from-db", "box_parts"]);
    for line in LINES {
        assert!(yaml.lines().any(|written| written == *line), "`{line}` is not in\n{yaml}");
    }
    let own: &[&str] = match backend {
        DbBackend::Sqlite => &[
            "  # Left out: `raw` (blob): no type of a field holds it.",
            "  # price: SQLite keeps a decimal of a resource as a whole number: convert the values.",
            "  # key: its default is randomblob(16) in the database, and said here by nothing.",
        ],
        _ => &[
            "  # Left out: `raw` (bytea): no type of a field holds it.",
            "  # local: it has no time zone, and becomes a time in UTC.",
            "  # weight: double precision is not exact, and becomes numeric.",
            "  mood: { type: enum, values: [\"calm\", \"on\"], default: \"on\" }",
        ],
    };
    for line in own {
        assert!(yaml.lines().any(|written| written == *line), "`{line}` is not in\n{yaml}");
    }
    let resources = program.path().join("resources");
    fs::create_dir(&resources).expect("a new folder");
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("resources")).expect("resources") {
        let path = entry.expect("a file").path();
        fs::copy(&path, resources.join(path.file_name().expect("a name"))).expect("a copy");
    }
    // As it is, and with all that stands behind `#:`.
    for text in [yaml.clone(), yaml.replace("\n#: ", "\n")] {
        fs::write(resources.join("box_part.yaml"), &text).expect("a file");
        let checked = charter_codegen::compile(&resources);
        assert!(checked.is_ok(), "{}\n{text}", checked.err().map(|report| report.render()).unwrap_or_default());
    }
    // Under another name, which its own reference follows.
    let named = program.done(&["from-db", "box_parts", "--name", "piece"]);
    assert!(named.contains("\nresource: piece\ntable: box_parts\n") && named.contains("type: ref(piece)"), "{named}");
}

fn what_is_unique_among_records_that_are_not_deleted_is_unique(program: Program) {
    program.done(&["migrate"]);
    let columns =
        "name varchar(80) NOT NULL, sku varchar(20) NOT NULL, size integer NOT NULL DEFAULT 0, deleted_at timestamp";
    let table = format!(
        "CREATE TABLE pallets (id bigint PRIMARY KEY, {columns});
         CREATE UNIQUE INDEX pallets_sku ON pallets (sku) WHERE deleted_at IS NULL;
         CREATE UNIQUE INDEX pallets_both ON pallets (\"name\", size)
             WHERE (\"deleted_at\" IS NULL);
         CREATE INDEX pallets_size ON pallets (size) where deleted_at is null;
         CREATE UNIQUE INDEX pallets_name ON pallets (name) WHERE size = 1 AND deleted_at IS NULL"
    );
    execute(&program, &table, &table);
    let yaml = program.done(&["from-db", "pallets"]);
    for line in [
        "delete: soft",
        "  name: { type: string(80), required: true }",
        "  sku: { type: string(20), required: true, unique: true }",
        "unique: [[name, size]]",
        "indexes: [[size]]",
        "# Left out: an index over name, with a condition or of what has no order.",
    ] {
        assert!(yaml.lines().any(|written| written == line), "`{line}` is not in\n{yaml}");
    }
    assert_eq!(yaml.matches("# Left out").count(), 1, "{yaml}");
}

fn defaults_are_told_as_they_are(program: Program) {
    program.done(&["migrate"]);
    let table = |json: &str| {
        format!(
            "CREATE TABLE pallets (id bigint PRIMARY KEY, name varchar(9) NOT NULL DEFAULT 'a::b', path text DEFAULT 'a\\b', sum text DEFAULT ('a' || 'b'),
             line text DEFAULT 'a
b', day date DEFAULT '2026-01-01', more {json} NOT NULL DEFAULT '{{\"a\": \"it''s\"}}')"
        )
    };
    let backend = execute(&program, &table("json"), &table("jsonb"));
    let yaml = program.done(&["from-db", "pallets"]);
    let (day, more) = match backend {
        DbBackend::Sqlite => ("'2026-01-01'", "'{\"a\": \"it''s\"}'"),
        _ => ("'2026-01-01'::date", "'{\"a\": \"it''s\"}'::jsonb"),
    };
    for line in [
        "  name: { type: string(9), default: \"a::b\" }",
        "  path: { type: text, nullable: true, default: \"a\\\\b\" }",
        "  line: { type: text, nullable: true, default: \"a\\nb\" }",
        "  sum: { type: text, nullable: true }",
        &format!("  # day: its default is {day} in the database, and said here by nothing."),
        &format!("  # more: its default is {more} in the database, and said here by nothing."),
    ] {
        assert!(yaml.lines().any(|written| written == line), "`{line}` is not in\n{yaml}");
    }
}

fn what_is_no_table_for_it_is_told(program: Program) {
    program.done(&["migrate"]);
    let odd = "CREATE TABLE \"OddOnes\" (id bigint PRIMARY KEY); CREATE TABLE keys_alone (id bigint PRIMARY KEY)";
    execute(&program, odd, odd);
    for (arguments, told) in [
        (&["from-db", "keys_alon"][..], "the database has no table `keys_alon`; did you mean `keys_alone`?"),
        (&["from-db", "products"], "the table `products` is that of the resource `product`"),
        (&["from-db", "OddOnes"], "`OddOnes` is not a name in snake_case, as the table of a resource has"),
        (&["from-db", "keys_alone"], "no column of `keys_alone` could be a field of a resource"),
        (&["from-db", "keys_alone", "--name", "Key"], "`Key` is not in snake_case, or no name in Rust: `--name`"),
    ] {
        let said = program.run(arguments);
        assert!(said.code == 1 && said.out.is_empty() && said.err.starts_with(told), "{arguments:?}: {said:?}");
    }
}
