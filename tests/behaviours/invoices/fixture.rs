//! The service with invoices and their embedded lines.

use charter_migrations::prelude::*;
use charter_runtime::Error;
use charter_runtime::generated::*;
use charter_runtime::ops::Transaction;
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use serde_json::json;

use crate::support::{nothing, own_fixture};

pub mod line {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "invoice_line", operations(), unique("invoice_id", "text"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("invoice"), required, immutable)]
        pub invoice_id: i64,
        #[field(string(20), required)]
        pub text: String,
        #[field(default = "1", min = "0")]
        pub quantity: i32,
    }
}

#[allow(clippy::duplicated_attributes, reason = "two actions may both be on the collection")]
pub mod invoice {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "invoice", events, emits("overdue"))]
    #[resource(action(name = "send", on = "record", event = "sent", input = SendInput))]
    #[resource(action(name = "send_all", on = "collection", input = SendAllInput, output = SendAllOutput, key = "sent"))]
    #[resource(action(name = "try_all", on = "collection", input = SendAllInput, output = SendAllOutput, key = "sent"))]
    #[resource(action(name = "round_up", on = "collection", input = RoundUpInput, output = RoundUpOutput, key = "rounded"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub title: String,
        #[field(enumeration("draft", "sent"), default = "draft")]
        pub status: Status,
        #[field(code(1 = "Low", 2 = "High"))]
        pub priority: Option<Priority>,
        #[field(default = "0", read_only)]
        pub total: i32,
        #[field(string(20), read_only)]
        pub note: Option<String>,
        #[field(string(200), read_only)]
        pub history: Option<String>,
        #[field(default = "1", read_only)]
        #[embedded("lines", resource = "invoice_line", by = "invoice_id")]
        pub copies: i32,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    #[derive(Clone, Debug, Input)]
    pub struct SendInput {
        #[field(default = "1", max = "9")]
        pub copies: i32,
    }

    #[derive(Clone, Debug, Input)]
    pub struct SendAllInput {
        #[field(required)]
        pub copies: i32,
    }

    #[derive(Clone, Debug, Output)]
    pub struct SendAllOutput {
        #[field(json)]
        pub numbers: Json,
    }

    #[derive(Clone, Debug, Input)]
    pub struct RoundUpInput {
        #[field(required)]
        pub to: i32,
    }

    #[derive(Clone, Debug, Output)]
    pub struct RoundUpOutput {
        pub invoices: i32,
    }

    pub trait Behaviour {
        fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn after_save(
            context: &Context<'_>,
            record: &Model,
            before: Option<&Model>,
        ) -> impl Future<Output = Result<()>> + Send;
        fn after_commit(
            context: &Context<'_>,
            record: &Model,
            before: Option<&Model>,
        ) -> impl Future<Output = Result<()>> + Send;
        fn send(
            context: &Context<'_>,
            draft: &mut Draft<Entity>,
            input: SendInput,
        ) -> impl Future<Output = Result<()>> + Send;
        fn send_all(context: &Context<'_>, input: SendAllInput) -> impl Future<Output = Result<SendAllOutput>> + Send;
        fn try_all(context: &Context<'_>, input: SendAllInput) -> impl Future<Output = Result<SendAllOutput>> + Send;
        fn round_up(context: &Context<'_>, input: RoundUpInput) -> impl Future<Output = Result<RoundUpOutput>> + Send;
    }

    pub fn route() -> Route {
        route!(
            Entity,
            Behaviour,
            hooks(check, before_save, after_save, after_commit),
            actions(
                record_input send: SendInput,
                collection_input send_all: SendAllInput,
                collection_input try_all: SendAllInput,
                collection_input round_up: RoundUpInput
            )
        )
    }
}

use invoice::{Action, Column, Entity, Event, Model, Status};

impl invoice::Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.model.title.try_as_ref().is_some_and(|title| title == "forget") {
            let mut lines = draft.embedded::<line::Entity>(context).await?;
            for line in lines.iter_mut().filter(|line| line.before.is_some()) {
                line.model.text = Set("Nobody".into());
                line.conceal(line::Column::Text);
            }
            draft.set_embedded(lines)?;
        }
        if draft.model.status.is_not_set() && draft.model.priority.is_not_set() {
            draft.error(Column::Title, "has no status and no priority");
        }
        Ok(())
    }

    /// Drops lines of nothing, adds a bonus, and counts.
    async fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let mut lines = draft.embedded::<line::Entity>(context).await?;
        let stored = lines.len();
        lines.retain(|line| *line.model.quantity.as_ref() > 0);
        let extra = match draft.model.title.as_ref().as_str() {
            "bonus" if !lines.iter().any(|line| line.model.text.as_ref() == "Bonus") => Some("Bonus"),
            "twice" => Some("Lamp"),
            "too long" => Some("A text of more than twenty characters"),
            _ => None,
        };
        if draft.model.title.as_ref() == "late" {
            draft.emit(Event::Overdue);
        }
        if let Some(text) = extra {
            let mut line = Draft::<line::Entity>::default();
            line.model.text = Set(text.into());
            line.model.quantity = Set(1);
            lines.push(line);
        }
        draft.model.total = Set(lines.iter().map(|line| *line.model.quantity.as_ref()).sum());
        if extra.is_some() || lines.len() != stored {
            draft.set_embedded(lines)?;
        }
        Ok(())
    }

    async fn after_save(context: &Context<'_>, record: &Model, before: Option<&Model>) -> Result<()> {
        if record.title == "unsendable" && record.status == Status::Sent {
            return Err(Error::Conflict("it cannot be sent".into()));
        }
        let history = match before {
            _ if !record.title.starts_with("story") => return Ok(()),
            None => "new".to_owned(),
            Some(before) if before.title != record.title => {
                let earlier = record.history.as_deref().unwrap_or_default();
                format!("{earlier}, {} > {}", before.title, record.title)
            }
            Some(_) => return Ok(()),
        };
        revise::<Entity>(context, record.id, |draft| {
            draft.model.history = Set(Some(history));
            Ok(())
        })
        .await
    }

    async fn after_commit(context: &Context<'_>, record: &Model, before: Option<&Model>) -> Result<()> {
        let is_new_title = before.is_some_and(|before| before.title != record.title);
        if is_new_title && record.title == "send alone" {
            let problem = run_action(context, Action::Send, record.id, json!({})).await.err();
            let transaction = Transaction::begin(context.state()).await?;
            revise::<Entity>(&context.in_transaction(&transaction), record.id, |draft| {
                draft.model.history = Set(problem.map(|problem| problem.to_string()));
                Ok(())
            })
            .await?;
            transaction.commit(context).await?;
        }
        if is_new_title && record.title == "send me" {
            let transaction = Transaction::begin(context.state()).await?;
            run_action(&context.in_transaction(&transaction), Action::Send, record.id, json!({})).await?;
            transaction.commit(context).await?;
        }
        Ok(())
    }

    async fn send(_: &Context<'_>, draft: &mut Draft<Entity>, input: invoice::SendInput) -> Result<()> {
        draft.model.status = Set(Status::Sent);
        draft.model.copies = Set(input.copies);
        Ok(())
    }

    async fn send_all(context: &Context<'_>, input: invoice::SendAllInput) -> Result<invoice::SendAllOutput> {
        let mut numbers = Vec::new();
        for invoice in Entity::find().all(context.db()).await?.into_iter().filter(|one| one.status == Status::Draft) {
            let answer = run_action(context, Action::Send, invoice.id, json!({ "copies": input.copies })).await?;
            numbers.push(answer["invoice"]["id"].clone());
        }
        Ok(invoice::SendAllOutput { numbers: numbers.into() })
    }

    /// Sends those that can be sent.
    async fn try_all(context: &Context<'_>, input: invoice::SendAllInput) -> Result<invoice::SendAllOutput> {
        let mut numbers = Vec::new();
        for invoice in Entity::find().all(context.db()).await? {
            match run_action(context, Action::Send, invoice.id, json!({ "copies": input.copies })).await {
                Ok(_) => numbers.push(Json::from(invoice.id)),
                Err(Error::Conflict(_) | Error::Invalid(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(invoice::SendAllOutput { numbers: numbers.into() })
    }

    async fn round_up(context: &Context<'_>, input: invoice::RoundUpInput) -> Result<invoice::RoundUpOutput> {
        let found = Entity::find().all(context.db()).await?;
        for invoice in &found {
            let mut stored = Draft::<Entity>::default();
            stored.before = Some(invoice.clone());
            let mut lines = stored.embedded::<line::Entity>(context).await?;
            let first = lines.first_mut().ok_or(Error::NotFound)?;
            first.model.quantity = Set(input.to);
            revise::<Entity>(context, invoice.id, |draft| {
                draft.model.total = Set(input.to);
                draft.model.note = Set(Some("rounded".into()));
                draft.set_embedded(lines)
            })
            .await?;
        }
        Ok(invoice::RoundUpOutput { invoices: i32::try_from(found.len()).unwrap_or(i32::MAX) })
    }
}

own_fixture! {
    /// The service with invoices.
    Invoices, "invoices", [invoice::route(), Route::of::<line::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = [
            id(),
            string("title", 80),
            enumeration("status").default("draft"),
            integer("priority").nullable(),
            integer("total").default(0),
            string("note", 20).nullable(),
            string("history", 200).nullable(),
            integer("copies").default(1),
            timestamp("created_at"),
            timestamp("updated_at"),
        ];
        Table::on(manager, "invoices").create(columns).await?;
        let lines = [id(), reference("invoice_id", "invoices"), string("text", 20), integer("quantity").default(1)];
        Table::on(manager, "invoice_lines").create(lines).await?;
        Table::on(manager, "invoice_lines").unique(&["invoice_id", "text"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "invoice_lines").drop().await?;
        Table::on(manager, "invoices").drop().await
    }
}
