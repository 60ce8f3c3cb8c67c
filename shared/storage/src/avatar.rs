//! Avatars: whatever picture somebody uploads becomes a small, plain one, or is refused. A file of a few
//! megabytes can ask for gigabytes, hide a second file, or tell where its picture was taken; so each kind
//! is weighed before its decoder sees it, and nothing leaves here that was not drawn anew from pixels.

mod jpeg;
mod png;
mod shrink;
mod vp8l;
mod webp;

use std::{error::Error, fmt, panic::catch_unwind};

use image::{
    DynamicImage, ImageResult, RgbaImage,
    codecs::{jpeg::JpegEncoder, png::PngEncoder},
    metadata::Orientation,
};
use shrink::shrink;

/// An uploaded picture is at most this wide and this high.
const INPUT_SIDE: u32 = 16_384;
/// An uploaded picture has at most this many pixels.
const PIXELS: u64 = 25_000_000;
/// An uploaded picture has at most this many bytes once decoded.
const DECODED: u64 = 100_000_000;
/// A decoder takes at most this many bytes, the decoded ones included: some would take three times those.
const MEMORY: u64 = 180_000_000;
/// How well a JPEG is encoded, of 100.
const QUALITY: u8 = 85;

/// A picture made safe to show to others: at most 512 by 512, eight bits a channel, upright, with
/// nothing of the uploaded file but its looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Avatar {
    /// The file.
    pub bytes: Vec<u8>,
    /// What it is.
    pub format: Format,
}

/// The format of an avatar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Of an opaque picture.
    Jpeg,
    /// Of a picture that is transparent somewhere.
    Png,
}

impl Format {
    /// The media type, for `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }

    /// The usual ending of a file's name, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }
}

/// The file is no whole PNG, JPEG or WebP, or one too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnImage;

impl fmt::Display for NotAnImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an image that can be an avatar")
    }
}

impl Error for NotAnImage {}

/// Makes an avatar of an uploaded file.
///
/// Takes the bytes of a PNG, JPEG or WebP, told by content; of an animation the first picture counts.
/// Gives it upright, shrunk to at most 512 by 512 in its proportions and never enlarged: a PNG where it
/// is transparent, else a JPEG. Colour profiles are dropped, so colours are read as sRGB.
///
/// It works for up to some seconds and takes up to 180 MB: call it where blocking is allowed.
///
/// # Errors
/// [`NotAnImage`] when the file is anything else, is cut or found broken, has a side above 16,384, more
/// than 25 megapixels, more than 100,000,000 bytes once decoded, or would take more than 180,000,000
/// bytes to decode. The last refuses progressive JPEGs above 20 megapixels if no channel is subsampled
/// (16 in CMYK), and lossy WebPs above 16 megapixels if they are transparent.
pub fn clean(file: &[u8]) -> Result<Avatar, NotAnImage> {
    // Decoders have been known to panic on broken files; such a file is no picture either.
    let (picture, orientation) = catch_unwind(|| decode(file))
        .ok()
        .flatten()
        .ok_or(NotAnImage)?;
    let mut small = DynamicImage::ImageRgba8(shrink(&picture));
    drop(picture);
    small.apply_orientation(orientation);
    encode(small.into_rgba8()).map_err(|_| NotAnImage)
}

/// Gives the picture as it is stored, and how it is to be turned.
fn decode(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    match file {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => png::decode(file),
        [0xFF, 0xD8, ..] => jpeg::decode(file),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => webp::decode(file),
        _ => None,
    }
}

/// Something when a picture is within all bounds, given its bytes once decoded and what decoding takes.
fn fits(width: u32, height: u32, decoded: u64, memory: u64) -> Option<()> {
    let sides = 1..=INPUT_SIDE;
    let pixels = u64::from(width) * u64::from(height);
    let fits = sides.contains(&width)
        && sides.contains(&height)
        && pixels <= PIXELS
        && decoded <= DECODED
        && memory <= MEMORY;
    fits.then_some(())
}

fn encode(picture: RgbaImage) -> ImageResult<Avatar> {
    let mut bytes = Vec::new();
    let format = if picture.pixels().any(|pixel| pixel.0[3] < u8::MAX) {
        picture.write_with_encoder(PngEncoder::new(&mut bytes))?;
        Format::Png
    } else {
        let opaque = DynamicImage::ImageRgba8(picture).into_rgb8();
        opaque.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))?;
        Format::Jpeg
    };
    Ok(Avatar { bytes, format })
}

#[cfg(test)]
mod tests {
    use std::{error::Error, io::Cursor};

    use image::{
        DynamicImage, ExtendedColorType, ImageBuffer, ImageEncoder, ImageFormat, Luma, LumaA, Rgb,
        RgbImage, Rgba, RgbaImage, codecs::jpeg::JpegEncoder, metadata::Orientation,
    };

