//! Verification of existing rows by a migration: the rules that are new or narrower, and unique sets.

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// Only a rule that rows from before may break is verified.
#[test]
fn new_and_narrower_rules_are_verified() {
    let yaml = |fields: &str, rest: &str| {
        let fields = format!("  size: {{ type: integer, nullable: true, min: 1{fields} }}\n{rest}");
        taken(&format!("# resources/a.yaml\nresource: a\nfields:\n{fields}"))
    };
    let before = yaml("", "checks: [{ that: size != 7 }]\n");
    let verified = |after: &Snapshot| {
        let plan = Plan::between(&before.kept(), after);
        assert!(!plan.is_awaited(), "{plan:?}");
        plan.verifications()
    };
    let checked = "checks: [{ that: size != 7 }]\n";
    let warns = |rule: &str| vec![format!("warns of rows of `as` that break `{rule}`")];
    assert_eq!(verified(&yaml("", checked)), [""; 0]);
    assert_eq!(verified(&yaml("", "")), [""; 0]);
    assert_eq!(verified(&yaml(", max: 9", checked)), warns("size max: 9"));
    let bounded = |least: &str| {
        taken(&format!(
            "# resources/a.yaml\nresource: a\nfields:\n  size: {{ type: integer, nullable: true, min: {least} }}\n{checked}"
        ))
    };
    assert_eq!(verified(&bounded("2")), warns("size min: 2"));
    assert_eq!(verified(&bounded("0")), [""; 0]);
    assert_eq!(
        verified(&yaml("", "checks: [{ that: size != 8, message: must not be eight }]\n")),
        warns("checks: size != 8")
    );
    // Another message makes no other rule.
    assert_eq!(verified(&yaml("", "checks: [{ that: size != 7, message: must not be seven }]\n")), [""; 0]);
    // SQL has no regular expressions that both databases share.
    let pattern = yaml("", &format!("  code: {{ type: text, nullable: true, pattern: a+ }}\n{checked}"));
    assert_eq!(Plan::between(&before.kept(), &pattern).verifications(), [""; 0]);
}

#[test]
fn a_new_column_is_verified_only_if_its_values_are_unknown() {
    let before = taken("# resources/a.yaml\nresource: a\nfields:\n  size: { type: integer, nullable: true }\n");
    let verified = |field: &str| {
        let after = format!(
            "# resources/a.yaml\nresource: a\nfields:\n  size: {{ type: integer, nullable: true }}\n  new: {{ {field} }}\n"
        );
        Plan::between(&before.kept(), &taken(&after)).verifications()
    };
    let warns = |rule: &str| vec![format!("warns of rows of `as` that break `new {rule}`")];
    assert_eq!(verified("type: integer, default: 5, min: 1"), [""; 0]);
    assert_eq!(verified("type: bigint, default: 'coalesce(size, 3)', min: 1"), warns("min: 1"));
    assert_eq!(verified("type: integer, nullable: true, required_when: size > 3"), warns("required_when: size > 3"));
    assert_eq!(verified("type: integer, nullable: true, differs_from: size"), warns("differs_from: size"));
}

/// A step that stops the migration at once looks at the columns from before, and only if the migration does not change what
/// decides.
#[test]
fn a_new_unique_set_is_checked_before_any_step_that_does_not_decide_it() {
    let fields = "  a: { type: string(9), nullable: true }\n  b: { type: integer, nullable: true }\n";
    let yaml = |fields: &str, set: &str| taken(&format!("# resources/z.yaml\nresource: z\nfields:\n{fields}{set}"));
    let before = yaml(fields, "").kept();
    let first = |fields: &str, set: &str| {
        let plan = Plan::between(&before, &yaml(fields, &format!("unique: [{set}]\n")));
        assert!(plan.unsupported.is_empty(), "{plan:?}");
        let lines = plan.lines();
        let checks = lines.iter().filter(|line| line.contains("check_unique")).count();
        let is_first = lines[0].contains("check_unique");
        assert_eq!(checks, usize::from(is_first), "{lines:?}");
        is_first.then(|| lines[0].clone())
    };
    assert_eq!(first(fields, "[a, b]").unwrap(), "zs.check_unique(set(&[\"a\", \"b\"]))");
    let renamed = fields.replace("a: { type: string(9)", "c: { renamed_from: a, type: string(20)");
    assert_eq!(first(&renamed, "[c, b]").unwrap(), "zs.check_unique(set(&[\"a\", \"b\"]))");
    let of_b = "{ fields: [a], where: b > 1 }";
    assert!(first(fields, of_b).is_some());
    // SQLite stores a decimal of two places as an integer of another size.
    let converted = fields.replace("type: integer", "type: 'decimal(9, 2)'");
    assert_eq!((first(&converted, "[a, b]").is_some(), first(&converted, of_b)), (true, None));
    let filled = fields.replace("type: integer, nullable: true", "type: integer, required: true, backfill: 2");
    assert_eq!(first(&filled, of_b), None);
    let new = format!("{fields}  c: {{ type: integer, default: 1 }}\n");
    assert_eq!(first(&new, "[a, c]"), None);
    let computed =
        fields.replace("b: { type: integer, nullable: true", "b: { type: bigint, nullable: true, value: length(a) * 2");
    assert_eq!(first(&computed, "[a, b]"), None);
}
