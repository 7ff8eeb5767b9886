//! Thumbnails of uploaded images, created within limits on pixels and memory.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::media_type::IMAGES;
use super::pixels;

/// Maximum width and height of a thumbnail.
const MAX_SIDE_PIXELS: u32 = 256;
/// Images with more pixels are rejected: a small file can declare any number of them.
pub(super) const MAX_PIXELS: u64 = 100_000_000;
/// An image that needs more memory to decode gets no thumbnail.
const MAX_DECODE_BYTES: u64 = 96 << 20;
/// Higher values make no visible difference in photographs.
const JPEG_QUALITY: u8 = 80;

/// An encoded thumbnail.
#[derive(Debug)]
pub struct Thumb {
    pub bytes: Bytes,
    pub media_type: &'static str,
}

/// Result of inspecting a file.
#[derive(Debug)]
pub enum ImageInspection {
    /// Not a supported image, or unreadable.
    NotAnImage,
    Thumbnail(Thumb),
    /// Exceeds [`MAX_PIXELS`]: width and height.
    TooLarge(u32, u32),
}

/// Inspects an image of this type and creates its thumbnail. It blocks and needs memory: run one at a time on a
/// blocking thread.
pub(super) fn inspect(path: &Path, media_type: &str) -> ImageInspection {
    let Some(format) = format(media_type) else { return ImageInspection::NotAnImage };
    let open = || File::open(path).map(|file| ImageReader::with_format(BufReader::new(file), format)).ok();
    // The dimensions are in the header; nothing is decoded yet.
    let Some(Ok((width, height))) = open().map(|mut reader| {
        reader.limits(limits());
        reader.into_dimensions()
    }) else {
        return ImageInspection::NotAnImage;
    };
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return ImageInspection::TooLarge(width, height);
    }
    match open().and_then(|reader| thumb(reader).ok()) {
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

fn thumb(mut reader: ImageReader<BufReader<File>>) -> image::ImageResult<Thumb> {
    reader.limits(limits());
    let mut decoder = reader.into_decoder()?;
    if decoder.total_bytes() > MAX_DECODE_BYTES {
        let limit = image::error::LimitErrorKind::InsufficientMemory;
        return Err(image::ImageError::Limits(image::error::LimitError::from_kind(limit)));
    }
    let orientation = decoder.orientation()?;
    // An unreadable profile is none.
    let profile = decoder.icc_profile().ok().flatten();
    let mut small = pixels::shrink(DynamicImage::from_decoder(decoder)?, MAX_SIDE_PIXELS);
    if let Some(profile) = profile {
        small = pixels::to_srgb(small, &profile);
    }
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
