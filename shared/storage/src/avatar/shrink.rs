//! Making a picture small. The filters of `image` mix in the colours that full transparency hides, which
//! darkens edges and reveals hidden content, and the finer ones keep a second picture of floats.
//! This one averages every pixel, weighted by its opacity, and allocates nothing but its result.

use image::{DynamicImage, GenericImageView, Rgba, RgbaImage};

/// An avatar is at most this wide and this high.
const SIDE: u32 = 512;

/// Averages the pixels that fall in each pixel of the small picture, those at its edge by the part that
/// does. A colour counts as far as it is opaque: what is hidden under full transparency is gone.
pub(super) fn shrink(picture: &DynamicImage) -> RgbaImage {
    let (width, height) = picture.dimensions();
    let longest = width.max(height).max(SIDE);
    let small = |side: u32| ((side * SIDE + longest / 2) / longest).max(1);
    let area = u64::from(width) * u64::from(height);
    RgbaImage::from_fn(small(width), small(height), |x, y| {
        let (mut colour, mut opacity) = ([0; 3], 0);
        for (row, tall) in covered(y, small(height), height) {
            for (column, wide) in covered(x, small(width), width) {
                let Rgba([red, green, blue, alpha]) = picture.get_pixel(column, row);
                let weight = tall * wide * u64::from(alpha);
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

/// The pixels of a side that fall in pixel `at` when the side is shrunk from `large` to `small`, and how
/// much of each, in parts of which a pixel has `small`.
fn covered(at: u32, small: u32, large: u32) -> impl Iterator<Item = (u32, u64)> {
    let (from, to) = (at * large, (at + 1) * large);
    (from / small..to.div_ceil(small)).map(move |pixel| {
        (
            pixel,
            u64::from(to.min((pixel + 1) * small) - from.max(pixel * small)),
        )
    })
}

/// The quotient to the nearest; of nothing it is nothing.
fn rounded(sum: u64, of: u64) -> u8 {
    (sum + of / 2).checked_div(of).unwrap_or_default() as u8
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, Rgba, RgbaImage};

    use super::shrink;
    use crate::avatar::tests::{cleaned, encoded, gradient};

    #[test]
    fn an_avatar_is_at_most_512_by_512_in_its_proportions() {
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
    fn shrinking_averages_and_does_not_darken_edges() {
        // Three pixels become two: the middle one is halved.
        let three = RgbaImage::from_fn(768, 1, |x, _| {
            Rgba([[0, 90, 240][x as usize % 3], 0, 0, 255])
        });
        let out = shrink(&three.into());
        assert_eq!(
            (out.get_pixel(0, 0).0[0], out.get_pixel(1, 0).0[0]),
            (30, 190)
        );
        // White beside transparent black is white, half transparent.
        let edge = RgbaImage::from_fn(1024, 2, |x, _| {
            if x % 2 == 0 {
                Rgba([255; 4])
            } else {
                Rgba([0; 4])
            }
        });
        assert!(
            shrink(&edge.into())
                .pixels()
                .all(|pixel| pixel.0 == [255, 255, 255, 128])
        );
    }

    #[test]
    fn colours_hidden_under_full_transparency_are_gone() {
        let picture = RgbaImage::from_fn(4, 4, |x, _| {
            if x < 2 {
                Rgba([9, 99, 199, 0])
            } else {
                Rgba([9, 99, 199, 255])
            }
        });
        let (out, _) = cleaned(&encoded(picture, ImageFormat::Png));
        assert_eq!(
            (out.get_pixel(0, 0).0, out.get_pixel(3, 3).0),
            ([0; 4], [9, 99, 199, 255])
        );
    }
}
