//! Page of the panel with the overdue loans, from the API as the user.

use charter_runtime::PanelPage;
use maud::html;

pub const OVERDUE: PanelPage = PanelPage {
    path: "overdue",
    title: "Overdue loans",
    menu: "Reports",
    right: "loans:read",
    render: |panel| {
        Box::pin(async move {
            let found = panel.get("/loans?q[due_on_lt]=today&q[returned_at_null]=1&sort=id").await?;
            let loans = found["loans"].as_array().into_iter().flatten();
            Ok(html! {
                ul {
                    @for loan in loans {
                        @let text = |name: &str| loan[name].as_str().unwrap_or_default();
                        li { (text("book_title")) ", " (text("reader")) ", " (panel.date(text("due_on"))) }
                    }
                }
            })
        })
    },
};