    use super::{
        Avatar, DECODED, Format, MEMORY, NotAnImage, clean, fits,
        jpeg::tests::{jpeg_of, segment, with_segments},
        png::tests::{chunk, png_of, with_chunks},
        webp::tests::{ALPH, VP8, riff, vp8l, vp8x},
    };

    pub(crate) fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        picture.into().write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    /// Red rises from left to right, green from top to bottom.
    pub(crate) fn slope(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 60])
        })
    }

    pub(crate) fn slope_with_alpha() -> RgbaImage {
        RgbaImage::from_fn(24, 16, |x, y| {
            Rgba([x as u8 * 10, y as u8 * 15, 60, 100 + x as u8])
        })
    }

    pub(crate) fn cleaned(file: &[u8]) -> (RgbaImage, Avatar) {
        let avatar = clean(file).unwrap();
        (
            image::load_from_memory(&avatar.bytes).unwrap().into_rgba8(),
            avatar,
        )
    }

    pub(crate) fn holds(file: &[u8], part: &[u8]) -> bool {
        file.windows(part.len()).any(|window| window == part)
    }

    /// TIFF with one entry: the orientation.
    pub(crate) fn exif(orientation: u8) -> Vec<u8> {
        [
            &b"MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
            &[orientation],
            b"\0\0\0\0\0\0",
        ]
        .concat()
    }

    fn near(is: Rgba<u8>, wanted: [u8; 4]) -> bool {
        is.0.iter()
            .zip(wanted)
            .all(|(is, wanted)| is.abs_diff(wanted) <= 8)
    }

    #[test]
    fn what_is_no_png_jpeg_or_webp_is_refused() {
        let (png, jpeg) = (
            encoded(slope(9, 9), ImageFormat::Png),
            encoded(slope(9, 9), ImageFormat::Jpeg),
        );
        let webp = encoded(slope(9, 9), ImageFormat::WebP);
        let files: &[(&str, &[u8])] = &[
            ("nothing", b""),
            ("a byte", b"\x89"),
            ("a text", b"This is a picture, believe me."),
            ("zeros", &[0; 4096]),
            ("SVG", b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"),
            ("SVG with a declaration", b"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
            ("HTML", b"<!doctype html><img src=x onerror=alert(1)>"),
            ("GIF", b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"),
            ("BMP", b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0"),
            ("TIFF", b"II\x2a\0\x08\0\0\0\0\0\0\0\0\0"),
            ("ICO", b"\0\0\x01\0\x01\0\x01\x01\0\0\x01\0\x18\0\x30\0\0\0\x16\0\0\0"),
            ("AVIF", b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf"),
            ("PDF", b"%PDF-1.7\n"),
            ("ZIP", b"PK\x03\x04\x14\0\0\0\0\0"),
            ("a sound in RIFF", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0"),
            ("PNG, the signature alone", &png[..8]),
            ("JPEG, the signature alone", &jpeg[..2]),
            ("WebP, the signature alone", &webp[..12]),
            ("an empty WebP", &riff(&[])),
            ("JPEG without a picture", &[0xFF, 0xD8, 0xFF, 0xD9]),
            ("a JPEG after a PNG's signature", &[&png[..8], &jpeg].concat()),
            ("a PNG after a JPEG's signature", &[&jpeg[..2], &png].concat()),
            ("a JPEG in a WebP", &riff(&[(b"VP8 ", &jpeg)])),
            ("a lossy stream as a lossless one", &riff(&[(b"VP8L", VP8)])),
            ("a picture after a space", &[b" ", &png[..]].concat()),
        ];
        for (what, file) in files {
            assert_eq!(clean(file), Err(NotAnImage), "{what}");
        }
    }

    #[test]
    fn a_picture_cut_anywhere_is_refused() {
        let files = [
            encoded(slope(20, 12), ImageFormat::Png),
            encoded(slope(20, 12), ImageFormat::Jpeg),
            encoded(slope(20, 12), ImageFormat::WebP),
            jpeg_of(40, 3, true, "123"),
            riff(&[(b"VP8 ", VP8)]),
            riff(&[
                (b"VP8X", &vp8x(0x10, 16, 8)),
                (b"ALPH", ALPH),
                (b"VP8 ", VP8),
            ]),
        ];
        for file in files {
            assert!(clean(&file).is_ok(), "{file:x?}");
            for length in 0..file.len() {
                assert_eq!(
                    clean(&file[..length]),
                    Err(NotAnImage),
                    "{length} of {}",
                    file.len()
                );
            }
        }
    }

    #[test]
    fn a_picture_beyond_the_bounds_is_refused_by_its_header() {
        let png =
            |width, height, depth, colour| png_of(width, height, depth, colour, b"", &[0; 999]);
        let lossless = |width: u32, height: u32| {
            riff(&[(
                b"VP8L",
                &[
                    &[0x2F][..],
                    &((height - 1) << 14 | (width - 1)).to_le_bytes(),
                    &[0; 99],
                ]
                .concat(),
            )])
        };
        let files = [
            png(65_535, 65_535, 8, 6),
            png(u32::MAX, u32::MAX, 16, 6),
            png(0, 1, 8, 2),
            png(16_385, 1, 8, 0),
            png(1, 16_385, 8, 0),
            png(5_001, 5_000, 8, 0),
            png(5_000, 5_000, 16, 6),
            jpeg_of(5_001, 1, false, "1"),
            jpeg_of(65_535, 3, false, ""),
            lossless(16_384, 16_384),
            lossless(5_001, 5_000),
        ];
        for (number, file) in files.iter().enumerate() {
            assert_eq!(clean(file), Err(NotAnImage), "{number}");
        }
        assert_eq!(fits(5_000, 5_000, DECODED, MEMORY), Some(()));
        assert_eq!(fits(16_384, 1, 1, 1), Some(()));
        for (width, height, decoded, memory) in [
            (0, 1, 0, 0),
            (16_385, 1, 1, 1),
            (5_001, 5_000, 1, 1),
            (1, 1, DECODED + 1, 1),
            (1, 1, 1, MEMORY + 1),
        ] {
            assert_eq!(fits(width, height, decoded, memory), None);
        }
    }

    #[test]
    fn what_is_appended_to_a_picture_is_gone() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let plain = encoded(slope(40, 30), format);
            for tail in [
                &b"<html><script>alert(1)</script></html>"[..],
                b"PK\x03\x04payload.exe",
                b"\xFF\xD8\xFF\xE0 payload \xFF\xD9",
            ] {
                let (_, avatar) = cleaned(&[&plain[..], tail].concat());
                assert_eq!(Ok(&avatar), clean(&plain).as_ref());
                assert!(!holds(&avatar.bytes, b"script") && !holds(&avatar.bytes, b"payload"));
            }
        }
    }

    #[test]
    fn an_opaque_picture_becomes_a_jpeg_and_a_transparent_one_a_png() {
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let (out, avatar) = cleaned(&encoded(slope_with_alpha(), format));
            assert_eq!(
                (
                    avatar.format,
                    avatar.format.content_type(),
                    avatar.format.extension()
                ),
                (Format::Png, "image/png", "png")
            );
            assert_eq!(out, slope_with_alpha());
            let mut opaque = slope_with_alpha();
            opaque.pixels_mut().for_each(|pixel| pixel.0[3] = 255);
            let (_, avatar) = cleaned(&encoded(opaque, format));
            assert_eq!(
                (
                    avatar.format,
                    avatar.format.content_type(),
                    avatar.format.extension()
                ),
                (Format::Jpeg, "image/jpeg", "jpg")
            );
        }
    }

    #[test]
    fn exif_turns_the_picture_upright() {
        let (jpeg, png) = (
            encoded(slope(64, 32), ImageFormat::Jpeg),
            encoded(slope(64, 32), ImageFormat::Png),
        );
        for orientation in 1..=8 {
            let tiff = exif(orientation);
            let stream = vp8l(DynamicImage::from(slope(64, 32)).into_rgba8());
            let files = [
                with_segments(&jpeg, &segment(0xE1, &[b"Exif\0\0", &tiff[..]].concat())),
                with_chunks(&png, &chunk(b"eXIf", &tiff)),
                riff(&[
                    (b"VP8X", &vp8x(8, 64, 32)),
                    (b"VP8L", &stream),
                    (b"EXIF", &tiff),
                ]),
            ];
            let mut wanted = DynamicImage::from(slope(64, 32));
            wanted.apply_orientation(Orientation::from_exif(orientation).unwrap());
            let wanted = wanted.into_rgba8();
            for file in files {
                let (out, avatar) = cleaned(&file);
                assert_eq!(out.dimensions(), wanted.dimensions(), "{orientation}");
                assert!(
                    out.pixels()
                        .zip(wanted.pixels())
                        .all(|(is, wanted)| near(*is, wanted.0)),
                    "{orientation}"
                );
                assert!(!holds(&avatar.bytes, b"Exif"));
            }
        }
    }

    #[test]
    fn a_large_picture_is_shrunk_and_turned() {
        let jpeg = encoded(slope(1000, 500), ImageFormat::Jpeg);
        let (out, _) = cleaned(&with_segments(
            &jpeg,
            &segment(0xE1, &[b"Exif\0\0", &exif(6)[..]].concat()),
        ));
        assert_eq!(out.dimensions(), (256, 512));
        // Turned clockwise, the lower left corner is now the upper left.
        assert!(
            near(*out.get_pixel(0, 0), [0, 255, 60, 255])
                && near(*out.get_pixel(0, 511), [255, 255, 60, 255])
        );
    }

    #[test]
    fn every_kind_of_pixel_becomes_eight_bits_of_red_green_and_blue() {
        let grey = encoded(
            ImageBuffer::from_pixel(9, 9, Luma([200_u8])),
            ImageFormat::Png,
        );
        let grey_alpha = encoded(
            ImageBuffer::from_pixel(9, 9, LumaA([200_u8, 50])),
            ImageFormat::Png,
        );
        let deep = encoded(
            ImageBuffer::from_pixel(9, 9, Rgba([0xFFFF_u16, 0x8080, 0, 0x4040])),
            ImageFormat::Png,
        );
        let deep_grey = encoded(
            ImageBuffer::from_pixel(9, 9, Luma([0x8080_u16])),
            ImageFormat::Png,
        );
        let palette = |colours: &[u8], alphas: &[u8]| {
            [chunk(b"PLTE", colours), chunk(b"tRNS", alphas)].concat()
        };
        let mut grey_jpeg = Vec::new();
        JpegEncoder::new(&mut grey_jpeg)
            .write_image(&[90; 81], 9, 9, ExtendedColorType::L8)
            .unwrap();
        for (what, file, format, colour) in [
            ("grey", grey, Format::Jpeg, [200, 200, 200, 255]),
            (
                "grey with alpha",
                grey_alpha,
                Format::Png,
                [200, 200, 200, 50],
            ),
            ("16 bits with alpha", deep, Format::Png, [255, 128, 0, 64]),
            (
                "16 bits of grey",
                deep_grey,
                Format::Jpeg,
                [128, 128, 128, 255],
            ),
            (
                "1 bit",
                png_of(1, 1, 1, 0, b"", &[0, 0x80]),
                Format::Jpeg,
                [255, 255, 255, 255],
            ),
            (
                "palette",
                png_of(
                    1,
                    1,
                    2,
                    3,
                    &palette(&[1, 2, 3, 40, 50, 60], &[]),
                    &[0, 0x40],
                ),
                Format::Jpeg,
                [40, 50, 60, 255],
            ),
            (
                "palette with alpha",
                png_of(
                    1,
                    1,
                    2,
                    3,
                    &palette(&[1, 2, 3, 40, 50, 60], &[255, 70]),
                    &[0, 0x40],
                ),
                Format::Png,
                [40, 50, 60, 70],
            ),
            (
                "one colour that stands for none",
                png_of(
                    1,
                    1,
                    8,
                    2,
                    &chunk(b"tRNS", &[0, 1, 0, 2, 0, 3]),
                    &[0, 1, 2, 3],
                ),
                Format::Png,
                [0; 4],
            ),
            ("grey JPEG", grey_jpeg, Format::Jpeg, [90, 90, 90, 255]),
            (
                "progressive JPEG",
                jpeg_of(40, 3, true, "123"),
                Format::Jpeg,
                [128, 128, 128, 255],
            ),
            (
                "CMYK JPEG",
                jpeg_of(40, 4, false, "1234"),
                Format::Jpeg,
                [64, 64, 64, 255],
            ),
            (
                "lossy WebP",
                riff(&[(b"VP8 ", VP8)]),
                Format::Jpeg,
                [255, 0, 0, 255],
            ),
            (
                "lossy WebP with alpha",
                riff(&[
                    (b"VP8X", &vp8x(0x10, 16, 8)),
                    (b"ALPH", ALPH),
                    (b"VP8 ", VP8),
                ]),
                Format::Png,
                [255, 0, 0, 128],
            ),
        ] {
            let (out, avatar) = cleaned(&file);
            assert_eq!(avatar.format, format, "{what}");
            assert!(
                out.pixels().all(|pixel| near(*pixel, colour)),
                "{what}: {:?}",
                out.get_pixel(0, 0)
            );
        }
    }

    #[test]
    fn an_avatar_can_be_uploaded_again() {
        for picture in [
            DynamicImage::from(slope(700, 300)),
            slope_with_alpha().into(),
        ] {
            let (out, avatar) = cleaned(&encoded(picture, ImageFormat::Png));
            let (again, second) = cleaned(&avatar.bytes);
            assert_eq!(
                (second.format, again.dimensions()),
                (avatar.format, out.dimensions())
            );
        }
    }

    #[test]
    fn the_refusal_says_what_it_is() {
        let refusal: &dyn Error = &NotAnImage;
        assert_eq!(refusal.to_string(), "not an image that can be an avatar");
    }
}
