//! A renamed word, field, event or action does not compile.

use charter_runtime::generated::*;
use charter_runtime::Error;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "ticket", events, emits("overdue"), action(name = "close", on = "record"))]
pub struct Model {
    pub id: i64,
    #[field(enumeration("open", "solved"))]
    pub status: Status,
    #[field(code(1 = "Low", 2 = "High"))]
    pub priority: Priority,
    #[field(enumeration("+", "-"))]
    pub sign: Sign,
}

async fn rename(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
    draft.model.status = ActiveValue::Set(Status::Sloved);
    draft.model.status = ActiveValue::Set("open".to_owned());
    draft.model.priority = ActiveValue::Set(Priority::Medium);
    draft.error(Column::Statuss, "is wrong");
    draft.error("status", "is wrong");
    draft.emit(Event::Overdeu);
    run_action(context, Action::Clos, 1, Default::default()).await?;
    Err(Error::invalid(Column::Prio, "is wrong"))
}

fn main() {
    let _ = rename;
}
