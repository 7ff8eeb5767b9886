//! `GET /overdue`: overdue loans as lines of text. A path that is no resource.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use charter_runtime::Result;
use charter_runtime::server::salvo::{Request, async_trait};
use charter_runtime::server::{Handler, Mount, Response, ServerState};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::generated::{book, loan};

pub fn mount() -> Mount {
    Mount::get("overdue", Overdue)
        .ability("loans:read")
        .summary("Overdue loans")
        .description("Lists the overdue loans, each on a line with its due date, reader and title.")
        .returns_type("text/plain")
}

struct Overdue;

#[async_trait]
impl Handler for Overdue {
    async fn handle(&self, state: &Arc<ServerState>, _: &mut Request) -> Result<Response> {
        let today = state.clock.now().date_naive();
        let late = loan::Entity::find()
            .filter(loan::Column::ReturnedAt.is_null())
            .filter(loan::Column::DueOn.lt(today))
            .order_by_asc(loan::Column::DueOn)
            .all(state.db.reader())
            .await?;
        let lent = book::Column::Id.is_in(late.iter().map(|loan| loan.book_id));
        let books = book::Entity::find().filter(lent).all(state.db.reader()).await?;
        let titles: HashMap<i64, String> = books.into_iter().map(|book| (book.id, book.title)).collect();
        let mut text = String::new();
        for loan in late {
            let title = titles.get(&loan.book_id).map_or("", String::as_str);
            let _ = writeln!(text, "{} {} {title}", loan.due_on, loan.reader);
        }
        Ok(Response::bytes("text/plain; charset=utf-8", text))
    }
}
