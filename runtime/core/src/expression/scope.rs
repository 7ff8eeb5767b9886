//! The names that expressions of a resource may use, and their checked trees.

use charter_model::expression::{
    self, Mistake, Node, Scope, Type, Via, check_value, computed_type, fitted, settable_type,
};

use crate::memo::Memo;
use crate::meta::{DefaultValue, FieldMeta, Kind, ResourceMeta};

/// Finds the metadata of a resource by its name.
pub type Find<'a> = &'a dyn Fn(&str) -> Option<&'static ResourceMeta>;

/// The fields of a resource, as an expression sees them.
pub struct Names<'a> {
    /// The name of the resource whose ids are in `id`; none for the fields of an action's input.
    pub resource: Option<&'static str>,
    pub fields: &'static [FieldMeta],
    /// True if the expression may use `now`, `today` and `caller`.
    pub has_request: bool,
    /// None if the expression is about the record alone.
    pub others: Option<Find<'a>>,
}

impl Scope for Names<'_> {
    fn field(&self, name: &str) -> Option<Type> {
        let field = self.fields.iter().find(|field| field.name == name && field.is_column())?;
        Type::of(&field.kind, field.rules)
    }

    fn names(&self) -> Vec<String> {
        self.fields.iter().filter(|field| field.is_column()).map(|field| field.name.to_owned()).collect()
    }

    fn referred(&self, name: &str) -> Option<String> {
        referred(self.resource, self.fields, name)
    }

    fn reference(&self, name: &str) -> Option<(Via, Box<dyn Scope + '_>)> {
        let is_named = |field: &&FieldMeta| field.name == name || field.name.strip_suffix("_id") == Some(name);
        let field = self.fields.iter().find(is_named)?;
        let Kind::Ref { resource } = field.kind else { return None };
        let meta = (self.others?)(resource)?;
        let via = Via { field: field.name.to_owned(), resource: resource.to_owned() };
        Some((via, Box::new(Names::of(meta, None))))
    }

    fn has_references(&self) -> bool {
        self.others.is_some()
    }

    fn has_request(&self) -> bool {
        self.has_request
    }
}

/// The text, and the address of the metadata of the resource or of the fields.
type Key = (&'static str, usize);

impl<'a> Names<'a> {
    fn of(meta: &'static ResourceMeta, others: Option<Find<'a>>) -> Names<'a> {
        Names { resource: Some(meta.name), fields: meta.fields, has_request: true, others }
    }
}

/// The resource whose ids a field has; none for a field of another type.
pub fn referred(resource: Option<&'static str>, fields: &[FieldMeta], name: &str) -> Option<String> {
    if name == "id" {
        return resource.map(str::to_owned);
    }
    let field = fields.iter().find(|field| field.name == name)?;
    let Kind::Ref { resource } = field.kind else { return None };
    Some(resource.to_owned())
}

fn address(meta: &'static ResourceMeta) -> usize {
    std::ptr::from_ref(meta).addr()
}

/// The checked condition of a text in the metadata, over the fields of one record. Each is checked once and kept for the
/// lifetime of the process. The start checks all of them and fails if one is invalid.
///
/// # Errors
/// The mistake of an invalid text.
pub fn condition(text: &'static str, meta: &'static ResourceMeta) -> Result<&'static Node, Mistake> {
    static CHECKED: Memo<Key, Node> = Memo::new();
    CHECKED.get((text, address(meta)), || expression::check(text, &Names::of(meta, None)))
}

/// The same over fields without their resource, such as those of an action's input, and without the request.
///
/// # Errors
/// The mistake of an invalid text.
pub fn condition_over_fields(text: &'static str, fields: &'static [FieldMeta]) -> Result<&'static Node, Mistake> {
    static CHECKED: Memo<Key, Node> = Memo::new();
    let names = Names { resource: None, fields, has_request: false, others: None };
    CHECKED.get((text, fields.as_ptr().addr()), || expression::check(text, &names))
}

