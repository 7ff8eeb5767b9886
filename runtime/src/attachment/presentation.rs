//! How a file goes out: the two headers that say what it is, and whether it is shown in place or saved.

use super::{file_name, media_type};

/// What an answer with a file says of it, whoever sends that answer.
#[derive(Debug)]
pub struct Presentation {
    /// The header `Content-Type`.
    pub media_type: String,
    /// The header `Content-Disposition`: `inline` for what can run no script, whatever is in it.
    pub disposition: String,
}

impl Presentation {
    /// Of a file of this type, which is saved under this name.
    pub fn of(media_type: &str, original_name: &str) -> Presentation {
        let shown = if media_type::is_shown(media_type) { "inline" } else { "attachment" };
        let disposition = file_name::disposition(shown, original_name);
        Presentation { media_type: media_type::header(media_type), disposition }
    }
}
