//! Column types on both databases, and changes to a table that contains rows.

use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::prelude::DateTimeUtc;
use sea_orm_migration::sea_orm::{ConnectionTrait, Statement};

use crate::database::{Database, on_both};

on_both! {
    every_column_type_is_stored_as_documented
    table_with_rows_can_be_changed
    migration_timestamp_sorts_with_those_of_the_application
    changed_column_keeps_rows_indexes_triggers_and_foreign_keys
    count_triggers_are_dropped_before_the_change_that_breaks_them
    search_triggers_are_dropped_before_the_change_that_breaks_them
    expression_indexes_are_dropped_before_the_change_that_breaks_them
    longer_text_type_rewrites_no_row
    long_index_names_do_not_collide
    long_foreign_key_names_do_not_collide
    sorted_list_reads_its_order_index
}

/// The type, nullability and default of each column, from the catalog of the database.
async fn columns(database: &Database, table: &str) -> Vec<String> {
    let query = if database.is_postgres() {
        "SELECT attname || ': ' || format_type(atttypid, atttypmod)
            || CASE WHEN attcollation <> 0 THEN ' ' || attcollation::regcollation ELSE '' END
            || CASE WHEN attnotnull THEN '' ELSE ' null' END || coalesce(' = ' || pg_get_expr(adbin, adrelid), '')
         FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE attrelid = 'TABLE'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
    } else {
        "SELECT name || ': ' || lower(type) || CASE WHEN \"notnull\" THEN '' ELSE ' null' END
            || coalesce(' = ' || dflt_value, '') FROM pragma_table_info('TABLE') ORDER BY cid"
    };
    database.texts(&query.replace("TABLE", table)).await
}

async fn every_column_type_is_stored_as_documented(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let every_type = [
        id(),
        string("string", 40).default("it's"),
        text("text").nullable(),
        enumeration("enumeration").default("a"),
        integer("integer").default(-1),
        bigint("bigint"),
        boolean("boolean").default(true),
        decimal("decimal", 12, 4).default("-0.25"),
        timestamp("timestamp"),
        date("date").nullable(),
        time("time").default("09:30:00"),
        uuid("uuid"),
        json("json"),
        json("json_or_null").nullable(),
        list("list"),
    ];
    Table::on(&manager, "things").create(every_type).await.unwrap();
    let expected = if database.is_postgres() {
        [
            "id: bigint",
            "string: character varying(40) \"C\" = 'it''s'::character varying",
            "text: text \"C\" null",
            "enumeration: character varying(64) \"C\" = 'a'::character varying",
            "integer: integer = '-1'::integer",
            "bigint: bigint",
            "boolean: boolean = true",
            "decimal: numeric(12,4) = '-0.25'::numeric",
            "timestamp: timestamp with time zone",
            "date: date null",
            "time: time without time zone = '09:30:00'::time without time zone",
            "uuid: uuid",
            "json: jsonb = '{}'::jsonb",
            "json_or_null: jsonb null",
            "list: jsonb = '[]'::jsonb",
        ]
    } else {
        [
            "id: integer",
            "string: varchar(40) = 'it''s'",
            "text: text null",
            "enumeration: varchar(64) = 'a'",
            "integer: integer = -1",
            "bigint: bigint",
            "boolean: boolean = TRUE",
            "decimal: bigint = -2500",
            "timestamp: timestamp_with_timezone_text",
            "date: date_text null",
            "time: time_text = '09:30:00'",
            "uuid: uuid_text",
            "json: jsonb_text = '{}'",
            "json_or_null: jsonb_text null",
            "list: jsonb_text = '[]'",
        ]
    };
    assert_eq!(columns(&database, "things").await, expected);
}

async fn table_with_rows_can_be_changed(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    Table::on(&manager, "owners").create([id()]).await.unwrap();
    let things = Table::on(&manager, "things");
    things.create([id(), string("name", 40), timestamp("deleted_at").nullable()]).await.unwrap();
    database.run("INSERT INTO things (name) VALUES ('a')").await.unwrap();

    things.add(decimal("price", 12, 2).default("0.5")).await.unwrap();
    things.add(reference("owner_id", "owners").nullable()).await.unwrap();
    let price = if database.is_postgres() { "0.50" } else { "50" };
    assert_eq!(database.text("SELECT CAST(price AS varchar(9)) FROM things").await, price);
    database.run("UPDATE things SET owner_id = 1").await.unwrap_err();

    things.unique_live(&["name"]).await.unwrap();
    database.run("INSERT INTO things (name) VALUES ('a')").await.unwrap_err();
    database.run("UPDATE things SET deleted_at = NOW").await.unwrap();
    database.run("INSERT INTO things (name) VALUES ('a')").await.unwrap();

    things.index(&["price"]).await.unwrap();
    things.drop_index("things_price_idx").await.unwrap();
    things.drop_index("things_name_trgm").await.unwrap();
    things.remove("price").await.unwrap();
    let names: Vec<String> = columns(&database, "things").await;
    assert!(names.iter().all(|column| !column.starts_with("price")), "{names:?}");
}

