//! Typed clients: `clients/client.ts` and `clients/client.py` for `clients/document.json`, without the handwritten part,
//! and the command. `UPDATE=1` writes the differences.

mod compare;
mod outcome;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use charter_codegen::client::{self, Language};
use outcome::ends;
use serde_json::{Value, json};

const RUNTIMES: [&str; 6] = [
    include_str!("../src/client/typescript/runtime.ts"),
    include_str!("../src/client/typescript/values.ts"),
    include_str!("../src/client/typescript/webhook.ts"),
    include_str!("../src/client/python/runtime.py"),
    include_str!("../src/client/python/values.py"),
    include_str!("../src/client/python/webhook.py"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn document(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn written(document: &Value, language: Language) -> String {
    client::write(document, language).unwrap()
}

/// A document with an operation of a resource, for cases about its schemas.
fn with_schemas(schemas: &Value) -> Value {
    let show = json!({ "operationId": "show_order", "x-resource": "orders", "x-operation": "show", "responses": {} });
    json!({ "openapi": "3.1.0", "paths": { "/orders": { "get": show } }, "components": { "schemas": schemas } })
}

#[test]
fn each_language_gives_its_file() {
    let document = document(&folder().join("document.json"));
    let mut differences = Vec::new();
    for (language, file) in [(Language::TypeScript, "client.ts"), (Language::Python, "client.py")] {
        let text = RUNTIMES.iter().fold(written(&document, language), |text, runtime| text.replace(runtime, ""));
        differences.extend(compare::with_file(&folder().join(file), &text));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_operation_and_schema_of_the_records_service_is_in_the_clients() {
    let document = document(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json"));
    let typescript = written(&document, Language::TypeScript);
    let python = written(&document, Language::Python);
    let mut count = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(typescript.contains(&format!("(`{id}`).")), "{path}: {id} is not in the TypeScript client");
            assert!(python.contains(&format!("(``{id}``).")), "{path}: {id} is not in the Python client");
            count += 1;
        }
    }
    assert!(count > 100, "{count} operations");
    // The words for a boolean in forms are no type, because clients send JSON.
    let schemas = document["components"]["schemas"].as_object().unwrap().keys().filter(|name| *name != "BooleanWord");
    for schema in schemas {
        // `Error` is a class of JavaScript.
        let name = if schema == "Error" { "ErrorRecord" } else { schema };
        let is_typed = ["interface", "type"].iter().any(|word| typescript.contains(&format!("export {word} {name} ")));
        assert!(is_typed, "{schema} is not in the TypeScript client");
        let forms = [format!("\nclass {schema}("), format!("\n{schema} = "), format!("\n{schema}: TypeAlias")];
        assert!(forms.iter().any(|form| python.contains(form)), "{schema} is not in the Python client");
    }
}

#[test]
fn keywords_and_type_names_are_allowed_as_names_of_fields() {
    let fields = json!({ "class": { "type": "string" }, "str": { "type": "string" }, "a-b": { "type": "integer" } });
    let document = with_schemas(&json!({ "Order": { "type": "object", "required": ["class"], "properties": fields } }));
    let python = written(&document, Language::Python);
    assert!(python.contains("Order = TypedDict(\n    \"Order\",\n"), "{python}");
    assert!(python.contains("        \"class\": \"str\",\n        \"str\": \"NotRequired[str]\",\n"), "{python}");
    let typescript = written(&document, Language::TypeScript);
    assert!(typescript.contains("  \"a-b\"?: number;\n  class: string;\n  str?: string;\n"), "{typescript}");
}

#[test]
fn schemas_with_the_name_of_a_class_of_the_client_are_renamed() {
    let object = json!({ "type": "object", "properties": {} });
    let of = json!({ "type": "object", "properties": { "promise": { "$ref": "#/components/schemas/Promise" } } });
    let document = with_schemas(&json!({ "Promise": object, "Literal": object, "Order": of }));
    let typescript = written(&document, Language::TypeScript);
    assert!(typescript.contains("export interface PromiseRecord {\n"), "{typescript}");
    assert!(typescript.contains("  promise?: PromiseRecord;\n"), "{typescript}");
    assert!(written(&document, Language::Python).contains("class LiteralRecord(TypedDict):\n"));
}

#[test]
fn schemas_have_types_of_their_first_form() {
    let cases = [
        (json!({ "type": ["string", "null"] }), "string | null"),
        (json!({ "type": ["integer", "string"], "pattern": "^[0-9]+$" }), "number"),
        (json!({ "type": ["string", "number"], "format": "decimal", "pattern": "^[0-9]+$" }), "string"),
        (json!({ "type": ["string", "integer", "boolean"] }), "string | number | boolean"),
        (
            json!({ "anyOf": [{ "type": "boolean" }, { "$ref": "#/components/schemas/Word" }, { "type": "null" }] }),
            "boolean | null",
        ),
        (
            json!({ "anyOf": [{ "type": "integer", "enum": [1, 2] }, { "type": "string", "enum": ["1", "2"] }] }),
            "1 | 2",
        ),
        (json!({ "anyOf": [{ "type": "integer" }, { "const": "" }, { "type": "null" }] }), "number | \"\" | null"),
        // An integer of JavaScript is exact up to 2^53. Ids are smaller, and responses have numbers.
        (
            json!({ "type": ["integer", "string"], "format": "int64", "pattern": "^-?0*[0-9]{1,18}$" }),
            "number | string",
        ),
        (json!({ "type": ["integer", "string", "null"], "format": "int64" }), "number | string | null"),
        (json!({ "type": ["integer", "string"], "format": "int64", "pattern": "^0*[1-9][0-9]{0,17}$" }), "number"),
        (json!({ "type": ["integer", "null"], "format": "int64" }), "number | null"),
        (json!({ "type": "object", "additionalProperties": { "type": "string" } }), "Record<string, string>"),
        (json!({ "type": "array", "items": { "type": ["string", "null"] } }), "readonly (string | null)[]"),
        (json!({}), "unknown"),
    ];
    for (schema, expected) in cases {
        let order = json!({ "type": "object", "properties": { "field": schema } });
        let schemas = json!({ "Order": order, "Word": { "type": "string", "enum": ["true", "false"] } });
        let text = written(&with_schemas(&schemas), Language::TypeScript);
        assert!(text.contains(&format!("  field?: {expected};\n")), "{schema} is not {expected}");
    }
}

#[test]
fn integers_of_64_bits_may_be_texts_in_filters_of_the_typescript_client() {
    let mut document = document(&folder().join("document.json"));
    let schema = &mut document["components"]["parameters"]["q_exchange_rates"]["schema"];
    let number = json!({ "type": ["integer", "number"], "format": "int64" });
    schema["properties"]["size_eq"] = number.clone();
    schema["properties"]["size_in"] = json!({ "type": "string", "x-items": number });
    let typescript = written(&document, Language::TypeScript);
    for line in ["size_eq?: number | string;", "size_in?: readonly (number | string)[];", "id_eq?: number;"] {
        assert!(typescript.contains(&format!("  {line}\n")), "{line}");
    }
    let python = written(&document, Language::Python);
    assert!(python.contains("size_eq: NotRequired[int]\n"), "integers of Python have any size");
}

#[test]
fn action_with_the_name_of_the_iteration_is_refused() {
    let original = document(&folder().join("document.json"));
    let action = json!({ "post": {
        "operationId": "each_exchange_rate", "x-resource": "exchange_rates", "x-operation": "each", "responses": {},
    } });
    let mut document = original.clone();
    document["paths"]["/api/v1/exchange_rates/{id}/each"] = action.clone();
    for language in [Language::TypeScript, Language::Python] {
        let problem = client::write(&document, language).unwrap_err();
        assert_eq!(
            problem,
            "the action `each` of `exchange_rates` has the name of the client's method for all pages of a list: rename \
             the action"
        );
    }
    // A resource without a list has no iteration.
    let mut document = original;
    document["paths"]["/api/v1/meters/{id}/each"] = action;
    document["paths"]["/api/v1/meters/{id}/each"]["post"]["x-resource"] = json!("meters");
    assert!(written(&document, Language::TypeScript).contains("class MetersApi"));
}

#[test]
fn a_schema_that_extends_another_inherits_it() {
    let base = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } });
    let own = json!({ "type": "object", "required": ["value"], "properties": { "value": { "type": "string" } } });
    let all = json!({ "allOf": [{ "$ref": "#/components/schemas/Token" }, own] });
    let document = with_schemas(&json!({ "Token": base, "TokenCreated": all }));
    let typescript = written(&document, Language::TypeScript);
    assert!(typescript.contains("export interface TokenCreated extends Token {\n  value: string;\n}"), "{typescript}");
    assert!(written(&document, Language::Python).contains("class TokenCreated(Token):\n    value: str\n"));
}

/// A folder for the files of a test.
fn project(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn charter(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    command.args(["client"]).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn command_writes_a_file_or_prints_it() {
    let folder = project("writes");
    fs::copy(self::folder().join("document.json"), folder.join("api.json")).unwrap();
    let (out, _) = ends(charter(&folder, &["typescript", "--document", "api.json"]), 0);
    assert_eq!(out, "wrote client.ts\n");
    let (out, _) = ends(charter(&folder, &["python", "--document", "api.json"]), 0);
    assert_eq!(out, "wrote charter_client.py\n");
    for (language, file) in [("typescript", "client.ts"), ("python", "charter_client.py")] {
        let (printed, _) = ends(charter(&folder, &[language, "--document", "api.json", "--out", "-"]), 0);
        assert_eq!(printed, fs::read_to_string(folder.join(file)).unwrap());
    }
    ends(charter(&folder, &["python", "--document", "api.json", "--out", "no/folder/client.py"]), 1);
}

#[test]
fn command_explains_a_document_that_it_cannot_use() {
    let folder = project("refuses");
    let other =
        json!({ "openapi": "3.1.0", "paths": { "/pets": { "get": { "operationId": "pets", "responses": {} } } } });
    for (text, told) in [
        ("{".to_owned(), "api.json is not JSON, as an OpenAPI document must be: "),
        ("{}".to_owned(), "api.json: the document is not OpenAPI 3.1"),
        (
            other.to_string(),
            "api.json: the document is not that of a Charter application: no operation has an `x-resource`",
        ),
    ] {
        fs::write(folder.join("api.json"), text).unwrap();
        let (_, err) = ends(charter(&folder, &["python", "--document", "api.json"]), 2);
        assert!(err.starts_with(told), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    let (_, err) = ends(charter(&folder, &["python", "--document", "missing.json"]), 2);
    assert!(err.starts_with("missing.json cannot be read: "), "{err}");
    let (_, err) = ends(charter(&folder, &["python", "--package", "no-such-application"]), 1);
    assert!(err.contains("the application did not print its OpenAPI document; `--document` names a file"), "{err}");
    assert!(!folder.join("charter_client.py").exists());
}
