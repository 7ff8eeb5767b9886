//! `charter from-db` for a table of pairs, which becomes links of a resource.

use std::fs;
use std::path::Path;

use super::from_db::{execute, passes_the_check};
use super::on_both;
use crate::support::program::Program;

on_both!(
    table_of_pairs_becomes_links_of_the_resource_that_its_name_begins_with,
    table_of_pairs_that_links_cannot_use_is_a_resource_with_the_changes_it_needs,
    table_of_pairs_with_a_value_is_a_resource,
);

/// A table of pairs as a migration of links makes it, with further columns.
fn pairs(backend_id: &str, table: &str, (one, two): (&str, &str), more: &str) -> String {
    format!(
        "CREATE TABLE {table} (id {backend_id}, {one}_id bigint NOT NULL REFERENCES {one}s (id),
             {two}_id bigint NOT NULL REFERENCES {two}s (id), created_at timestamp NOT NULL, updated_at timestamp NOT NULL{more});
         CREATE UNIQUE INDEX {table}_both ON {table} ({one}_id, {two}_id);
         CREATE INDEX {table}_other ON {table} ({two}_id);"
    )
}

fn table_of_pairs_becomes_links_of_the_resource_that_its_name_begins_with(program: Program) {
    program.done(&["migrate"]);
    let tables = |id: &str| {
        // The order of the columns does not decide.
        let turned = "CREATE TABLE currency_products (id {id}, product_id bigint NOT NULL REFERENCES products (id),
             currency_id bigint NOT NULL REFERENCES currencies (id), created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
             CREATE UNIQUE INDEX turned_both ON currency_products (currency_id, product_id);
             CREATE INDEX turned_other ON currency_products (product_id);";
        // No file declares users.
        let users = pairs(id, "user_products", ("product", "user"), "");
        pairs(id, "product_members", ("product", "member"), "") + &users + &turned.replace("{id}", id)
    };
    execute(&program, &tables("INTEGER PRIMARY KEY"), &tables("bigserial PRIMARY KEY"));
    for (table, holder, field, ids) in [
        ("product_members", "product", "members: { many: member, through: product_member }", "member_ids"),
        ("user_products", "product", "users: { many: user, through: user_product }", "user_ids"),
        ("currency_products", "currency", "products: { many: product, through: currency_product }", "product_ids"),
    ] {
        let text = program.done(&["from-db", table]);
        let expected = format!(
            "# The table `{table}` has pairs, and needs no file. Add this field to that of `{holder}`: clients read and write\n\
             # `{ids}`. Then run `cargo charter migration snapshot`.\nfields:\n  {field}\n"
        );
        assert_eq!(text, expected);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("resources/{holder}.yaml"));
        let yaml = fs::read_to_string(file).expect("the resource of the service");
        passes_the_check(&program, holder, &yaml.replacen("\nfields:\n", &format!("\nfields:\n  {field}\n"), 1));
        fs::remove_dir_all(program.path().join(format!("resources-{holder}"))).expect("a folder");
    }
}

fn table_of_pairs_that_links_cannot_use_is_a_resource_with_the_changes_it_needs(program: Program) {
    program.done(&["migrate"]);
    let table = "CREATE TABLE products_by_member (member_id bigint NOT NULL REFERENCES members (id),
         product bigint NOT NULL REFERENCES products (id), PRIMARY KEY (product, member_id))";
    execute(&program, table, table);
    let yaml = program.done(&["from-db", "products_by_member"]);
    let expected =
        "# The table `products_by_member` has pairs. Instead of this file, the one of `product` can have the field
# `members: { many: member, through: products_by_member }`: clients then read and write `member_ids`.
# Before that, a migration must change the table:
# - add the primary key `id`, a 64-bit integer
# - add the timestamp `created_at`
# - add the timestamp `updated_at`
# - rename `product` to `product_id`
# - rename the table to `products_by_members`
# - add a unique index over (product, member_id)
# - add an index over (member_id)
#
# Generated from the table `products_by_member` of ";
    assert!(yaml.starts_with(expected), "{yaml}");
    assert!(yaml.contains("\n  member_id: { type: ref(member), required: true }\n"), "{yaml}");
}

fn table_of_pairs_with_a_value_is_a_resource(program: Program) {
    program.done(&["migrate"]);
    let table = |id: &str| pairs(id, "product_members", ("product", "member"), ", share integer NOT NULL DEFAULT 0");
    execute(&program, &table("INTEGER PRIMARY KEY"), &table("bigserial PRIMARY KEY"));
    let yaml = program.done(&["from-db", "product_members"]);
    assert!(yaml.starts_with("# Generated from") && yaml.contains("\nresource: product_member\n"), "{yaml}");
    assert!(
        !yaml.contains("through") && yaml.contains("\n  product_id: { type: ref(product), required: true }\n"),
        "{yaml}"
    );
}