/// SQLite compares timestamps as text.
async fn migration_timestamp_sorts_with_those_of_the_application(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let things = Table::on(&manager, "things");
    things.create([id(), timestamp("at").nullable()]).await.unwrap();
    let bound = |statement: &str, at: DateTimeUtc| {
        Statement::from_sql_and_values(database.connection.get_database_backend(), statement, [at.into()])
    };
    let count =
        |text: &str, at: DateTimeUtc| bound(&format!("SELECT count(*) FROM things WHERE id = 2 AND {text}"), at);
    let hour = std::time::Duration::from_secs(3600);
    let before = DateTimeUtc::from(std::time::SystemTime::now() - hour);
    database.connection.execute_raw(bound("INSERT INTO things (at) VALUES ($1)", before)).await.unwrap();
    database.run("INSERT INTO things (at) VALUES (NULL)").await.unwrap();
    things.fill_now(timestamp("at").nullable()).await.unwrap();
    for (text, at) in [("at > $1", before), ("at < $1", before + 2 * hour)] {
        let row = database.connection.query_one_raw(count(text, at)).await.unwrap().unwrap();
        assert_eq!(row.try_get_by_index::<i64>(0).unwrap(), 1, "{text}");
    }
    let written = if database.is_postgres() { "at = date_trunc('second', at)" } else { "length(at) = 25" };
    assert_eq!(
        database.text(&format!("SELECT CAST(count(*) AS varchar(9)) FROM things WHERE id = 2 AND {written}")).await,
        "1"
    );
}

async fn changed_column_keeps_rows_indexes_triggers_and_foreign_keys(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let owners = Table::on(&manager, "owners");
    owners.create([id(), string("name", 40).nullable()]).await.unwrap();
    let things = Table::on(&manager, "things");
    things.create([id(), string("name", 40), reference("owner_id", "owners")]).await.unwrap();
    things.index(&["name"]).await.unwrap();
    if database.is_postgres() {
        let body = "BEGIN INSERT INTO owners (name) VALUES (NEW.name); RETURN NEW; END";
        database.run(&format!("CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")).await.unwrap();
        let trigger = "CREATE TRIGGER log AFTER INSERT ON things FOR EACH ROW EXECUTE FUNCTION log()";
        database.run(trigger).await.unwrap();
    } else {
        let body = "BEGIN INSERT INTO owners (name) VALUES (NEW.name); END";
        database.run(&format!("CREATE TRIGGER log AFTER INSERT ON things {body}")).await.unwrap();
    }
    database.run("INSERT INTO owners (name) VALUES ('o')").await.unwrap();
    for _ in 0..3 {
        database.run("INSERT INTO things (name, owner_id) VALUES ('a', 1)").await.unwrap();
    }
    database.run("DELETE FROM things WHERE id > 1").await.unwrap();

    things.change(string("name", 40), string("name", 80).nullable()).await.unwrap();
    owners.change(string("name", 40).nullable(), text("name").nullable()).await.unwrap();
    database.run("INSERT INTO things (name, owner_id) VALUES ('b', 1)").await.unwrap();
    // The rows, the id sequence, the foreign key, the index, the trigger.
    let rows = "SELECT CAST(id AS varchar(9)) || name FROM things ORDER BY id";
    assert_eq!(database.texts(rows).await, ["1a", "4b"]);
    database.run("INSERT INTO things (name, owner_id) VALUES ('c', 9)").await.unwrap_err();
    database.run("DELETE FROM owners WHERE id = 1").await.unwrap_err();
    assert!(database.tables().await.iter().any(|line| line.contains("things_name_idx")));
    assert_eq!(database.texts("SELECT name FROM owners ORDER BY id").await, ["o", "a", "a", "a", "b"]);
}

