//! JSON tree whose objects keep their insertion order, so that the document has the order of the declarations.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Value(Value),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// An empty object.
    pub fn object() -> Node {
        Node::Object(Vec::new())
    }

    /// Adds or replaces an entry of an object.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Node>) -> Node {
        self.set(key, value);
        self
    }

    /// Adds an entry if there is a value.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<Node>>) -> Node {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Removes an entry of an object.
    #[must_use]
    pub fn without(mut self, key: &str) -> Node {
        if let Node::Object(entries) = &mut self {
            entries.retain(|(known, _)| known != key);
        }
        self
    }

    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Node>) {
        let Node::Object(entries) = self else { return };
        let (key, value) = (key.into(), value.into());
        match entries.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => entries.push((key, value)),
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Object(entries) => entries.iter().find(|(known, _)| known == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// True if it is an empty object or list.
    pub fn is_empty(&self) -> bool {
        match self {
            Node::Object(entries) => entries.is_empty(),
            Node::List(elements) => elements.is_empty(),
            Node::Value(_) => false,
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Value(value) => value.serialize(serializer),
            Node::List(elements) => elements.serialize(serializer),
            Node::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Node {
        match value {
            Value::Object(entries) => {
                Node::Object(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
            Value::Array(elements) => Node::List(elements.into_iter().map(Node::from).collect()),
            scalar => Node::Value(scalar),
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Node {
        Node::Value(text.into())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Node {
        Node::Value(text.into())
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Node {
        Node::Value(value.into())
    }
}

impl From<i64> for Node {
    fn from(number: i64) -> Node {
        Node::Value(number.into())
    }
}

impl<T: Into<Node>> From<Vec<T>> for Node {
    fn from(elements: Vec<T>) -> Node {
        Node::List(elements.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Node>, const N: usize> From<[T; N]> for Node {
    fn from(elements: [T; N]) -> Node {
        Node::List(elements.into_iter().map(Into::into).collect())
    }
}

/// `{"$ref": "#/components/schemas/Product"}`
pub(super) fn reference(kind: &str, name: &str) -> Node {
    Node::object().with("$ref", format!("#/components/{kind}/{name}"))
}
