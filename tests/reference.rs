//! Reference pages agree with the code: the help of every command, the headers of the OpenAPI document, and the limits.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use charter_runtime::config::SETTINGS;
use regex::Regex;
use serde_json::Value;

use crate::check;
use crate::workspace::root;

#[test]
fn tables_of_headers_are_those_of_the_openapi_document() {
    let document = fs::read_to_string(root().join("docs/openapi.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let components = &document["components"];
    let rows = |headers: Vec<(&str, &Value)>| {
        let mut table = String::from("| Header | Meaning | Example |\n|---|---|---|\n");
        for (name, header) in headers {
            let description = header["description"].as_str().unwrap().replace('|', "\\|");
            let example = match &header["example"] {
                Value::String(text) => format!("`{text}`"),
                Value::Null => String::new(),
                other => format!("`{other}`"),
            };
            // The document has two descriptions of this header, which reads and writes take in another sense.
            let name = match name.strip_suffix("-To-Write") {
                Some(name) => format!("`{name}` of a write"),
                None => format!("`{name}`"),
            };
            writeln!(table, "| {name} | {description} | {example} |").unwrap();
        }
        table
    };
    let parameters = components["parameters"].as_object().unwrap().iter().filter(|(_, one)| one["in"] == "header");
    let is_sent = |name: &str| ["x-service-", "webhook-", "traceparent"].iter().any(|start| name.starts_with(start));
    let (deliveries, requests): (Vec<_>, Vec<_>) =
        parameters.map(|(name, one)| (name.as_str(), one)).partition(|(name, _)| is_sent(name));
    assert!(requests.len() > 4 && deliveries.len() > 6, "{requests:?} {deliveries:?}");
    check("docs/headers.md", "request-headers", &rows(requests));
    check("docs/headers.md", "delivery-headers", &rows(deliveries));
    let responses = components["headers"].as_object().unwrap().iter().map(|(name, header)| (name.as_str(), header));
    check("docs/headers.md", "response-headers", &rows(responses.collect()));
}

#[test]
fn page_of_commands_has_the_help_of_each() {
    let mut page = String::new();
    let server = || Command::new(env!("CARGO_BIN_EXE_charter"));
    append_help(&mut page, "charter", &server, &[]);
    let developer = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg("charter").current_dir(root());
        cargo
    };
    append_help(&mut page, "cargo charter", &developer, &[]);
    check("docs/commands.md", "commands", &page);
}

/// Appends the help of a command and of the commands below it.
fn append_help(page: &mut String, program: &str, command: &dyn Fn() -> Command, path: &[&str]) {
    let mut process = command();
    charter_testing::without_settings(&mut process);
    let output = process.args(path).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{program} {path:?}");
    let help = help.split("\nSettings:").next().unwrap().trim_end();
    let title = [&[program], path].concat().join(" ");
    let level = if path.is_empty() { "##" } else { "###" };
    write!(page, "{level} {title}\n\n```text\n{help}\n```\n\n").unwrap();
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap_or_default());
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        append_help(page, program, command, &[path, &[name]].concat());
    }
}

/// A limit as a number of things, bytes or milliseconds.
fn amount(number: &str, unit: &str) -> Option<i128> {
    let number: i128 = number.replace([',', '_'], "").parse().ok()?;
    let factor = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "s" | "seconds" | "from_secs" => 1_000,
        "minute" | "minutes" => 60_000,
        "hour" | "hours" => 3_600_000,
        "day" | "days" => 86_400_000,
        _ => 1,
    };
    Some(number * factor)
}

/// Value of a constant in a source file: a number, a product, a shift, or a duration.
fn constant(file: &str, name: &str) -> Option<i128> {
    let source = fs::read_to_string(root().join(file)).ok()?;
    let definition = Regex::new(&format!(r"(?m)^ *(?:pub(?:\([a-z]+\))? )?const {name}: [^=]+ = ([^;]+);")).unwrap();
    let expression = definition.captures(&source)?[1].trim().to_string();
    let expression = expression.split_once("..=").map_or(&*expression, |(_, last)| last);
    let duration = Regex::new(r"^(?:Duration|TimeDelta)::(\w+)\((.+)\)$").unwrap();
    let (unit, expression) = match duration.captures(expression) {
        Some(parts) => (parts[1].to_string(), parts[2].to_string()),
        None => (String::new(), expression.to_string()),
    };
    let product = match expression.split_once("<<") {
        Some((number, shift)) => amount(number.trim(), "")? << amount(shift.trim(), "")?,
        None => expression.split('*').map(|factor| amount(factor.trim(), "")).product::<Option<i128>>()?,
    };
    amount(&product.to_string(), &unit)
}

#[test]
fn page_of_limits_has_the_values_of_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let in_code = Regex::new(r"^`(\w+)` in `(\S+)`$").unwrap();
    // The last number of a range counts, with its unit.
    let value_form = Regex::new(r"^(?:\d+ to )?([\d,]+)(?: (\w+))?$").unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Limit ")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, value, _, source] = cells.as_slice() else { panic!("{row}") };
        let of_page = value_form
            .captures(value)
            .and_then(|parts| amount(&parts[1], parts.get(2).map_or("", |unit| unit.as_str())));
        let of_code = if let Some(parts) = in_code.captures(source) {
            constant(&parts[2], &parts[1])
        } else if let Some(flag) = source.strip_prefix("setting `").and_then(|rest| rest.strip_suffix('`')) {
            let setting = SETTINGS.iter().find(|setting| setting.flag == flag);
            // A setting without a default has its value in words.
            match setting.unwrap_or_else(|| panic!("unknown setting: {row}")).default {
                "" => continue,
                default if value.ends_with(" s") => amount(default, "s"),
                default => amount(default, ""),
            }
        } else {
            continue;
        };
        compared += 1;
        if of_page.is_none() || of_page != of_code {
            wrong.push(format!("{row}\n    the code has {of_code:?}, the page {of_page:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 60, "only {compared} limits are compared");
}
