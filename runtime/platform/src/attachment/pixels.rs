//! Pixels of thumbnails: averaged with their alpha, and converted to sRGB.

use std::ops::Range;

use image::{DynamicImage, GenericImageView, Rgba, RgbaImage};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};

/// Shrinks an image to fit into a square, and never enlarges it.
pub(super) fn shrink(image: DynamicImage, side: u32) -> DynamicImage {
    let (width, height) = image.dimensions();
    if width <= side && height <= side {
        return image;
    }
    if !image.color().has_alpha() {
        return image.thumbnail(side, side);
    }
    let longest = u64::from(width.max(height));
    // Rounded, and at least one pixel.
    let scaled = |length: u32| {
        let scaled = (u64::from(length) * u64::from(side) + longest / 2) / longest;
        u32::try_from(scaled).unwrap_or(side).max(1)
    };
    DynamicImage::ImageRgba8(average(&image, scaled(width), scaled(height)))
}

/// Averages the area of each pixel, with colors weighted by their alpha: the color of a transparent pixel, which is black
/// in most files, is no color of the picture.
fn average(image: &DynamicImage, width: u32, height: u32) -> RgbaImage {
    let columns = areas(image.width(), width);
    let rows = areas(image.height(), height);
    let mut shrunk = RgbaImage::new(width, height);
    for (row, pixels) in rows.iter().zip(shrunk.rows_mut()) {
        for (column, pixel) in columns.iter().zip(pixels) {
            let (mut colors, mut alpha, mut area) = ([0_u64; 3], 0_u64, 0_u64);
            for y in row.pixels.clone() {
                for x in column.pixels.clone() {
                    let Rgba([red, green, blue, opacity]) = image.get_pixel(x, y);
                    let share = row.share(y) * column.share(x);
                    let weight = share * u64::from(opacity);
                    for (sum, color) in colors.iter_mut().zip([red, green, blue]) {
                        *sum += weight * u64::from(color);
                    }
                    alpha += weight;
                    area += share;
                }
            }
            let [red, green, blue] = colors.map(|sum| divide(sum, alpha));
            *pixel = Rgba([red, green, blue, divide(alpha, area)]);
        }
    }
    shrunk
}

/// Rounded quotient of a sum of bytes; zero for no weight at all.
fn divide(sum: u64, weight: u64) -> u8 {
    (sum + weight / 2).checked_div(weight).and_then(|byte| u8::try_from(byte).ok()).unwrap_or_default()
}

/// The pixels of a line that become one pixel. Positions are multiples of 1/`unit` pixel, so that they are integers.
struct Area {
    pixels: Range<u32>,
    positions: Range<u64>,
    unit: u64,
}

impl Area {
    /// The part of a pixel that is in the area.
    fn share(&self, pixel: u32) -> u64 {
        let start = u64::from(pixel) * self.unit;
        (start + self.unit).min(self.positions.end).saturating_sub(start.max(self.positions.start))
    }
}

fn areas(length: u32, shrunk: u32) -> Vec<Area> {
    let (length, unit) = (u64::from(length), u64::from(shrunk));
    let pixel = |position: u64| u32::try_from(position).unwrap_or(u32::MAX);
    let area = |index: u64| {
        let positions = index * length..(index + 1) * length;
        Area { pixels: pixel(positions.start / unit)..pixel(positions.end.div_ceil(unit)), positions, unit }
    };
    (0..unit).map(area).collect()
}

