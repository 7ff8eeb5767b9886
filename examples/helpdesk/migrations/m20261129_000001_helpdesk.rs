//! Helpdesk.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let customers = Table::on(manager, "customers");
        customers
            .create([
                id(),
                string("number", 12),
                string("name", 120),
                string("email", 254).nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        customers.unique(&["number"]).await?;
        customers.unique_set(set(&["email"]).ignore_case(&["email"])).await?;
        customers.order(by("name").text()).await?;
        customers.search("name").await?;
        let assets = Table::on(manager, "assets");
        assets
            .create([
                id(),
                string("name", 120),
                string("serial", 60),
                reference("customer_id", "customers").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        assets.unique(&["serial"]).await?;
        assets.search("name").await?;
        let bookings = Table::on(manager, "bookings");
        bookings
            .create([
                id(),
                reference("asset_id", "assets"),
                reference("customer_id", "customers"),
                date("starts_on"),
                date("ends_on"),
                date("returned_on").nullable(),
                integer("day_count"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        bookings.unique_set(set(&["asset_id"]).rows("(\"returned_on\" IS NULL)", "(\"returned_on\" IS NULL)")).await?;
        bookings.order(by("starts_on")).await?;
        let contacts = Table::on(manager, "contacts");
        contacts
            .create([
                id(),
                reference("customer_id", "customers"),
                string("name", 120),
                reference("user_id", "users").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        contacts.unique(&["user_id"]).await?;
        contacts.search("name").await?;
        let invoices = Table::on(manager, "invoices");
        invoices
            .create([
                id(),
                string("number", 20),
                reference("customer_id", "customers"),
                enumeration("status").default("draft"),
                date("issued_on").nullable(),
                date("due_on").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        invoices.unique(&["number"]).await?;
        invoices.order(by("number").text()).await?;
        let invoice_lines = Table::on(manager, "invoice_lines");
        invoice_lines
            .create([
                id(),
                reference("invoice_id", "invoices"),
                string("service", 120),
                integer("quantity"),
                decimal("unit_price", 10, 2),
                decimal("total", 14, 2),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        invoice_lines.order(by("invoice_id")).await?;
        let price_lists = Table::on(manager, "price_lists");
        price_lists
            .create([
                id(),
                string("name", 80),
                date("valid_from"),
                date("valid_until").nullable(),
                boolean("is_default").default(false),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        price_lists.unique(&["name"]).await?;
        price_lists.unique_set(set(&["is_default"]).rows("\"is_default\"", "\"is_default\"")).await?;
        let prices = Table::on(manager, "prices");
        prices
            .create([
                id(),
                reference("price_list_id", "price_lists"),
                string("service", 120),
                decimal("unit_price", 10, 2),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        prices.unique(&["price_list_id", "service"]).await?;
        let tags = Table::on(manager, "tags");
        tags.create([id(), string("name", 40), timestamp("created_at"), timestamp("updated_at")]).await?;
        tags.unique_set(set(&["name"]).ignore_case(&["name"])).await?;
        let teams = Table::on(manager, "teams");
        teams.create([id(), string("name", 80), timestamp("created_at"), timestamp("updated_at")]).await?;
        teams.unique(&["name"]).await?;
        teams.search("name").await?;
        let tickets = Table::on(manager, "tickets");
        tickets
            .create([
                id(),
                string("number", 20),
                string("subject", 200),
                enumeration("status").default("open"),
                enumeration("priority").default("normal"),
                reference("customer_id", "customers"),
                reference("contact_id", "contacts").nullable(),
                reference("team_id", "teams").nullable(),
                reference("agent_id", "users").nullable(),
                reference("asset_id", "assets").nullable(),
                text("resolution").nullable(),
                date("due_on").nullable(),
                timestamp("solved_at").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        tickets.unique(&["number"]).await?;
        tickets.order(by("created_at")).await?;
        tickets.search("subject").await?;
        let comments = Table::on(manager, "comments");
        comments
            .create([
                id(),
                reference("ticket_id", "tickets"),
                text("body"),
                boolean("is_internal").default(false),
                reference("author_id", "users"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        comments.order(by("created_at")).await?;
        comments.order(by("ticket_id")).await?;
        let ticket_tags = Table::on(manager, "ticket_tags");
        ticket_tags
            .create([
                id(),
                reference("ticket_id", "tickets"),
                reference("tag_id", "tags"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        ticket_tags.unique(&["ticket_id", "tag_id"]).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let ticket_tags = Table::on(manager, "ticket_tags");
        ticket_tags.drop().await?;
        let comments = Table::on(manager, "comments");
        comments.drop().await?;
        let tickets = Table::on(manager, "tickets");
        tickets.drop().await?;
        let teams = Table::on(manager, "teams");
        teams.drop().await?;
        let tags = Table::on(manager, "tags");
        tags.drop().await?;
        let prices = Table::on(manager, "prices");
        prices.drop().await?;
        let price_lists = Table::on(manager, "price_lists");
        price_lists.drop().await?;
        let invoice_lines = Table::on(manager, "invoice_lines");
        invoice_lines.drop().await?;
        let invoices = Table::on(manager, "invoices");
        invoices.drop().await?;
        let contacts = Table::on(manager, "contacts");
        contacts.drop().await?;
        let bookings = Table::on(manager, "bookings");
        bookings.drop().await?;
        let assets = Table::on(manager, "assets");
        assets.drop().await?;
        let customers = Table::on(manager, "customers");
        customers.drop().await?;
        Ok(())
    }
}
