//! `charter from-db`: YAML of an existing table, which `cargo charter check` accepts.

use std::fs;
use std::path::Path;

use sea_orm::{ConnectionTrait, Database, DbBackend};

use super::{blocking, on_both};
use crate::support::program::Program;

on_both!(
    yaml_of_a_table_passes_the_check,
    unique_index_on_rows_not_deleted_becomes_unique,
    defaults_become_yaml_or_a_comment,
    unsuitable_table_or_name_is_refused,
    types_that_begin_like_another_are_omitted,
    table_without_a_usable_id_is_named,
    name_and_defaults_are_what_the_check_accepts,
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
        opens_at time NOT NULL DEFAULT '09:30:00',
        closes_at time,
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
        opens_at time NOT NULL DEFAULT '09:30:00',
        closes_at time,
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

/// Lines of the YAML on both databases.
const LINES: &[&str] = &[
    "resource: box_part",
    "table: box_parts",
    "# To do: add the timestamp `updated_at`.",
    "  name: { type: string(80), required: true }",
    "  sku: { type: string(20), required: true, unique: true }",
    "  label: { type: text, default: \"it's: #1\" }",
    "  # note: it has a unique index, which is not supported for this type.",
    "  note: { type: text, nullable: true }",
    "  price: { type: decimal(12, 2), default: 1.50 }",
    "  # exact: numeric is not limited to 18 digits; choose the digits and places.",
    "  exact: { type: decimal(18, 4), nullable: true }",
    "  weight: { type: decimal(18, 4), nullable: true }",
    "  amount: { type: bigint, default: 3 }",
    "  is_old: { type: boolean, default: false }",
    "  seen_at: { type: timestamp, default: now }",
    "  local: { type: timestamp, nullable: true }",
    "  day: { type: date, nullable: true }",
    "  opens_at: { type: time, default: \"09:30:00\" }",
    "  closes_at: { type: time, nullable: true }",
    "  key: { type: uuid, required: true }",
    "  more: { type: json }",
    "  parent_id: { type: ref(box_part), nullable: true }",
    "  group_id: { type: ref(product_group), required: true }",
    "  # shelf_id: it references `shelves` (id), which is not the id of a resource.",
    "  shelf_id: { type: bigint, nullable: true }",
    "  # shelf_code: it references `shelves` (code), which is not the id of a resource.",
    "  shelf_code: { type: string(9), nullable: true }",
    "  # Omitted: `badName` (text): its name is not in snake_case, or not a valid name in Rust; rename it.",
    "  # Omitted: `self` (text): its name is not in snake_case, or not a valid name in Rust; rename it.",
    "  # Omitted: `twice` (bigint): it is a generated column.",
    "unique: [[name, amount]]",
    "indexes: [[day]]",
    "# Omitted: an index over an expression, which is partial or has a column without an order.",
    "# Omitted: an index over amount, which is partial or has a column without an order.",
];

/// Runs statements on the program's database, and returns its kind.
pub(super) fn execute(program: &Program, sqlite: &str, postgres: &str) -> DbBackend {
    blocking(async {
        let database = Database::connect(program.url()).await.expect("it is there");
        let backend = database.get_database_backend();
        let text = if backend == DbBackend::Sqlite { sqlite } else { postgres };
        database.execute_unprepared(text).await.expect("they are statements");
        database.close().await.expect("it was open");
        backend
    })
}

/// Asserts that `check` accepts the YAML next to the resources of the application, as it is and with the lines after `#:`.
pub(super) fn passes_the_check(program: &Program, name: &str, yaml: &str) {
    let resources = program.path().join(format!("resources-{name}"));
    fs::create_dir(&resources).expect("a new folder");
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("resources")).expect("resources") {
        let path = entry.expect("a file").path();
        fs::copy(&path, resources.join(path.file_name().expect("a name"))).expect("a copy");
    }
    for text in [yaml.to_owned(), yaml.replace("\n#: ", "\n")] {
        fs::write(resources.join(format!("{name}.yaml")), &text).expect("a file");
        let checked = charter_codegen::compile(&resources);
        assert!(checked.is_ok(), "{}\n{text}", checked.err().map(|report| report.render()).unwrap_or_default());
    }
}

