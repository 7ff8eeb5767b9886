//! Operations of an OpenAPI document, grouped by resource, with the types of their parameters and responses.

mod parameter;
mod read;

pub use self::read::read;
pub use super::schema::Declaration;
use super::schema::{Property, Type};

/// The application that a client is for.
#[derive(Debug)]
pub struct Api {
    pub title: String,
    pub groups: Vec<Group>,
    pub declared: Vec<Declaration>,
    /// The type of each event: the name of the event and that of its type.
    pub events: Vec<(String, String)>,
}

/// The operations of a resource, or those of the service as a whole.
#[derive(Debug)]
pub struct Group {
    /// The plural of the resource, such as `product_groups`.
    pub name: String,
    /// The name of its class.
    pub class: String,
    pub operations: Vec<Operation>,
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    pub id: String,
    /// Its name in the group, such as `list`.
    pub name: String,
    /// In capitals.
    pub method: String,
    /// Such as `/api/v1/products/{id}`.
    pub path: String,
    pub summary: String,
    pub in_path: Vec<Property>,
    pub query: Option<Query>,
    pub body: Option<Body>,
    pub answer: Answer,
    /// For a list, the object of its parameters without `page` and `cursor`, and the key of the records.
    pub pages: Option<Pages>,
    pub takes_if_match: bool,
    pub takes_idempotency_key: bool,
    pub needs_token: bool,
}

impl Operation {
    /// The name of the method that iterates over the records of this list.
    pub fn iterator(&self) -> String {
        self.name.replacen("list", "each", 1)
    }
}

/// The query parameters.
#[derive(Debug)]
pub struct Query {
    /// The object of the parameters without those that select fields.
    pub name: String,
    pub is_required: bool,
    /// The parameters that select fields; the response to them is another one.
    pub selection: Vec<Property>,
    /// The names of all parameters.
    pub names: Vec<String>,
}

#[derive(Debug)]
pub struct Body {
    pub of: Type,
    pub is_required: bool,
    /// True for `multipart/form-data`.
    pub is_form: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub media: Media,
    /// The only key of the response, which the client removes.
    pub key: Option<String>,
    pub of: Type,
    /// The type of the response with selected fields.
    pub selected: Option<Type>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Json,
    Text,
    Bytes,
    Nothing,
}

#[derive(Debug)]
pub struct Pages {
    pub key: String,
    pub parameters: String,
    pub record: Type,
    pub selected: Type,
}