/// The same for a condition that may use fields of the records that references lead to.
///
/// # Errors
/// The mistake of an invalid text.
pub fn condition_over(
    text: &'static str,
    meta: &'static ResourceMeta,
    others: Find<'_>,
) -> Result<&'static Node, Mistake> {
    static CHECKED: Memo<Key, Node> = Memo::new();
    CHECKED.get((text, address(meta)), || expression::check(text, &Names::of(meta, Some(others))))
}

/// The checked expression of a computed field, with the decimal places of the field. Each is checked once, as those of
/// [`condition`].
///
/// # Errors
/// The reason why the text is no expression over plain fields of the record, or its values do not fit the field.
pub fn computed(field: &'static FieldMeta, fields: &'static [FieldMeta]) -> Result<&'static Node, String> {
    static CHECKED: Memo<(&'static str, usize), Node> = Memo::new();
    CHECKED.get((field.name, fields.as_ptr().addr()), || {
        let wanted = computed_type(&field.kind).ok_or("its type has no computed fields")?;
        let names = Names { resource: None, fields, has_request: false, others: None };
        let (node, found) = check_value(field.value, &names, Some(&wanted)).map_err(|mistake| mistake.message)?;
        let is_computed = |name: &str| fields.iter().any(|other| other.name == name && !other.value.is_empty());
        if let Some(name) = node.fields().into_iter().find(|name| is_computed(name)) {
            return Err(format!("`{name}` is computed too"));
        }
        let is_nullable = |name: &str| fields.iter().any(|other| other.name == name && other.nullable);
        if !field.nullable && node.can_be_null(&|other| is_nullable(&other.name)) {
            return Err("it can be null, and the field cannot".to_owned());
        }
        fitted(node, &found, &wanted).map_err(|misfit| format!("this is {}", misfit.reason))
    })
}

/// The checked expression of a default or of `set` for a field, with the decimal places of the field. It may use fields of the
/// records that references lead to. Each is checked once, as those of [`condition`].
///
/// # Errors
/// The reason why the text is no expression, or its values do not fit the field.
pub fn settable(
    text: &'static str,
    field: &'static FieldMeta,
    meta: &'static ResourceMeta,
    others: Find<'_>,
) -> Result<&'static Node, String> {
    static CHECKED: Memo<(&'static str, &'static str, usize), Node> = Memo::new();
    CHECKED.get((text, field.name, address(meta)), || {
        let wanted = settable_type(&field.kind).ok_or("no expression has values of its type")?;
        let names = Names::of(meta, Some(others));
        let (node, found) = check_value(text, &names, Some(&wanted)).map_err(|mistake| mistake.message)?;
        fitted(node, &found, &wanted).map_err(|misfit| format!("this is {}", misfit.reason))
    })
}

/// A field with its default, as text and as the checked expression.
pub type Defaulted = (&'static FieldMeta, &'static str, &'static Node);

/// The fields of a resource whose default is an expression, each after those that its expression names.
///
/// # Errors
/// The reason why an expression is invalid, or a default that depends on itself.
pub fn defaults(meta: &'static ResourceMeta, others: Find<'_>) -> Result<&'static Vec<Defaulted>, String> {
    static ORDERED: Memo<usize, Vec<Defaulted>> = Memo::new();
    ORDERED.get(address(meta), || {
        let mut due = Vec::new();
        for field in meta.fields {
            let DefaultValue::Expression(text) = field.default else { continue };
            let node = settable(text, field, meta, others);
            due.push((field, text, node.map_err(|problem| format!("the default of `{}`: {problem}", field.name))?));
        }
        let mut ordered = Vec::with_capacity(due.len());
        while !due.is_empty() {
            let is_due = |name: &&str| due.iter().any(|(other, ..): &Defaulted| other.name == *name);
            let free = due.iter().position(|(_, _, node)| !node.fields().iter().any(is_due));
            let Some(free) = free else { return Err(format!("the default of `{}` depends on itself", due[0].0.name)) };
            ordered.push(due.remove(free));
        }
        Ok(ordered)
    })
}
