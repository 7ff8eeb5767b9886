//! Misbehaving hooks and actions: invalid values, and endless recursion.

mod event_order;
mod gauge;
mod invoices;
mod nesting;
mod values;

use charter_migrations::prelude::*;

use crate::support::{nothing, own_fixture};

/// Test resource: players throw a ball to each other, or to themselves.
mod player {
    use charter_runtime::Result;
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::{Context, Route, Transaction, revise};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "player", events)]
    pub struct Model {
        pub id: i64,
        #[field(reference("player"))]
        pub partner_id: Option<i64>,
        /// The player to whom it throws in `after_save`.
        #[field(reference("player"))]
        pub next_id: Option<i64>,
        /// Number of throws to itself in a create.
        #[field(default = "0")]
        pub practice: i32,
        #[field(default = "0", read_only)]
        pub hits: i32,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    pub fn route() -> Route {
        charter_runtime::route!(Entity, Behaviour, hooks(after_save, after_commit), actions())
    }

    trait Behaviour {
        fn after_save(
            context: &Context<'_>,
            player: &Model,
            before: Option<&Model>,
        ) -> impl Future<Output = Result<()>> + Send;
        fn after_commit(
            context: &Context<'_>,
            player: &Model,
            before: Option<&Model>,
        ) -> impl Future<Output = Result<()>> + Send;
    }

    async fn hit(context: &Context<'_>, id: i64) -> Result<()> {
        revise::<Entity>(context, id, |draft| {
            let hits = draft.before.as_ref().map_or(0, |player| player.hits);
            draft.model.hits = Set(hits + 1);
            Ok(())
        })
        .await
    }

    impl Behaviour for Entity {
        async fn after_save(context: &Context<'_>, player: &Model, _: Option<&Model>) -> Result<()> {
            if player.hits < player.practice {
                hit(context, player.id).await?;
            }
            match player.partner_id {
                Some(id) => hit(context, id).await,
                None => Ok(()),
            }
        }

        async fn after_commit(context: &Context<'_>, player: &Model, _: Option<&Model>) -> Result<()> {
            let Some(id) = player.next_id else { return Ok(()) };
            let transaction = Transaction::begin(context.state()).await?;
            hit(&context.in_transaction(&transaction), id).await?;
            transaction.commit(context).await
        }
    }
}

own_fixture! {
    /// The service with these additional resources.
    Behaviours, "behaviours", [player::route(), gauge::route()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let players = Table::on(manager, "players");
        players
            .create([
                id(),
                reference("partner_id", "players").nullable(),
                reference("next_id", "players").nullable(),
                integer("practice").default(0),
                integer("hits").default(0),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        Table::on(manager, "gauges").create(gauge_columns()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "gauges").drop().await?;
        Table::on(manager, "players").drop().await
    }
}

fn gauge_columns() -> Vec<Column> {
    let mut columns = vec![id(), string("title", 10)];
    columns.extend(["wish", "place"].map(|name| string(name, 30).nullable()));
    columns.extend([enumeration("size"), integer("status"), string("letters", 5), text("story")].map(Column::nullable));
    columns.extend([integer("count"), decimal("share", 5, 2), string("site", 200)].map(Column::nullable));
    columns.extend(
        [string("mail", 200), string("mail_again", 200), json("tags"), json("notes"), date("day")]
            .map(Column::nullable),
    );
    columns.extend([timestamp("begins_at"), timestamp("ends_at"), string("others", 5)].map(Column::nullable));
    columns.extend([timestamp("created_at"), timestamp("updated_at")]);
    columns
}