async fn count_triggers_are_dropped_before_the_change_that_breaks_them(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    for migration in charter_migrations::platform() {
        migration.up(&manager).await.unwrap();
    }
    let things = Table::on(&manager, "things");
    things.create([id(), string("name", 40), timestamp("deleted_at").nullable()]).await.unwrap();
    let counts = if database.is_postgres() {
        "CREATE TRIGGER charter_count_live_insert AFTER INSERT ON {table} REFERENCING NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION charter_count_live()"
    } else {
        "CREATE TRIGGER charter_count_live_insert_{table} AFTER INSERT ON {table} BEGIN
             UPDATE record_totals SET live = live + (NEW.deleted_at IS NULL) WHERE \"table\" = '{table}'; END"
    };
    let triggers = match database.is_postgres() {
        true => "SELECT tgname::text FROM pg_trigger WHERE tgname LIKE 'charter_count%'",
        false => "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'charter_count%'",
    };
    database.run(&counts.replace("{table}", "things")).await.unwrap();
    things.rename("items").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());

    database.run(&counts.replace("{table}", "items")).await.unwrap();
    let items = Table::on(&manager, "items");
    items.remove("name").await.unwrap();
    assert_eq!(database.texts(triggers).await.len(), 1);
    items.remove("deleted_at").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());
    let row =
        if database.is_postgres() { "INSERT INTO items DEFAULT VALUES" } else { "INSERT INTO items (id) VALUES (1)" };
    database.run(row).await.unwrap();
}

async fn long_index_names_do_not_collide(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let things = Table::on(&manager, "things_with_a_long_name");
    let names = ["a_column_with_a_very_long_name_a", "a_column_with_a_very_long_name_b", "c"];
    things.create(names.map(|name| string(name, 9))).await.unwrap();
    things.index(&names[..2]).await.unwrap();
    things.index(&names).await.unwrap();
    things.unique(&names[..2]).await.unwrap();
    let schema = database.schema().await.join("\n");
    assert_eq!(
        schema.matches("INDEX \"things_with").count() + schema.matches("INDEX things_with").count(),
        3,
        "{schema}"
    );
}

/// PostgreSQL would cut both names to the same 63 bytes, and reject the second.
async fn long_foreign_key_names_do_not_collide(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    Table::on(&manager, "others").create([id()]).await.unwrap();
    let things = Table::on(&manager, "things_with_a_long_name");
    let name = |what: &str| format!("a_reference_with_a_very_long_name_to_what_is_{what}");
    let refers = |what: &str| reference(&name(what), "others").nullable();
    things.create([id(), refers("near"), bigint(&name("far")).nullable()]).await.unwrap();
    things.change(bigint(&name("far")).nullable(), refers("far")).await.unwrap();
    things.rename_column(&name("near"), &name("here")).await.unwrap();
    let wrong = |what: &str| format!("INSERT INTO things_with_a_long_name (id, {}) VALUES (1, 7)", name(what));
    for what in ["here", "far"] {
        assert!(database.run(&wrong(what)).await.is_err(), "{what}");
    }
    // A renamed table has renamed foreign keys, which later changes find.
    things.rename("things_of_another_name").await.unwrap();
    let things = Table::on(&manager, "things_of_another_name");
    let wrong = |what: &str| wrong(what).replace("things_with_a_long_name", "things_of_another_name");
    for what in ["here", "far"] {
        assert!(database.run(&wrong(what)).await.is_err(), "{what}");
        things.change(refers(what), bigint(&name(what)).nullable()).await.unwrap();
    }
    for (id, what) in [(1, "here"), (2, "far")] {
        database.run(&wrong(what).replace("(1,", &format!("({id},"))).await.unwrap();
    }
}

/// In both directions, with NULL too. SQLite has no order index of text.
async fn sorted_list_reads_its_order_index(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    charter_migrations::platform().remove(0).up(&manager).await.unwrap();
    let things = Table::on(&manager, "things");
    let columns = [
        id(),
        string("name", 40),
        string("code", 40).nullable(),
        integer("size"),
        integer("place").nullable(),
        timestamp("deleted_at").nullable(),
    ];
    things.create(columns).await.unwrap();
    things.order(by("name").text()).await.unwrap();
    things.order(by("code").text().nullable().live()).await.unwrap();
    things.order(by("size").live()).await.unwrap();
    things.order(by("place").nullable().live()).await.unwrap();
    database.run_ignoring_errors("SET enable_seqscan = off; SET enable_sort = off").await;
    let (explain, folded) = match database.is_postgres() {
        true => ("EXPLAIN", ["charter_fold(name), name", "charter_fold(code) NULLS, code NULLS"]),
        false => ("EXPLAIN QUERY PLAN", ["", ""]),
    };
    for (index, keys) in [("name", folded[0]), ("code", folded[1]), ("size", "size"), ("place", "place NULLS")] {
        for (direction, nulls) in [("", " NULLS FIRST"), (" DESC", " NULLS LAST")] {
            let keys: Vec<String> =
                keys.split(", ").map(|key| format!("{}{direction}", key.trim_end_matches(" NULLS"))).collect();
            let nulls = if database.is_postgres() && matches!(index, "code" | "place") { nulls } else { "" };
            let order = keys.join(&format!("{nulls}, "));
            let query =
                format!("{explain} SELECT * FROM things WHERE deleted_at IS NULL ORDER BY {order}{nulls}, id LIMIT 20");
            let plan = match database.is_postgres() {
                true => database.texts(&query).await.join("\n"),
                false if index == "name" || index == "code" => continue,
                false => database.plan_details(&query).await.join("\n"),
            };
            assert!(plan.contains(&format!("things_{index}_sort")), "{query}\n{plan}");
        }
    }
    assert_eq!(database.tables().await.iter().any(|line| line.contains("things_name_sort")), database.is_postgres());
}

