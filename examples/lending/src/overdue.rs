//! `GET /overdue`: overdue loans as lines of text. A route not a resource, but a mounted path.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use charter_runtime::Result;
use charter_runtime::server::salvo::{Request, Router, async_trait};
use charter_runtime::server::{Endpoint, Handler, Response, ServerState, authenticate};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::generated::{book, loan};

pub fn paths(state: &Arc<ServerState>) -> Router {
    Router::with_path("overdue").get(Endpoint::new(state.clone(), Overdue))
}

struct Overdue;

#[async_trait]
impl Handler for Overdue {
    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        authenticate(state, request).await?.need_ability("loans:read")?;
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
