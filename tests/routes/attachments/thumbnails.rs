//! `thumb_url`: thumbnails of images only.

use serde_json::Value;

use super::{Form, member, path, stored};
use crate::support::{Server, http, on_both};

on_both!(
    image_gets_a_thumbnail,
    thumbnail_applies_the_exif_orientation,
    transparent_edges_of_a_thumbnail_keep_their_color,
    colors_of_a_thumbnail_are_those_of_the_color_profile,
    file_that_is_not_an_image_has_no_thumbnail,
    deleting_an_attachment_deletes_its_thumbnail,
);

/// An uncompressed PNG of this size in one color.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = image::RgbImage::from_pixel(width, height, image::Rgb([200, 30, 30]));
    image.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).expect("it is written");
    bytes
}

/// The header of a PNG that declares this size, without image data.
pub fn png_head(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(1, 1);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut checksum = 0xffff_ffff_u32;
    for byte in &bytes[12..29] {
        checksum ^= u32::from(*byte);
        for _ in 0..8 {
            checksum = if checksum & 1 == 1 { checksum >> 1 ^ 0xedb8_8320 } else { checksum >> 1 };
        }
    }
    bytes[29..33].copy_from_slice(&(!checksum).to_be_bytes());
    bytes
}

/// An image in this format, half transparent with `alpha`.
fn encoded(format: image::ImageFormat, width: u32, height: u32, alpha: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut to = std::io::Cursor::new(&mut bytes);
    if alpha {
        image::RgbaImage::from_pixel(width, height, image::Rgba([1, 2, 3, 128])).write_to(&mut to, format)
    } else {
        image::RgbImage::from_pixel(width, height, image::Rgb([200, 30, 30])).write_to(&mut to, format)
    }
    .expect("it is written");
    bytes
}

/// Decodes the thumbnail of an attachment; returns it with its content type.
async fn thumbnail(attachment: &Value) -> (String, image::DynamicImage) {
    let url = attachment["thumb_url"].as_str().expect("a link to a thumbnail");
    let response = http().build().expect("a client").get(url).send().await;
    let response = response.expect("the server answers");
    assert_eq!(response.status().as_u16(), 200);
    let media_type = response.headers()["content-type"].to_str().expect("text").to_string();
    let bytes = response.bytes().await.expect("a body");
    (media_type, image::load_from_memory(&bytes).expect("an image"))
}

async fn image_gets_a_thumbnail(server: Server) {
    use image::ImageFormat::{Gif, Jpeg, Png, WebP};
    let member = member(&server).await;
    for (format, media_type, alpha, thumb_type) in [
        (Png, "image/png", false, "image/jpeg"),
        (Png, "image/png", true, "image/png"),
        (Jpeg, "image/jpeg", false, "image/jpeg"),
        (WebP, "image/webp", false, "image/jpeg"),
        (Gif, "image/gif", true, "image/png"),
    ] {
        let form = Form::default().on(&member).file("a", &encoded(format, 600, 150, alpha));
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["mime_type"], media_type);
        let (served, thumb) = thumbnail(&attachment).await;
        assert_eq!((served.as_str(), thumb.width(), thumb.height()), (thumb_type, 256, 64), "{media_type}");
        let answer = server.anonymous().get(&path(&attachment["url"])).await;
        assert_eq!(answer.status(200).header("content-type"), Some(media_type));
        assert!(answer.header("content-disposition").is_some_and(|text| text.starts_with("inline;")));
    }
    // Small images are not enlarged.
    let form = Form::default().on(&member).file("a.png", &png(10, 20));
    let attachment = form.send(&server.admin()).await.created("attachment");
    let (_, thumb) = thumbnail(&attachment).await;
    assert_eq!((thumb.width(), thumb.height()), (10, 20));
    // It is a JPEG, and its file name ends accordingly.
    let answer = server.anonymous().get(&path(&attachment["thumb_url"])).await;
    answer.status(200);
    let saved = "inline; filename=\"a.jpg\"; filename*=UTF-8''a.jpg";
    assert_eq!(
        [answer.header("content-type"), answer.header("content-disposition")],
        [Some("image/jpeg"), Some(saved)]
    );
}

