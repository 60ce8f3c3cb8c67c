//! PNG. Its decoder knows limits, and checks what it reads; but it unpacks the colour profile and the
//! texts before the picture, and stops at the last pixel, so that a file cut behind it would pass.
//!
//! Source: Portable Network Graphics (W3C, third edition).

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, Limits, codecs::png::PngDecoder, metadata::Orientation};

use super::{INPUT_SIDE, fits};

/// The colour profile and the texts take at most this many bytes of memory.
const EXTRAS: u64 = 16_000_000;
/// The type of the last chunk, which is empty, and its checksum.
const END: &[u8; 8] = b"IEND\xAE\x42\x60\x82";

/// The picture as it is stored, and how it is to be turned.
pub(super) fn decode(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    if !file.windows(END.len()).any(|end| end == END) {
        return None;
    }
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(INPUT_SIDE);
    limits.max_image_height = Some(INPUT_SIDE);
    limits.max_alloc = Some(EXTRAS);
    let mut decoder = PngDecoder::with_limits(Cursor::new(file), limits).ok()?;
    let (width, height) = decoder.dimensions();
    fits(
        width,
        height,
        decoder.total_bytes(),
        decoder.total_bytes() + EXTRAS,
    )?;
    let orientation = decoder.orientation().ok()?;
    Some((DynamicImage::from_decoder(decoder).ok()?, orientation))
}

#[cfg(test)]
pub(super) mod tests {
    use image::ImageFormat;

    use crate::avatar::{
        NotAnImage, clean,
        tests::{cleaned, encoded, exif, slope, slope_with_alpha},
    };

    pub(crate) fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let named = [name, data].concat();
        [
            &(data.len() as u32).to_be_bytes()[..],
            &named,
            &crc(&named).to_be_bytes(),
        ]
        .concat()
    }

    /// A PNG of these rows, each with its filter byte; they are stored, not compressed.
    pub(crate) fn png_of(
        width: u32,
        height: u32,
        depth: u8,
        colour: u8,
        extras: &[u8],
        rows: &[u8],
    ) -> Vec<u8> {
        let head = [
            &width.to_be_bytes()[..],
            &height.to_be_bytes(),
            &[depth, colour, 0, 0, 0],
        ]
        .concat();
        let length = rows.len() as u16;
        let (a, b) = rows.iter().fold((1, 0), |(a, b), byte| {
            (
                (a + u32::from(*byte)) % 65_521,
                (b + a + u32::from(*byte)) % 65_521,
            )
        });
        let zlib = [
            &[0x78, 1, 1][..],
            &length.to_le_bytes(),
            &(!length).to_le_bytes(),
            rows,
            &(b << 16 | a).to_be_bytes(),
        ]
        .concat();
        [
            b"\x89PNG\r\n\x1a\n",
            &chunk(b"IHDR", &head)[..],
            extras,
            &chunk(b"IDAT", &zlib),
            &chunk(b"IEND", b""),
        ]
        .concat()
    }

    /// The same file with chunks right after its header.
    pub(crate) fn with_chunks(png: &[u8], chunks: &[u8]) -> Vec<u8> {
        [&png[..33], chunks, &png[33..]].concat()
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 {
                    crc >> 1 ^ 0xEDB8_8320
                } else {
                    crc >> 1
                }
            })
        })
    }

    #[test]
    fn a_png_with_a_wrong_checksum_is_refused() {
        let file = png_of(1, 1, 8, 0, b"", &[0, 7]);
        assert!(clean(&file).is_ok());
        // The last bytes of the header's, the data's and the end's.
        for at in [32, file.len() - 13, file.len() - 1] {
            let mut wrong = file.clone();
            wrong[at] ^= 1;
            assert_eq!(clean(&wrong), Err(NotAnImage), "{at}");
        }
    }

    #[test]
    fn a_png_whose_pixels_end_early_is_refused() {
        assert!(clean(&png_of(2, 3, 8, 0, b"", &[0, 1, 2, 0, 3, 4, 0, 5, 6])).is_ok());
        assert_eq!(
            clean(&png_of(2, 3, 8, 0, b"", &[0, 1, 2, 0, 3, 4])),
            Err(NotAnImage)
        );
    }

    #[test]
    fn no_metadata_of_a_png_survives() {
        let plain = encoded(slope(40, 30), ImageFormat::Png);
        let extras = [
            chunk(b"tEXt", b"Comment\0secret"),
            chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0secret"),
            chunk(b"eXIf", &exif(1)),
            chunk(b"gAMA", &100_000_u32.to_be_bytes()),
            chunk(b"prVt", b"secret"),
        ]
        .concat();
        assert_eq!(clean(&with_chunks(&plain, &extras)), clean(&plain));
        // Of the chunks of our own PNG nothing but the needed ones.
        let (_, avatar) = cleaned(&with_chunks(
            &encoded(slope_with_alpha(), ImageFormat::Png),
            &extras,
        ));
        let (mut rest, mut names) = (&avatar.bytes[8..], Vec::new());
        while let [a, b, c, d, name @ ..] = rest {
            names.push(name[..4].to_vec());
            rest = &rest[u32::from_be_bytes([*a, *b, *c, *d]) as usize + 12..];
        }
        names.dedup();
        assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
    }

    #[test]
    fn of_an_animation_the_first_picture_counts() {
        let control = |number: u8| {
            [
                &[0, 0, 0, number][..],
                &[0, 0, 0, 1, 0, 0, 0, 1],
                &[0; 8],
                &[0, 1, 0, 10, 0, 0],
            ]
            .concat()
        };
        let still = png_of(
            1,
            1,
            8,
            0,
            &[
                chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]),
                chunk(b"fcTL", &control(0)),
            ]
            .concat(),
            &[0, 77],
        );
        let at = still.len() - 12;
        let more = [
            chunk(b"fcTL", &control(1)),
            chunk(
                b"fdAT",
                &[0, 0, 0, 2, 0x78, 1, 1, 2, 0, 0xFD, 0xFF, 0, 9, 0, 0, 0, 0],
            ),
        ]
        .concat();
        assert_eq!(
            cleaned(&[&still[..at], &more, &still[at..]].concat())
                .0
                .get_pixel(0, 0)
                .0,
            [77, 77, 77, 255]
        );
    }
}
