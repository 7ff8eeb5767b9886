//! Code with the former word of a renamed value, field, event or action does not compile, and the compiler names the similar one.

use charter_runtime::Error;
use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "ticket", events, emits("overdue"), action(name = "close_now", on = "record"))]
pub struct Model {
    pub id: i64,
    #[field(enumeration("open", "solved"))]
    pub status: Status,
    #[field(code(1 = "Low", 2 = "High"))]
    pub priority: Priority,
}

fn values(draft: &mut Draft<Entity>) {
    draft.model.status = ActiveValue::Set(Status::Solve);
    draft.model.priority = ActiveValue::Set(Priority::Hihg);
}

fn fields(draft: &mut Draft<Entity>) -> Error {
    draft.error(Column::Statu, "is wrong");
    draft.error("status", "is wrong");
    Error::invalid(Column::Prioriti, "is wrong")
}

async fn events_and_actions(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
    draft.emit(Event::Overdu);
    run_action(context, Action::CloseNo, 1, Default::default()).await?;
    Ok(())
}

fn main() {
    let _ = (values, fields, events_and_actions);
}
