//! JSON Schema of an OpenAPI document as types that TypeScript and Python share.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::names::{Names, camel};

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Text,
    Integer,
    /// An integer of 64 bits that a client sends, and that is no id.
    Int64,
    Number,
    Boolean,
    Null,
    Any,
    /// A file to upload.
    File,
    Literal(Literal),
    List(Box<Type>),
    /// An object whose values have this type.
    Map(Box<Type>),
    Named(String),
    /// At least two types.
    Union(Vec<Type>),
    /// The name of a custom field, which the document cannot list.
    CustomField,
}

/// A single value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    pub name: String,
    pub of: Type,
    pub is_required: bool,
    pub description: String,
}

/// A named type.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub name: String,
    pub description: String,
    pub shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// An object with the properties of another one, if it has a base, and its own.
    Object {
        base: Option<String>,
        properties: Vec<Property>,
    },
    /// The query parameters of an operation.
    Parameters {
        base: Option<String>,
        properties: Vec<Property>,
    },
    /// The filters of a list: an object that accepts further keys.
    Filters(Vec<Property>),
    Alias(Type),
}

/// The types of a document, collected while its operations are read.
pub struct Types<'a> {
    document: &'a Value,
    names: Names,
    /// The type name of each schema in `components`.
    components: BTreeMap<String, String>,
    /// The types of schemas that several operations share, by name.
    shared: BTreeMap<String, Type>,
    pub declared: Vec<Declaration>,
}

/// The pattern of the id of a record that a client sends. Ids are small enough for numbers of every language.
const ID: &str = "^0*[1-9][0-9]{0,17}$";

/// A reference to a schema of the document begins so.
const SCHEMAS: &str = "#/components/schemas/";

impl<'a> Types<'a> {
    /// Declares the schemas of the document under their names, or `<name>Record` if the client has a use for that name.
    pub fn of(document: &'a Value, reserved: &[&str]) -> Types<'a> {
        let mut names = Names::reserving(reserved);
        let schemas = || document["components"]["schemas"].as_object().into_iter().flatten();
        let components = schemas()
            .filter(|(_, schema)| !is_boolean_word(schema))
            .map(|(name, _)| {
                let wanted = camel(name);
                let wanted = if reserved.contains(&wanted.as_str()) { wanted + "Record" } else { wanted };
                (name.clone(), names.unique(&wanted))
            })
            .collect();
        let mut types = Types { document, names, components, shared: BTreeMap::new(), declared: Vec::new() };
        for (name, schema) in schemas() {
            if let Some(declared) = types.components.get(name).cloned() {
                types.declare(declared, schema);
            }
        }
        types
    }

    /// A name that no type of the document has.
    pub fn name(&mut self, wanted: &str) -> String {
        self.names.unique(wanted)
    }

    /// Declares a type.
    pub fn add(&mut self, name: String, description: &str, shape: Shape) -> Type {
        self.declared.push(Declaration { name: name.clone(), description: description.to_owned(), shape });
        Type::Named(name)
    }

    /// The type of a schema that is made by `make` the first time only.
    pub fn shared(&mut self, name: &str, make: impl FnOnce(&mut Types<'a>) -> Type) -> Type {
        if let Some(known) = self.shared.get(name) {
            return known.clone();
        }
        let made = make(self);
        self.shared.insert(name.to_owned(), made.clone());
        made
    }

    fn declare(&mut self, name: String, schema: &Value) {
        let shape = if let Some(properties) = schema["properties"].as_object() {
            Shape::Object { base: None, properties: self.properties(schema, properties, &name) }
        } else if let Some(parts) = schema["allOf"].as_array() {
            let base = parts.iter().find_map(|part| self.component(part));
            let own =
                parts.iter().filter_map(|part| Some(self.properties(part, part["properties"].as_object()?, &name)));
            Shape::Object { base, properties: own.flatten().collect() }
        } else {
            Shape::Alias(self.type_of(schema, &name))
        };
        self.add(name, text(schema, "description"), shape);
    }

    /// The properties of an object without those that only the server writes.
    fn properties(&mut self, schema: &Value, properties: &Map<String, Value>, name: &str) -> Vec<Property> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let written = properties.iter().filter(|(_, schema)| schema["readOnly"] != true);
        written
            .map(|(key, schema)| Property {
                name: key.clone(),
                of: self.type_of(schema, &format!("{name}{}", camel(key))),
                is_required: required.contains(&key.as_str()),
                description: text(schema, "description").to_owned(),
            })
            .collect()
    }

    /// The name of the schema that this one refers to.
    fn component(&self, schema: &Value) -> Option<String> {
        self.components.get(schema["$ref"].as_str()?.strip_prefix(SCHEMAS)?).cloned()
    }

    /// The type of a schema. An object inside it is declared under `wanted`.
    pub fn type_of(&mut self, schema: &Value, wanted: &str) -> Type {
        if schema["$ref"].is_string() {
            // The only schemas without a declaration are words for booleans.
            return self.component(schema).map_or(Type::Boolean, Type::Named);
        }
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(values) = schema["enum"].as_array() {
            return union(values.iter().map(literal).collect());
        }
        if let Some(forms) = schema["anyOf"].as_array() {
            return self.any_of(forms, wanted);
        }
        if schema["contentMediaType"] == "application/octet-stream" {
            return Type::File;
        }
        if let Some(content) = schema.get("contentSchema") {
            return self.type_of(content, wanted);
        }
        let named = match &schema["type"] {
            Value::String(name) => vec![name.as_str()],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => return Type::Any,
        };
        let is_nullable = named.contains(&"null");
        let mut forms: Vec<&str> = named.into_iter().filter(|name| *name != "null").collect();
        let has = |form: &str| forms.contains(&form);
        // Only a number that a client sends has a second form.
        let is_int64 = schema["format"] == "int64" && has("integer") && (has("string") || has("number"));
        let is_int64 = is_int64 && schema["pattern"] != ID;
        // A number as text has a pattern. The first form is the one in responses.
        if schema.get("pattern").is_some() || forms.starts_with(&["integer", "number"]) {
            forms.truncate(1);
        }
        let mut types: Vec<Type> = forms.iter().map(|name| self.plain(name, schema, wanted)).collect();
        if is_int64 {
            types = vec![Type::Int64];
        }
        types.extend(is_nullable.then_some(Type::Null));
        union(types)
    }

    fn plain(&mut self, name: &str, schema: &Value, wanted: &str) -> Type {
        match name {
            "string" => Type::Text,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "array" => Type::List(Box::new(self.type_of(&schema["items"], &format!("{wanted}Item")))),
            "object" => match schema["properties"].as_object() {
                Some(properties) => {
                    let name = self.names.unique(wanted);
                    let properties = self.properties(schema, properties, &name);
                    self.add(name, text(schema, "description"), Shape::Object { base: None, properties })
                }
                None => Type::Map(Box::new(self.type_of(&schema["additionalProperties"], &format!("{wanted}Value")))),
            },
            _ => Type::Any,
        }
    }

    fn any_of(&mut self, forms: &[Value], wanted: &str) -> Type {
        let mut types = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let label = variant(form).unwrap_or_else(|| (index + 1).to_string());
            types.push(self.type_of(form, &camel(&format!("{wanted}_{label}"))));
        }
        // The other forms of a boolean or an integer are its text. Constants, such as an empty text, have a meaning.
        let is_scalar = |of: &Type| match of {
            Type::Boolean | Type::Integer | Type::Int64 | Type::Literal(Literal::Integer(_)) => true,
            Type::Union(parts) => parts.iter().all(|part| matches!(part, Type::Literal(Literal::Integer(_)))),
            _ => false,
        };
        if types.first().is_some_and(is_scalar) {
            let mut rest = types.split_off(1);
            rest.retain(|of| matches!(of, Type::Null | Type::Literal(_)));
            types.extend(rest);
        }
        union(types)
    }

