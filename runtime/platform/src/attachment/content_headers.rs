//! Response headers of a file: `Content-Type` and `Content-Disposition`.

use super::storage::ObjectKind;
use super::{file_name, media_type};

/// The headers that describe a file, in responses of this server and of an S3 service.
#[derive(Debug)]
pub struct ContentHeaders {
    /// The header `Content-Type`.
    pub media_type: String,
    /// The header `Content-Disposition`: `inline` only for types that cannot run a script.
    pub disposition: String,
}

impl ContentHeaders {
    /// Headers of an uploaded file, or of its thumbnail, which may have another type.
    pub fn of(part: ObjectKind, media_type: &str, original_name: &str) -> ContentHeaders {
        let name = match part {
            ObjectKind::File => original_name.to_string(),
            ObjectKind::Thumb => file_name::of_image(original_name, media_type),
        };
        let shown = if media_type::is_displayable(media_type) { "inline" } else { "attachment" };
        let disposition = file_name::disposition(shown, &name);
        ContentHeaders { media_type: media_type::header(media_type), disposition }
    }
}
