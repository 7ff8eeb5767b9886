//! Enums of the derive for fields with a closed list of values.

use charter_runtime::generated::stored::{Nullable, ValueType};
use charter_runtime::generated::{
    Choice, Condition, ModelTrait, Output, Resource, ResourceAction, ResourceEvent, Value,
};
use sea_orm::{
    ActiveModelTrait, ActiveValue, ColumnTrait, ConnectionTrait, Database, DbErr, EntityTrait, QueryFilter, Set,
};

mod ticket {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "ticket", events, emits("overdue"), action(name = "close_now", on = "record"))]
    pub struct Model {
        pub id: i64,
        #[field(enumeration("open", "in progress"))]
        pub status: Status,
        #[field(code(2001 = "Scheduled", 2002 = "Completed"))]
        pub step: Option<Step>,
    }

    #[derive(Clone, Debug, Output)]
    pub struct Reply {
        #[field(enumeration("yes", "no"))]
        pub answer: Answer,
    }
}

use ticket::{Answer, Status, Step};

#[test]
fn a_choice_is_stored_as_its_word_or_its_number() {
    assert_eq!((Status::InProgress.stored(), Step::Completed.stored()), ("in progress", 2002));
    assert_eq!(Value::from(Status::Open), "open".into());
    assert_eq!(Value::from(Step::Scheduled), 2001.into());
    assert_eq!((Status::null(), Step::null()), (Value::String(None), Value::Int(None)));
    assert_eq!(Status::default(), Status::Open);
    let ticket = ticket::Model { id: 1, status: Status::Open, step: None };
    assert_eq!(ticket.get(ticket::Column::Step), Value::Int(None));
    assert_eq!(ticket::Reply { answer: Answer::No }.into_values(), ["no".into()]);
}

#[test]
fn a_value_is_read_in_any_case_and_an_unknown_one_is_an_error() {
    let read = |text: &str| <Status as ValueType>::try_from(text.into()).ok();
    assert_eq!(
        [read("open"), read("In Progress"), read("closed")],
        [Some(Status::Open), Some(Status::InProgress), None]
    );
    let read = |code: i32| <Option<Step> as ValueType>::try_from(code.into()).ok();
    assert_eq!([read(2002), read(7)], [Some(Some(Step::Completed)), None]);
    assert_eq!(<Option<Step> as ValueType>::try_from(Value::Int(None)).ok(), Some(None));
}

#[test]
fn columns_name_fields_events_and_actions_are_enums() {
    let condition =
        Condition::equals(ticket::Column::Status, Status::Open).and(Condition::is_null(ticket::Column::Step));
    assert!(format!("{condition:?}").contains("status"), "{condition:?}");
    assert_eq!(String::from(ticket::Column::Step), "step");
    assert_eq!((ticket::Event::Overdue.name(), ticket::Action::CloseNow.name()), ("overdue", "close_now"));
    assert_eq!(ticket::Entity::meta().extra_events, ["overdue"]);
}

#[tokio::test]
async fn rows_are_written_read_and_compared() -> Result<(), DbErr> {
    let database = Database::connect("sqlite::memory:").await?;
    database
        .execute_unprepared("CREATE TABLE tickets (id INTEGER PRIMARY KEY, status TEXT NOT NULL, step INTEGER)")
        .await?;
    let new = ticket::ActiveModel {
        id: ActiveValue::NotSet,
        status: Set(Status::InProgress),
        step: Set(Some(Step::Completed)),
    };
    assert_eq!(new.insert(&database).await?.status, Status::InProgress);
    database.execute_unprepared("INSERT INTO tickets VALUES (2, 'open', NULL)").await?;
    let open = ticket::Entity::find().filter(ticket::Column::Status.eq(Status::Open)).all(&database).await?;
    assert_eq!(open, [ticket::Model { id: 2, status: Status::Open, step: None }]);
    let done = ticket::Entity::find().filter(ticket::Column::Step.eq(Step::Completed)).one(&database).await?;
    assert_eq!(done.map(|ticket| ticket.id), Some(1));

    database.execute_unprepared("UPDATE tickets SET status = 'closed' WHERE id = 2").await?;
    let error = ticket::Entity::find_by_id(2).one(&database).await.expect_err("a word that is no variant");
    assert!(error.to_string().contains("status") && error.to_string().contains("charter doctor"), "{error}");
    Ok(())
}