    /// The type of a filter's value. A decimal may be a number too.
    pub fn filter(&mut self, schema: &Value, wanted: &str) -> Type {
        if let Some(items) = schema.get("x-items") {
            return Type::List(Box::new(self.filter(items, wanted)));
        }
        match self.type_of(schema, wanted) {
            Type::Number => Type::Union(vec![Type::Text, Type::Number]),
            other => other,
        }
    }

    /// The object at a reference such as `#/components/parameters/page`.
    pub fn resolve<'b>(&self, node: &'b Value) -> &'b Value
    where
        'a: 'b,
    {
        let target = node["$ref"].as_str().and_then(|path| self.document.pointer(path.strip_prefix('#')?));
        target.unwrap_or(node)
    }
}

/// A type for one of several: without duplicates, and itself if there is one.
pub fn union(types: Vec<Type>) -> Type {
    let mut parts: Vec<Type> = Vec::new();
    for of in types {
        let inner = if let Type::Union(inner) = of { inner } else { vec![of] };
        inner.into_iter().for_each(|of| {
            if !parts.contains(&of) {
                parts.push(of)
            }
        });
    }
    match parts.len() {
        0 => Type::Any,
        1 => parts.remove(0),
        _ => Type::Union(parts),
    }
}

fn literal(value: &Value) -> Type {
    match value {
        Value::String(text) => Type::Literal(Literal::Text(text.clone())),
        Value::Bool(value) => Type::Literal(Literal::Boolean(*value)),
        Value::Number(number) => number.as_i64().map_or(Type::Number, |value| Type::Literal(Literal::Integer(value))),
        Value::Null => Type::Null,
        _ => Type::Any,
    }
}

/// The constant of an object that tells it from the other forms, such as its `method`.
fn variant(schema: &Value) -> Option<String> {
    let constant = schema["properties"].as_object()?.values().find_map(|property| property.get("const"))?;
    constant.as_str().map(str::to_owned).or_else(|| constant.as_i64().map(|number| number.to_string()))
}

/// True for the words that stand for a boolean in forms and query strings.
fn is_boolean_word(schema: &Value) -> bool {
    schema["enum"].as_array().is_some_and(|words| words.iter().any(|word| word == "true"))
}

/// A text of an object, or the empty text.
pub fn text<'b>(node: &'b Value, key: &str) -> &'b str {
    node[key].as_str().unwrap_or_default()
}