fn yaml_of_a_table_passes_the_check(program: Program) {
    program.done(&["migrate"]);
    let backend = execute(&program, SQLITE, POSTGRES);
    let yaml = program.done(&["from-db", "box_parts"]);
    for line in LINES {
        assert!(yaml.lines().any(|written| written == *line), "`{line}` is not in\n{yaml}");
    }
    let own: &[&str] = match backend {
        DbBackend::Sqlite => &[
            "  # Omitted: `raw` (blob): no field type has these values.",
            "  # price: on SQLite a decimal field is a scaled integer: convert the values.",
            "  # key: the default randomblob(16) of the database has no equivalent.",
        ],
        _ => &[
            "  # Omitted: `raw` (bytea): no field type has these values.",
            "  # local: it has no time zone; it becomes a time in UTC.",
            "  # weight: double precision is not exact; it becomes numeric.",
            "  mood: { type: enum, values: [\"calm\", \"on\"], default: \"on\" }",
        ],
    };
    for line in own {
        assert!(yaml.lines().any(|written| written == *line), "`{line}` is not in\n{yaml}");
    }
    passes_the_check(&program, "box_part", &yaml);
    // Under another name, which its reference to itself uses too.
    let named = program.done(&["from-db", "box_parts", "--name", "piece"]);
    assert!(named.contains("\nresource: piece\ntable: box_parts\n") && named.contains("type: ref(piece)"), "{named}");
}

fn unique_index_on_rows_not_deleted_becomes_unique(program: Program) {
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
        "# Omitted: `unique: [{ fields: [name], where: … }]`, with the condition of its index.",
    ] {
        assert!(yaml.lines().any(|written| written == line), "`{line}` is not in\n{yaml}");
    }
    assert_eq!(yaml.matches("# Omitted").count(), 1, "{yaml}");
}

fn defaults_become_yaml_or_a_comment(program: Program) {
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
        &format!("  # day: the default {day} of the database has no equivalent."),
        &format!("  # more: the default {more} of the database has no equivalent."),
    ] {
        assert!(yaml.lines().any(|written| written == line), "`{line}` is not in\n{yaml}");
    }
}

fn unsuitable_table_or_name_is_refused(program: Program) {
    program.done(&["migrate"]);
    let odd = "CREATE TABLE \"OddOnes\" (id bigint PRIMARY KEY); CREATE TABLE keys_alone (id bigint PRIMARY KEY)";
    execute(&program, odd, odd);
    for (arguments, message) in [
        (&["from-db", "keys_alon"][..], "the database has no table `keys_alon`; did you mean `keys_alone`?"),
        (&["from-db", "products"], "the table `products` belongs to the resource `product`"),
        (&["from-db", "OddOnes"], "`OddOnes` is not in snake_case, as the table of a resource must be"),
        (&["from-db", "keys_alone"], "no column of `keys_alone` can be a field of a resource"),
        (
            &["from-db", "keys_alone", "--name", "Key"],
            "`Key` is not in snake_case, or not a valid name in Rust; choose another with `--name`",
        ),
    ] {
        let said = program.run(arguments);
        assert!(said.code == 1 && said.out.is_empty() && said.err.starts_with(message), "{arguments:?}: {said:?}");
    }
}

fn types_that_begin_like_another_are_omitted(program: Program) {
    program.done(&["migrate"]);
    let backend = execute(
        &program,
        "CREATE TABLE arrays (id integer PRIMARY KEY, tags \"varchar(20)[]\" NOT NULL DEFAULT '{}', name text)",
        "CREATE TABLE arrays (id bigserial PRIMARY KEY, tags varchar(20)[] NOT NULL DEFAULT '{}', prices numeric(10,2)[],
             days timestamptz[], docs jsonb[], texts text[], path jsonpath NOT NULL, clock timetz(3), clock_at time(3) with time zone,
             span interval(3), bits bit(8), hundreds numeric(5, -2), code char(5), name text)",
    );
    let yaml = program.done(&["from-db", "arrays"]);
    assert!(yaml.contains("\n  name: { type: text, nullable: true }\n"), "{yaml}");
    let omitted: &[&str] = match backend {
        DbBackend::Sqlite => &["tags"],
        _ => &["tags", "prices", "days", "docs", "texts", "path", "clock", "clock_at", "span", "bits"],
    };
    for name in omitted {
        assert!(
            yaml.contains(&format!("# Omitted: `{name}` (")) && !yaml.contains(&format!("\n  {name}: ")),
            "{name}: {yaml}"
        );
    }
    if backend != DbBackend::Sqlite {
        assert!(yaml.contains("# hundreds: numeric(5,-2) is not limited to 18 digits; choose"), "seven digits: {yaml}");
        assert!(yaml.contains("# code: character(5) fills values with spaces; it becomes varchar"), "{yaml}");
    }
    // Every create would be refused by the database.
    let fails =
        "# To do: `path` is NOT NULL, has no default and is no field, so that every create fails: add a default.";
    assert_eq!(yaml.contains(fails), backend != DbBackend::Sqlite, "{yaml}");
    assert!(!yaml.contains("`tags` is NOT NULL"), "it has a default: {yaml}");
    passes_the_check(&program, "array", &yaml);
}

