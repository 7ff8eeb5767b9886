//! SeaORM entities of the derive, compared with the behaviour of SeaORM's own.

use std::str::FromStr;

use charter_runtime::generated::{
    ActiveModelTrait, ColumnTrait, DbErr, EntityName, EntityTrait, IdenStatic, IntoActiveModel, IntoEnumIterator,
    ModelTrait, Record, Value,
};
use sea_orm::{
    ActiveValue, ConnectionTrait, Database, DatabaseConnection, DbBackend, QueryFilter, QueryOrder, QueryTrait, Set,
};

mod note {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "note")]
    pub struct Model {
        pub id: i64,
        #[field(text, required)]
        pub body: String,
        pub stars: Option<i32>,
        #[field(decimal(12, 2))]
        pub price: Decimal<2>,
        #[field(string(20))]
        pub r#type: Option<String>,
    }
}

/// Fields with names that the derive's own code and SeaORM's traits use.
mod odd {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "odd")]
    pub struct Model {
        pub id: i64,
        pub err: Option<i32>,
        pub ok: Option<i32>,
        pub output: Option<i32>,
        pub iterator: Option<i32>,
        pub entity_name: Option<i32>,
        pub r#true: Option<i32>,
    }
}

#[test]
fn columns_may_have_the_names_of_trait_items() {
    assert_eq!(odd::Column::from_str("err").expect("a column").as_str(), "err");
    assert!(odd::Column::iter().any(|column| column.as_str() == "iterator"));
}

fn sample() -> note::Model {
    note::Model { id: 7, body: "Hello".into(), stars: None, price: "1.50".parse().expect("a number"), r#type: None }
}

#[test]
fn columns_have_the_names_of_the_fields() {
    let names: Vec<&str> = note::Column::iter().map(|column| column.as_str()).collect();
    assert_eq!(names, ["id", "body", "stars", "price", "type"]);
    assert_eq!(names, note::Model::COLUMNS);
    assert_eq!(note::Column::from_str("type").expect("a column").as_str(), "type");
    assert!(note::Column::from_str("colour").is_err());
    assert_eq!(note::Entity.table_name(), "notes");
    assert_eq!(
        note::Entity::find_by_id(7).filter(note::Column::Stars.is_null()).build(DbBackend::Postgres).to_string(),
        r#"SELECT "notes"."id", "notes"."body", "notes"."stars", "notes"."price", "notes"."type" FROM "notes" WHERE "notes"."id" = 7 AND "notes"."stars" IS NULL"#
    );
    assert!(note::Column::Stars.def().is_null());
    assert!(!note::Column::Body.def().is_null());
}

#[test]
fn a_model_is_read_and_written_by_column() {
    let mut model = sample();
    assert_eq!(model.get(note::Column::Stars), Value::Int(None));
    model.set(note::Column::Stars, 3.into());
    assert_eq!(model.stars, Some(3));
    assert!(model.try_set(note::Column::Stars, "three".into()).is_err());
    assert_eq!(model.slot(1).value(), "Hello".into());
    let values = note::Column::iter().map(|column| model.get(column)).collect();
    assert_eq!(note::Model::from_values(values).expect("its own values"), model);
}

#[test]
fn an_active_model_tracks_its_set_columns() {
    let mut active = sample().into_active_model();
    assert!(!active.is_changed());
    active.set_if_not_equals(note::Column::Body, "Hello".into());
    assert!(!active.is_changed());
    active.set_if_not_equals(note::Column::Body, "Bye".into());
    assert_eq!(active.body, Set("Bye".to_owned()));
    active.not_set(note::Column::Body);
    assert!(active.is_not_set(note::Column::Body));
    active.reset(note::Column::Stars);
    assert!(active.stars.is_set());
    assert_eq!(active.take(note::Column::Id), ActiveValue::Unchanged(7_i64.into()));
    assert_eq!(active.get_primary_key_value(), None);
    assert!(active.try_set(note::Column::Price, "much".into()).is_err());
}

#[test]
#[should_panic(expected = "no column at position 9")]
fn a_position_without_a_column_panics() {
    sample().slot(9);
}

async fn database() -> Result<DatabaseConnection, DbErr> {
    let database = Database::connect("sqlite::memory:").await?;
    let table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL, stars INTEGER, price INTEGER NOT NULL, type TEXT)";
    database.execute_unprepared(table).await?;
    Ok(database)
}

#[tokio::test]
async fn records_are_stored_and_found() -> Result<(), DbErr> {
    let database = database().await?;
    // A plain connection does not scale decimals: the price is an integer here.
    database.execute_unprepared("INSERT INTO notes VALUES (1, 'One', 5, 150, NULL), (2, 'Two', NULL, -5, 'b')").await?;
    let found = note::Entity::find().order_by_desc(note::Column::Id).all(&database).await?;
    assert_eq!(found.iter().map(|note| note.price.to_string()).collect::<Vec<_>>(), ["-0.05", "1.50"]);
    assert_eq!((found[0].stars, found[0].r#type.as_deref()), (None, Some("b")));

    let mut active: note::ActiveModel = found[0].clone().into();
    active.body = Set("Deux".into());
    assert_eq!(active.update(&database).await?.body, "Deux");
    let count = note::Entity::delete_by_id(1).exec(&database).await?.rows_affected;
    assert_eq!(count, 1);
    assert_eq!(note::Entity::find_by_id(1).one(&database).await?, None);
    Ok(())
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error() -> Result<(), DbErr> {
    let database = database().await?;
    database.execute_unprepared("INSERT INTO notes VALUES (1, 'One', 'many', 150, NULL)").await?;
    let error = note::Entity::find().one(&database).await.expect_err("stars that are text");
    assert!(error.to_string().contains("stars"), "{error}");
    Ok(())
}