/// A JPEG with an EXIF orientation.
async fn thumbnail_applies_the_exif_orientation(server: Server) {
    let member = member(&server).await;
    let jpeg = encoded(image::ImageFormat::Jpeg, 300, 100, false);
    let tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let length = u16::try_from(2 + 6 + tiff.len()).expect("a short segment").to_be_bytes();
    let exif = [b"\xff\xe1".as_slice(), &length, b"Exif\0\0", tiff].concat();
    let turned = [&jpeg[..2], &exif, &jpeg[2..]].concat();
    let form = Form::default().on(&member).file("a.jpg", &turned);
    let attachment = form.send(&server.admin()).await.created("attachment");
    let (_, thumb) = thumbnail(&attachment).await;
    assert!(thumb.height() > thumb.width(), "{} × {}", thumb.width(), thumb.height());
}

async fn transparent_edges_of_a_thumbnail_keep_their_color(server: Server) {
    let member = member(&server).await;
    let disc = |x: u32, y: u32| {
        let is_inside = x.abs_diff(350).pow(2) + y.abs_diff(350).pow(2) < 300 * 300;
        image::Rgba(if is_inside { [255, 240, 200, 255] } else { [0; 4] })
    };
    for format in [image::ImageFormat::Png, image::ImageFormat::WebP] {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::RgbaImage::from_fn(701, 701, disc).write_to(&mut bytes, format).expect("it is written");
        let form = Form::default().on(&member).file("a", &bytes.into_inner());
        let attachment = form.send(&server.admin()).await.created("attachment");
        let (served, thumb) = thumbnail(&attachment).await;
        assert_eq!(served, "image/png");
        let shown: Vec<_> = thumb.into_rgba8().pixels().copied().filter(|pixel| pixel[3] > 0).collect();
        assert!(shown.iter().any(|pixel| pixel[3] < 255), "the edge is soft");
        assert!(shown.iter().all(|pixel| pixel.0[..3] == [255, 240, 200]), "{format:?}");
    }
}

async fn colors_of_a_thumbnail_are_those_of_the_color_profile(server: Server) {
    use image::ImageEncoder;

    let member = member(&server).await;
    let pixels = image::RgbImage::from_pixel(300, 300, image::Rgb([200, 100, 50]));
    for profile in [None, Some(moxcms::ColorProfile::new_display_p3().encode().expect("a profile"))] {
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::png::PngEncoder::new(&mut bytes);
        let has_profile = profile.is_some();
        if let Some(profile) = profile {
            encoder.set_icc_profile(profile).expect("PNG has profiles");
        }
        encoder.write_image(&pixels, 300, 300, image::ExtendedColorType::Rgb8).expect("it is written");
        let form = Form::default().on(&member).file("a.png", &bytes);
        let attachment = form.send(&server.admin()).await.created("attachment");
        let (_, thumb) = thumbnail(&attachment).await;
        let [red, ..] = thumb.into_rgb8().get_pixel(100, 100).0;
        // The red of Display P3 is stronger than that of sRGB. JPEG is off by a few.
        assert_eq!(red > 207, has_profile, "{red}");
    }
}

async fn file_that_is_not_an_image_has_no_thumbnail(server: Server) {
    let member = member(&server).await;
    let whole = png(300, 300);
    for bytes in [&b"text"[..], b"%PDF-1.7", b"\x89PNG\r\n\x1a\nbroken", b"\xff\xd8\xff\xe0", &whole[..whole.len() / 2]]
    {
        let form = Form::default().on(&member).file("a", bytes);
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["thumb_url"], Value::Null, "{}", attachment["mime_type"]);
    }
}

async fn deleting_an_attachment_deletes_its_thumbnail(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).file("a.png", &png(300, 300));
    let attachment = form.send(&server.admin()).await.created("attachment");
    assert_eq!(stored(&server).len(), 2);
    server.admin().delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    super::until("both are deleted", async || stored(&server).is_empty()).await;
    server.anonymous().get(&path(&attachment["thumb_url"])).await.refused(404, "not_found");
}
