//! Uploads on the page of a record that the server refuses.

use serde_json::json;

use super::admin;
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    refused_upload_is_explained_and_the_stored_files_are_one_press_away,
);

/// Drops files of these names and sizes on the page.
fn drop_files(browser: &mut Browser, files: &[(&str, usize)]) {
    browser.run(&format!(
        "const dropped = new DataTransfer();
         for (const [name, size] of {}) dropped.items.add(new File([new Uint8Array(size)], name));
         document.querySelector('[data-upload]')
           .dispatchEvent(new DragEvent('drop', {{ dataTransfer: dropped, bubbles: true, cancelable: true }})); 1",
        json!(files)
    ));
}

async fn refused_upload_is_explained_and_the_stored_files_are_one_press_away(server: Server) {
    server.admin().post("/members", json!({ "name": "Ada" })).await.created("member");
    let mut browser = admin(&server).await;
    browser.open("/members/1");
    drop_files(&mut browser, &[("large.bin", (20 << 20) + 1), ("small.bin", 9)]);
    browser.until("document.querySelector('[data-progress] a') !== null");
    let progress = browser.text("[data-progress]");
    assert!(
        progress.contains("large.bin: the file is too large") && progress.contains("small.bin: done"),
        "{progress}"
    );
    browser.follow("[data-progress] a");
    assert_eq!(browser.run("document.querySelectorAll('.files li').length"), 1);
    server.sql("DELETE FROM user_sessions").await;
    drop_files(&mut browser, &[("small.bin", 9)]);
    browser.until("document.querySelector('[data-progress] .error') !== null");
    let progress = browser.text("[data-progress]");
    assert!(progress.contains("small.bin: your session has ended; sign in again"), "{progress}");
}
