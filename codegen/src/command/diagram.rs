//! `cargo charter diagram`: the lifecycles of resources as Mermaid diagrams.

use charter_codegen::snapshot::{Default, Resource};
use charter_model::diagram::{Arrow, state_diagram};
use clap::Args;

use crate::command::present;
use crate::{EXIT_DONE, EXIT_USAGE, Folder, stdout};

/// Print the lifecycle of a resource, or of all resources, as Mermaid `stateDiagram-v2`
#[derive(Args)]
pub struct Arguments {
    /// The name of a resource with `states`
    resource: Option<String>,
    #[command(flatten)]
    folder: Folder,
}

pub fn run(arguments: &Arguments) -> u8 {
    let snapshot = match present(&arguments.folder.dir) {
        Ok(snapshot) => snapshot,
        Err(code) => return code,
    };
    let diagrams: Vec<(&str, String)> =
        snapshot.resources.iter().filter_map(|(name, resource)| Some((name.as_str(), diagram(resource)?))).collect();
    match &arguments.resource {
        Some(wanted) => match diagrams.iter().find(|(name, _)| name == wanted) {
            Some((_, diagram)) => stdout::text(diagram),
            None => {
                let known: Vec<&str> = diagrams.iter().map(|(name, _)| *name).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                eprintln!("no resource `{wanted}` has `states`; resources with `states`: {known}");
                return EXIT_USAGE;
            }
        },
        None if diagrams.is_empty() => stdout::line("no resource has `states`"),
        // A comment of Mermaid.
        None => diagrams.iter().for_each(|(name, diagram)| stdout::text(format_args!("%% {name}\n{diagram}"))),
    }
    EXIT_DONE
}

/// The diagram of a resource; none if it has no transitions.
fn diagram(resource: &Resource) -> Option<String> {
    let transitions =
        resource.actions.iter().filter_map(|(name, action)| Some((name, action.transition.as_ref()?, &action.guard)));
    let transitions: Vec<_> = transitions.collect();
    let field = resource.fields.get(&transitions.first()?.1.field)?;
    let Default::Literal { value: first } = &field.default else { return None };
    let states: Vec<&str> = field.values.iter().map(String::as_str).collect();
    let arrows = transitions.iter().flat_map(|(name, transition, guard)| {
        let guard = guard.as_deref();
        transition.from.iter().map(move |from| Arrow { from, to: &transition.to, name, guard })
    });
    Some(state_diagram(&states, first, &arrows.collect::<Vec<_>>()))
}