async fn search_triggers_are_dropped_before_the_change_that_breaks_them(database: Database) {
    if database.is_postgres() {
        return;
    }
    let manager = SchemaManager::new(&database.connection);
    let things = Table::on(&manager, "things");
    things.create([id(), string("name", 40), string("code", 9).nullable()]).await.unwrap();
    let keep = "CREATE TRIGGER charter_search_things_1f3c9a2b_insert AFTER INSERT ON \"things\" WHEN TRUE BEGIN
        INSERT INTO \"charter_search_things_1f3c9a2b\" (rowid, \"name\") VALUES (NEW.\"id\", NEW.\"name\"); END";
    let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    database
        .run("CREATE VIRTUAL TABLE charter_search_things_1f3c9a2b USING fts5(name, content = 'things')")
        .await
        .unwrap();
    database.run(keep).await.unwrap();
    things.remove("code").await.unwrap();
    assert_eq!(database.texts(triggers).await, ["charter_search_things_1f3c9a2b_insert"]);
    things.add(string("code", 9).nullable()).await.unwrap();
    things.remove("name").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());

    things.add(string("name", 40).default("")).await.unwrap();
    database.run(keep).await.unwrap();
    things.rename("items").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());
}

/// As the server creates them for custom fields. The table has the name of a column that not all indexes contain.
async fn expression_indexes_are_dropped_before_the_change_that_breaks_them(database: Database) {
    if database.is_postgres() {
        return;
    }
    let manager = SchemaManager::new(&database.connection);
    let notes = Table::on(&manager, "note");
    let columns = [id(), text("note").nullable(), custom_fields(), timestamp("deleted_at").nullable()];
    notes.create(columns).await.unwrap();
    notes.index_live(&["id"]).await.unwrap();
    notes.index(&["note"]).await.unwrap();
    let value = "json_extract(\"custom_fields\", '$.\"size\"')";
    for index in [
        format!("\"cf_1_a_1f3c9a2b\" ON \"note\" (({value}), \"id\") WHERE \"deleted_at\" IS NULL"),
        format!("\"cf_1_d_1f3c9a2b\" ON \"note\" (({value}) DESC, \"id\")"),
    ] {
        database.run(&format!("CREATE INDEX {index}")).await.unwrap();
    }
    let indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name";
    notes.remove("deleted_at").await.unwrap();
    assert_eq!(database.texts(indexes).await, ["cf_1_d_1f3c9a2b", "note_note_idx"]);
    notes.remove("custom_fields").await.unwrap();
    assert_eq!(database.texts(indexes).await, ["note_note_idx"]);
    notes.remove("note").await.unwrap();
    assert_eq!(database.texts(indexes).await, Vec::<String>::new());
}

async fn longer_text_type_rewrites_no_row(database: Database) {
    if !database.is_postgres() {
        return;
    }
    let manager = SchemaManager::new(&database.connection);
    let things = Table::on(&manager, "things");
    things.create([id(), string("name", 40), enumeration("kind"), string("note", 9).nullable()]).await.unwrap();
    things.unique(&["name"]).await.unwrap();
    database.run("INSERT INTO things (name, kind, note) VALUES ('a', 'b', 'c')").await.unwrap();
    let files =
        "SELECT relfilenode::text FROM pg_class WHERE relname IN ('things', 'things_name_key') ORDER BY relname";
    let before = database.texts(files).await;
    things.change(string("name", 40), string("name", 80)).await.unwrap();
    things.change(enumeration("kind"), string("kind", 64)).await.unwrap();
    things.change(string("note", 9).nullable(), text("note").nullable()).await.unwrap();
    assert_eq!(database.texts(files).await, before);
    let expected = [
        "id: bigint",
        "name: character varying(80) \"C\"",
        "kind: character varying(64) \"C\"",
        "note: text \"C\" null",
    ];
    assert_eq!(columns(&database, "things").await, expected);
    things.change(string("name", 80), string("name", 10)).await.unwrap();
    assert_ne!(database.texts(files).await, before);
}
