//! Changes that `cargo charter migration` does not support, reported with their places.

use std::fs;
use std::path::Path;
use std::process::Command;

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

fn plan(before: &str, after: &str) -> Plan {
    Plan::between(&taken(before).kept(), &taken(after))
}

fn refused(before: &str, after: &str) -> Vec<String> {
    plan(before, after).unsupported.iter().map(ToString::to_string).collect()
}

const PRODUCT: &str = "# resources/product.yaml\nresource: product\nfields:\n  size: { type: integer, required: true }\n  \
                       name: { type: string(9), nullable: true }\n";

#[test]
fn an_unsupported_change_has_the_line_of_its_field() {
    let tightened = PRODUCT.replace("nullable", "required");
    let told = "product.name: rows where it is null need a value: add `backfill: <value>`, or a literal `default`\n --> \
                resources/product.yaml:5:3";
    assert_eq!(refused(PRODUCT, &tightened), [told]);
    let renamed = PRODUCT.replace("name: {", "title: { renamed_from: nam,");
    let told = &refused(PRODUCT, &renamed)[0];
    assert!(told.ends_with("did you mean `name`?\n --> resources/product.yaml:5:3"), "{told}");
    let goods = PRODUCT.replace("product", "good").replace("resource: good", "resource: good\nrenamed_from: prodct");
    let told = &refused(PRODUCT, &goods)[0];
    assert!(told.ends_with("did you mean `product`?\n --> resources/good.yaml:2:11"), "{told}");
    // The field of `under` is reported at that key.
    let part = "# resources/part.yaml\nresource: part\n";
    let told = &refused(&format!("{PRODUCT}{part}"), &format!("{PRODUCT}{part}under: product\n"))[0];
    assert!(told.ends_with("\n --> resources/part.yaml:3:8"), "{told}");
}

#[test]
fn swapped_tables_are_reported_with_both_lines() {
    let yaml = "# resources/a.yaml\nresource: a\ntable: ones\n# resources/b.yaml\nresource: b\ntable: others\n";
    let swapped = yaml.replace("ones", "these").replace("others", "ones").replace("these", "others");
    let told = "a, b: they swap their names; rename them in two migrations\n --> resources/a.yaml:2:11\n --> \
                resources/b.yaml:2:11";
    assert_eq!(refused(yaml, &swapped), [told]);
}

#[test]
fn swapped_indexes_are_reported_by_name() {
    let resource = |name: &str, table: &str, field: &str, former: &str| {
        format!(
            "# resources/{name}.yaml\nresource: {name}\ntable: {table}\nfields:\n  {field}: {{ type: string(9), nullable: \
             true, unique: true{former} }}\n"
        )
    };
    let before = resource("one", "a", "b_c", "") + &resource("two", "m_n", "o", "");
    let after = resource("one", "m", "n_o", ", renamed_from: b_c") + &resource("two", "a_b", "c", ", renamed_from: o");
    let told = &refused(&before, &after)[0];
    assert!(told.starts_with("a_b_c_key, m_n_o_key: they swap their names"), "{told}");
}

#[test]
fn a_type_without_a_conversion_is_reported() {
    let text = PRODUCT.replace("type: integer", "type: string(20)");
    let told = "product.size: its type was `integer` and is `string(20)`, and the types have no conversion; \
                the column is created again, and existing rows need a value: add `backfill: <value>`, a literal \
                `default` or `nullable: true`\n --> resources/product.yaml:4:3";
    assert_eq!(refused(PRODUCT, &text), [told]);
    let filled = plan(PRODUCT, &text.replace("required: true", "required: true, backfill: none"));
    assert!(filled.unsupported.is_empty(), "{filled:?}");
    let lost = "product.size: the column `size` and its values: its type was `integer` and is `string(20)`, and the types \
                have no conversion";
    assert_eq!(filled.lost, [lost]);
}

#[test]
fn the_command_prints_the_place_below_the_message() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unsupported");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("resources")).unwrap();
    let charter = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
        command.arg("migration").args(arguments).current_dir(&folder).output().unwrap()
    };
    let yaml = PRODUCT.split_once('\n').unwrap().1;
    fs::write(folder.join("resources/product.yaml"), yaml).unwrap();
    charter(&["snapshot"]);
    fs::write(folder.join("resources/product.yaml"), yaml.replace("nullable", "required")).unwrap();
    let told = String::from_utf8(charter(&["new", "names"]).stderr).unwrap();
    assert!(told.starts_with("the migration cannot be written:\n  product.name: rows"), "{told}");
    assert!(told.ends_with("`default`\n   --> resources/product.yaml:4:3\n"), "{told}");
}
