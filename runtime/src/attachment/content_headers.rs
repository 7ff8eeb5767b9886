//! How a file goes out: the two headers that say what it is, and whether it is shown in place or saved.

use super::storage::Part;
use super::{file_name, media_type};

/// What an answer with a file says of it, whoever sends that answer.
#[derive(Debug)]
pub struct ContentHeaders {
    /// The header `Content-Type`.
    pub media_type: String,
    /// The header `Content-Disposition`: `inline` for what can run no script, whatever is in it.
    pub disposition: String,
}

impl ContentHeaders {
    /// Of what was uploaded under this name, or of its thumbnail, whose type is another.
    pub fn of(part: Part, media_type: &str, original_name: &str) -> ContentHeaders {
        let name = match part {
            Part::File => original_name.to_string(),
            Part::Thumb => file_name::of_image(original_name, media_type),
        };
        let shown = if media_type::is_shown(media_type) { "inline" } else { "attachment" };
        let disposition = file_name::disposition(shown, &name);
        ContentHeaders { media_type: media_type::header(media_type), disposition }
    }
}
