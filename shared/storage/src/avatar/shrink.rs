//! Scales a picture down to the size of an avatar.
//!
//! The filters of `image` mix in the colours of fully transparent pixels, which darkens edges and reveals
//! hidden content, and the finer ones keep a second picture of floats. This filter averages all pixels,
//! weighted by their opacity, and allocates only its result.

use image::{DynamicImage, GenericImageView, Rgba, RgbaImage};

/// The largest width and height of an avatar.
const SIDE: u32 = 512;

/// Averages the source pixels that each target pixel covers; partly covered ones count by that part. Colours
/// are weighted by opacity, so the colours of fully transparent pixels are removed.
pub(super) fn shrink(picture: &DynamicImage) -> RgbaImage {
    let (width, height) = picture.dimensions();
    let longest = width.max(height).max(SIDE);
    let small = |side: u32| ((side * SIDE + longest / 2) / longest).max(1);
    let area = u64::from(width) * u64::from(height);
    RgbaImage::from_fn(small(width), small(height), |x, y| {
        let (mut colour, mut opacity) = ([0; 3], 0);
        for (row, height_part) in covered(y, small(height), height) {
            for (column, width_part) in covered(x, small(width), width) {
                let Rgba([red, green, blue, alpha]) = picture.get_pixel(column, row);
                let weight = height_part * width_part * u64::from(alpha);
                for (sum, channel) in colour.iter_mut().zip([red, green, blue]) {
                    *sum += weight * u64::from(channel);
                }
                opacity += weight;
            }
        }
        let [red, green, blue] = colour.map(|sum| rounded(sum, opacity));
        Rgba([red, green, blue, rounded(opacity, area)])
    })
}

/// The source pixels that target pixel `at` covers when a side shrinks from `large` to `small`, each with
/// the covered length in units of 1/`small` of a pixel.
fn covered(at: u32, small: u32, large: u32) -> impl Iterator<Item = (u32, u64)> {
    let (from, to) = (at * large, (at + 1) * large);
    (from / small..to.div_ceil(small))
        .map(move |pixel| (pixel, u64::from(to.min((pixel + 1) * small) - from.max(pixel * small))))
}

/// The quotient rounded to the nearest integer; 0 when `of` is 0.
fn rounded(sum: u64, of: u64) -> u8 {
    (sum + of / 2).checked_div(of).unwrap_or_default() as u8
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, Rgba, RgbaImage};

    use super::shrink;
    use crate::avatar::tests::{cleaned, encoded, gradient};

    #[test]
    fn avatar_fits_512_square_and_keeps_aspect_ratio() {
        for (from, to) in [
            ((1, 1), (1, 1)),
            ((511, 3), (511, 3)),
            ((512, 512), (512, 512)),
            ((513, 512), (512, 511)),
            ((1000, 500), (512, 256)),
            ((600, 1200), (256, 512)),
            ((1, 16_384), (1, 512)),
            ((16_384, 1), (512, 1)),
            ((3, 1024), (2, 512)),
        ] {
            let (out, _) = cleaned(&encoded(gradient(from.0, from.1), ImageFormat::Png));
            assert_eq!(out.dimensions(), to, "{from:?}");
        }
    }

    #[test]
    fn shrink_averages_colours_without_dark_edges() {
        // Three pixels become two: half of the middle one goes to each.
        let three =
            RgbaImage::from_fn(768, 1, |x, _| Rgba([[0, 90, 240][x as usize % 3], 0, 0, 255]));
        let out = shrink(&three.into());
        assert_eq!((out.get_pixel(0, 0).0[0], out.get_pixel(1, 0).0[0]), (30, 190));
        // White next to transparent black becomes half-transparent white.
        let edge = RgbaImage::from_fn(1024, 2, |x, _| Rgba([[255; 4], [0; 4]][x as usize % 2]));
        assert!(shrink(&edge.into()).pixels().all(|pixel| pixel.0 == [255, 255, 255, 128]));
    }

    #[test]
    fn shrink_colours_of_transparent_pixels_removed() {
        let picture = RgbaImage::from_fn(4, 4, |x, _| {
            if x < 2 { Rgba([9, 99, 199, 0]) } else { Rgba([9, 99, 199, 255]) }
        });
        let (out, _) = cleaned(&encoded(picture, ImageFormat::Png));
        assert_eq!((out.get_pixel(0, 0).0, out.get_pixel(3, 3).0), ([0; 4], [9, 99, 199, 255]));
    }
}
