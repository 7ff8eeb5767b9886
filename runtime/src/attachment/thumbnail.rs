//! Small pictures of uploaded images, made without being overwhelmed by the large ones.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::media_type::IMAGES;

/// Width and height are at most so many pixels.
const MAX_SIDE_PIXELS: u32 = 256;
/// An image of more pixels is refused: a small file can claim any number of them.
pub const MAX_PIXELS: u64 = 100_000_000;
/// An image that needs more bytes to be decoded has no thumbnail.
const MAX_DECODE_BYTES: u64 = 96 << 20;
/// Of a photograph nobody sees the difference to more.
const JPEG_QUALITY: u8 = 80;

/// A small picture.
#[derive(Debug)]
pub struct Thumb {
    pub bytes: Bytes,
    pub media_type: &'static str,
}

/// What there is to say of a file.
#[derive(Debug)]
pub enum ImageInspection {
    /// No image of a known kind, or one that cannot be read.
    NotAnImage,
    Thumbnail(Thumb),
    /// More pixels than are taken.
    TooLarge(u32, u32),
}

/// Looks at a file of this type. It is read as it is decoded, and takes memory and time: run it where it may, one at a
/// time.
pub fn inspect(path: &Path, media_type: &str) -> ImageInspection {
    let Some(format) = format(media_type) else { return ImageInspection::NotAnImage };
    let open = || File::open(path).map(|file| ImageReader::with_format(BufReader::new(file), format)).ok();
    // The size stands in the head: nothing is decoded for it.
    let Some(Ok((width, height))) = open().map(|mut reader| {
        reader.limits(limits());
        reader.into_dimensions()
    }) else {
        return ImageInspection::NotAnImage;
    };
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return ImageInspection::TooLarge(width, height);
    }
    match open().and_then(|reader| shrink(reader).ok()) {
        Some(thumb) => ImageInspection::Thumbnail(thumb),
        None => ImageInspection::NotAnImage,
    }
}

fn format(media_type: &str) -> Option<ImageFormat> {
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    IMAGES.iter().position(|known| *known == media_type).map(|at| formats[at])
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODE_BYTES);
    limits
}

fn shrink(mut reader: ImageReader<BufReader<File>>) -> image::ImageResult<Thumb> {
    reader.limits(limits());
    let mut decoder = reader.into_decoder()?;
    if decoder.total_bytes() > MAX_DECODE_BYTES {
        let limit = image::error::LimitErrorKind::InsufficientMemory;
        return Err(image::ImageError::Limits(image::error::LimitError::from_kind(limit)));
    }
    let orientation = decoder.orientation()?;
    let image = DynamicImage::from_decoder(decoder)?;
    // Enlarging what is small would show nothing more.
    let mut small = match image.width() <= MAX_SIDE_PIXELS && image.height() <= MAX_SIDE_PIXELS {
        true => image,
        false => image.thumbnail(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS),
    };
    small.apply_orientation(orientation);
    let mut bytes = Vec::new();
    let media_type = if small.color().has_alpha() {
        DynamicImage::ImageRgba8(small.into_rgba8()).write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
        "image/png"
    } else {
        small.into_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))?;
        "image/jpeg"
    };
    Ok(Thumb { bytes: bytes.into(), media_type })
}
