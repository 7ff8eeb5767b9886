//! `Event` has no variant for an event that no action of the resource declares.

use charter_runtime::ops::Draft;
use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "loan", events, action(name = "give_back", on = "record", event = "given_back"))]
pub struct Model {
    pub id: i64,
}

fn give_back(draft: &mut Draft<Entity>) {
    draft.emit(Event::GivenBack);
    draft.emit(Event::GivenBak);
    draft.emit("given_back");
}

fn main() {
    let _ = give_back;
}
