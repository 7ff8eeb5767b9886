//! Relations between resources, collected before any is lowered: references and parents.

use std::collections::BTreeMap;

use charter_model::naming;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Name};
use crate::platform;
use crate::source::{Sources, Spanned};
use crate::syntax::Syntax;
use crate::syntax::field::SourceSyntax;
use crate::syntax::resource::ResourceSyntax;

/// The relations by resource.
pub struct Links {
    resources: BTreeMap<String, Link>,
}

/// The permissions to read and to write.
type Permissions = (Option<Name>, Option<Name>);

struct Link {
    parent: Option<String>,
    ability: Option<String>,
    permissions: Permissions,
    plural: String,
    /// Reference fields, each with its target.
    references: Vec<(String, String)>,
}

impl Links {
    pub fn of(syntax: &Syntax, sources: &Sources) -> Links {
        let mut resources = BTreeMap::new();
        for platform in platform::resources() {
            let refers = |field: &Field| Some((field.name.value.clone(), field.kind.target()?.value.clone()));
            let references = platform.fields.iter().filter_map(refers);
            let references = references.collect();
            let plural = platform.plural.value;
            let permissions = (platform.read_permission, platform.write_permission);
            resources
                .insert(platform.name.value, Link { parent: None, ability: None, permissions, plural, references });
        }
        for written in &syntax.resources {
            let name = name(written, sources);
            // The name is refused; references to it mean the platform's resource.
            if platform::is_served(name.as_str()) {
                continue;
            }
            let plural =
                written.plural.as_ref().map_or_else(|| naming::plural(name.as_str()), |plural| plural.value.clone());
            let text = |name: &Option<Name>| name.as_ref().map(|name| name.value.clone());
            let link = Link {
                parent: text(&written.under),
                ability: text(&written.ability),
                permissions: (written.read_permission.clone(), written.write_permission.clone()),
                plural,
                references: references(written).collect(),
            };
            resources.insert(name.value, link);
        }
        Links { resources }
    }

    /// True if there is such a resource.
    pub fn has(&self, name: &str) -> bool {
        self.resources.contains_key(name)
    }

    /// The plural of a resource, declared or regular.
    pub fn plural(&self, name: &str) -> Option<&str> {
        self.resources.get(name).map(|link| link.plural.as_str())
    }

    /// The ability of a resource. A nested one inherits that of the nearest ancestor that declares or has its own.
    pub fn ability(&self, name: &str) -> String {
        let declared = self.line(name).find_map(|link| link.ability.clone());
        let last = || self.line(name).last().map_or_else(|| naming::plural(name), |link| link.plural.clone());
        declared.unwrap_or_else(last)
    }

    /// The permissions of a resource. A nested one inherits each from the nearest ancestor that declares it: a caller
    /// who may not read a record may not read its children.
    pub fn permissions(&self, name: &str) -> Permissions {
        let read = self.line(name).find_map(|link| link.permissions.0.clone());
        let write = self.line(name).find_map(|link| link.permissions.1.clone());
        (read, write)
    }

    /// A resource and its ancestors, the nearest first. A cycle of parents has its own check; here the iteration must
    /// only end.
    fn line(&self, name: &str) -> impl Iterator<Item = &Link> {
        let parent = |link: &&Link| self.resources.get(link.parent.as_ref()?);
        std::iter::successors(self.resources.get(name), parent).take(self.resources.len())
    }

    /// The field of `resource` that refers to `name`: the declared one, or the only one. None, and a problem reported,
    /// if it is ambiguous. An unknown resource is left to the check of references.
    pub fn by(&self, resource: &Name, declared: &Option<Name>, name: &str, problems: &mut Problems) -> Option<Name> {
        if let Some(declared) = declared {
            return Some(declared.clone());
        }
        let Some(link) = self.resources.get(resource.as_str()) else {
            return Some(Spanned::new(String::new(), resource.span));
        };
        let referring: Vec<&str> =
            link.references.iter().filter(|(_, to)| to == name).map(|(field, _)| field.as_str()).collect();
        let (label, message, help) = match referring.as_slice() {
            [only] => return Some(Spanned::new((*only).to_owned(), resource.span)),
            [] => (
                "not referred to",
                format!("no field of `{}` refers to `{name}`", resource.value),
                format!("add a field such as `{name}_id: {{ type: ref({name}), required: true }}`"),
            ),
            several => (
                "ambiguous reference",
                format!("several fields of `{}` refer to `{name}`", resource.value),
                format!("name one of them: `by: {}`", several.join("` or `by: ")),
            ),
        };
        problems.push(Diagnostic::new(Code::ByField, resource.span, message, label).help(help));
        None
    }
}

/// The declared name of a resource, or else the name of its file.
pub fn name(written: &ResourceSyntax, sources: &Sources) -> Name {
    written.resource.clone().unwrap_or_else(|| Spanned::new(sources.file(written.file).stem().to_owned(), written.span))
}

fn references(written: &ResourceSyntax) -> impl Iterator<Item = (String, String)> {
    let parent = written.under.iter().map(|parent| (format!("{}_id", parent.value), parent.value.clone()));
    let fields = written.fields.iter().chain(&written.detail).filter_map(|field| match &field.source {
        SourceSyntax::Type(found) if found.word.value == "ref" => match found.arguments.as_slice() {
            [target] => Some((field.name.value.clone(), target.word.value.clone())),
            _ => None,
        },
        _ => None,
    });
    parent.chain(fields)
}