/// Converts an image from the colors of its profile to sRGB, which a thumbnail without a profile is shown in. A profile
/// that cannot be read changes nothing, nor does one of other colors: decoders convert CMYK themselves.
pub(super) fn to_srgb(image: DynamicImage, profile: &[u8]) -> DynamicImage {
    let Ok(profile) = ColorProfile::new_from_slice(profile) else { return image };
    let srgb = ColorProfile::new_srgb();
    let convert = |from: Layout, pixels: &[u8], to: Layout, converted: &mut [u8]| {
        let transform = profile.create_transform_8bit(from, &srgb, to, TransformOptions::default()).ok()?;
        transform.transform(pixels, converted).ok()
    };
    let is_transparent = image.color().has_alpha();
    let to = if is_transparent { Layout::Rgba } else { Layout::Rgb };
    let (from, pixels) = match (profile.color_space, is_transparent) {
        (DataColorSpace::Rgb, true) => (Layout::Rgba, image.to_rgba8().into_raw()),
        (DataColorSpace::Rgb, false) => (Layout::Rgb, image.to_rgb8().into_raw()),
        (DataColorSpace::Gray, true) => (Layout::GrayAlpha, image.to_luma_alpha8().into_raw()),
        (DataColorSpace::Gray, false) => (Layout::Gray, image.to_luma8().into_raw()),
        _ => return image,
    };
    let (width, height) = image.dimensions();
    if is_transparent {
        let mut converted = RgbaImage::new(width, height);
        convert(from, &pixels, to, &mut converted).map_or(image, |()| DynamicImage::ImageRgba8(converted))
    } else {
        let mut converted = image::RgbImage::new(width, height);
        convert(from, &pixels, to, &mut converted).map_or(image, |()| DynamicImage::ImageRgb8(converted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transparent_pixels_do_not_change_the_color_of_their_neighbors() {
        // White on transparent black, with an edge in the middle of a pixel of the thumbnail.
        let white = |x: u32, y: u32| if x < 301 && y < 77 { Rgba([255; 4]) } else { Rgba([0; 4]) };
        let shrunk = shrink(DynamicImage::ImageRgba8(RgbaImage::from_fn(600, 150, white)), 256).into_rgba8();
        assert_eq!(shrunk.dimensions(), (256, 64));
        let edge = shrunk.pixels().filter(|pixel| (1..255).contains(&pixel[3])).count();
        assert!(edge > 0, "the edge is soft");
        assert!(shrunk.pixels().all(|pixel| pixel[3] == 0 || pixel.0[..3] == [255; 3]));
        assert_eq!((shrunk.get_pixel(0, 0)[3], shrunk.get_pixel(255, 63)[3]), (255, 0));
    }

    #[test]
    fn color_and_alpha_of_a_plain_picture_stay() {
        for size in [(257, 1), (1, 1000), (300, 299), (5000, 3)] {
            let plain = RgbaImage::from_pixel(size.0, size.1, Rgba([1, 2, 3, 4]));
            let shrunk = shrink(DynamicImage::ImageRgba8(plain), 256).into_rgba8();
            assert!(shrunk.width() <= 256 && shrunk.height() <= 256, "{size:?}");
            assert!(shrunk.pixels().all(|pixel| pixel.0 == [1, 2, 3, 4]), "{size:?}");
        }
        let small = DynamicImage::ImageRgba8(RgbaImage::from_pixel(10, 20, Rgba([1, 2, 3, 4])));
        assert_eq!(shrink(small.clone(), 256), small);
    }

    #[test]
    fn colors_of_a_profile_become_those_of_srgb() {
        let profile = ColorProfile::new_display_p3().encode().expect("a profile");
        let pixel = [200, 100, 50];
        let opaque = DynamicImage::ImageRgb8(image::RgbImage::from_pixel(2, 2, image::Rgb(pixel)));
        let [red, green, blue] = to_srgb(opaque.clone(), &profile).into_rgb8().get_pixel(1, 1).0;
        assert!(red > 205 && green < 100 && blue < 45, "a wider gamut has stronger colors: {red} {green} {blue}");
        let [red, _, _] = pixel;
        let transparent = DynamicImage::ImageRgba8(RgbaImage::from_pixel(2, 2, Rgba([red, 100, 50, 77])));
        let converted = to_srgb(transparent, &profile).into_rgba8();
        assert!(converted.get_pixel(0, 0)[0] > 205 && converted.get_pixel(0, 0)[3] == 77);
        for other in [&b""[..], b"no profile", &profile[..profile.len() / 2]] {
            assert_eq!(to_srgb(opaque.clone(), other), opaque);
        }
        let gray = ColorProfile::new_gray_with_gamma(1.0).encode().expect("a profile");
        let image = DynamicImage::ImageLuma8(image::GrayImage::from_pixel(2, 2, image::Luma([128])));
        assert!(to_srgb(image, &gray).into_rgb8().get_pixel(0, 0)[0] > 180, "linear gray is brighter");
    }
}