fn table_without_a_usable_id_is_named(program: Program) {
    program.done(&["migrate"]);
    let tables = |big: &str, made: &str| {
        format!(
            "CREATE TABLE pairs (id {big}, tenant bigint, v text, PRIMARY KEY (tenant, id));
             CREATE TABLE loose (id {big}, v text);
             CREATE TABLE codes (id {big} NOT NULL UNIQUE, code varchar(9) PRIMARY KEY, v text);
             CREATE TABLE given (id {big} PRIMARY KEY, v text);
             CREATE TABLE made (id {made}, v text);"
        )
    };
    // `DESC` makes the column another one than the row id.
    let sqlite = tables("bigint", "INTEGER PRIMARY KEY")
        + "CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, v text);
           CREATE TABLE unrowed (id INTEGER PRIMARY KEY, v text) WITHOUT ROWID";
    let postgres = tables("bigint", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
        + "CREATE TABLE falling (id bigint PRIMARY KEY, v text); CREATE TABLE unrowed (id bigint PRIMARY KEY, v text)";
    execute(&program, &sqlite, &postgres);
    for (table, lines) in [
        (
            "pairs",
            &[
                "`id` is not the primary key (that is (tenant, id)), so that several records can have the same id",
                "`id` is not made by the database",
            ][..],
        ),
        (
            "loose",
            &[
                "`id` is not the primary key (the table has none), so that several records",
                "`id` is not made by the database",
            ],
        ),
        ("codes", &["`id` is not the primary key (that is (code)): make it", "`id` is not made by the database"]),
        ("given", &["`id` is not made by the database, so that every create fails: "]),
        ("falling", &["`id` is not made by the database, so that every create fails: "]),
        ("unrowed", &["`id` is not made by the database, so that every create fails: "]),
        ("made", &[]),
    ] {
        let yaml = program.done(&["from-db", table]);
        let found: Vec<&str> = yaml.lines().filter_map(|line| line.strip_prefix("# To do: `id` ")).collect();
        assert_eq!(found.len(), lines.len(), "{table}: {yaml}");
        for line in lines {
            assert!(yaml.contains(&format!("# To do: {line}")), "`{line}`: {yaml}");
        }
    }
}

fn name_and_defaults_are_what_the_check_accepts(program: Program) {
    program.done(&["migrate"]);
    let tables = |id: &str, exponent: &str| {
        format!(
            "CREATE TABLE statuses (id {id}, factor numeric(5,2) NOT NULL DEFAULT .5, count integer DEFAULT {exponent},
                 code varchar(9) NOT NULL UNIQUE DEFAULT 'x', status text, least numeric(5,2) DEFAULT -.5);
             CREATE TABLE movies (id {id}, name text);
             CREATE TABLE boxes (id {id}, name text);
             CREATE TABLE files (id {id}, name text);
             CREATE TABLE news (id {id}, name text)"
        )
    };
    execute(&program, &tables("integer PRIMARY KEY", "1e3"), &tables("bigserial PRIMARY KEY", "1000"));
    for (table, name) in [
        ("statuses", "status"),
        ("movies", "movie"),
        ("boxes", "box_record"),
        ("files", "file_record"),
        ("news", "news"),
    ] {
        let yaml = program.done(&["from-db", table]);
        assert!(yaml.contains(&format!("\nresource: {name}\ntable: {table}\n")), "{yaml}");
        let is_reserved = name.ends_with("_record");
        assert_eq!(yaml.contains("# To do: choose a name with `--name`; `"), is_reserved, "{yaml}");
        passes_the_check(&program, name, &yaml);
    }
    let yaml = program.done(&["from-db", "statuses"]);
    for line in [
        "  factor: { type: decimal(5, 2), default: 0.5 }",
        "  least: { type: decimal(5, 2), nullable: true, default: -0.5 }",
        "  code: { type: string(9), required: true, unique: true }",
        "  # Omitted: `status` (text): its name is reserved; rename it.",
    ] {
        assert!(yaml.lines().any(|written| written == line), "`{line}` is not in\n{yaml}");
    }
    assert!(yaml.contains("nullable: true, default: 1000 }"), "{yaml}");
    for reserved in ["box", "product", "event"] {
        let said = program.run(&["from-db", "boxes", "--name", reserved]);
        assert!(said.code == 1 && said.err.contains("choose another with `--name`"), "{said:?}");
    }
}
