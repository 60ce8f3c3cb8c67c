//! Avatars: an uploaded picture becomes a small, plain one, or is refused.
//!
//! A file of 4 MiB can ask for gigabytes of memory or minutes of CPU, contain a second file, or say
//! where the picture was taken. So the size is checked before anything is decoded, what the decoders
//! cannot bound is refused, and the result is encoded anew from pixels. `tests/worst_pictures.rs`
//! measures the worst files of each format.

mod shrink;

use std::{error::Error, fmt, io::Cursor, panic::catch_unwind};

use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageResult, Limits, RgbImage, RgbaImage,
    codecs::{
        jpeg::JpegEncoder,
        png::{PngDecoder, PngEncoder},
    },
    metadata::Orientation,
};
use image_webp::WebPDecoder;
use shrink::shrink;
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, options::DecoderOptions},
};

/// The largest width and height of an uploaded picture.
const MAX_SIDE: u32 = 16_384;
/// The most pixels of an uploaded picture.
const MAX_PIXELS: u64 = 16_000_000;
/// The most bytes of an uploaded picture once it is decoded.
const MAX_DECODED: u64 = 100_000_000;
/// The most bytes for the decoded picture and what its decoder keeps beside it. Rows, tables and
/// metadata take up to 4 MB more.
const MAX_MEMORY: u64 = 176_000_000;
/// The most bytes for the colour profile and the texts of a PNG.
const MAX_PNG_METADATA: u64 = 16_000_000;
/// The most scans of a progressive JPEG: ten are usual, and each passes over the whole picture.
const MAX_SCANS: usize = 32;
/// The JPEG quality of an avatar, of 100.
const QUALITY: u8 = 85;

/// A picture that is safe to publish: at most 512 by 512, eight bits a channel, upright, without
/// metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Avatar {
    /// The encoded file.
    pub bytes: Vec<u8>,
    /// Its format.
    pub format: Format,
}

/// The format of an avatar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For an opaque picture.
    Jpeg,
    /// For a picture with transparent pixels.
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

    /// The usual extension of a file name, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }
}

/// The file is not a complete PNG, JPEG or lossy WebP within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnImage;

impl fmt::Display for NotAnImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an image that can be an avatar")
    }
}

impl Error for NotAnImage {}

/// Makes an avatar of an uploaded file: PNG, JPEG or lossy WebP, recognised by its content.
///
/// The avatar is upright, fits 512 by 512 in its proportions, is never enlarged, and is a PNG if it is
/// transparent, else a JPEG. Colour profiles are dropped: colours are read as sRGB. Of an animated PNG
/// the default image counts.
///
/// This takes up to two seconds of CPU and 180 MB: call it where blocking is allowed.
///
/// # Errors
/// [`NotAnImage`] if the file is anything else, lossless or animated WebP included, is cut or broken,
/// has a side above 16,384, more than 16,000,000 pixels, more than 100,000,000 bytes once decoded, or
/// would take more than 180 MB to decode: the transparency of a lossy WebP (about 20 kB at most,
/// compressed) and some JPEGs in CMYK.
pub fn clean(file: &[u8]) -> Result<Avatar, NotAnImage> {
    // The decoders have panicked on broken files before.
    let (picture, orientation) = catch_unwind(|| decode(file))
        .ok()
        .flatten()
        .ok_or(NotAnImage)?;
    let mut small = DynamicImage::ImageRgba8(shrink(&picture));
    drop(picture);
    small.apply_orientation(orientation);
    encode(small.into_rgba8()).map_err(|_| NotAnImage)
}

/// The picture as it is stored, and how it must be turned.
fn decode(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    match image::guess_format(file).ok()? {
        ImageFormat::Png => decode_png(file),
        ImageFormat::Jpeg => decode_jpeg(file),
        ImageFormat::WebP => decode_webp(file),
        _ => None,
    }
}

/// The pixel count of a picture of this size, if it is within the limits.
fn check_size(width: u32, height: u32, bytes_per_pixel: u64) -> Option<u64> {
    let sides = 1..=MAX_SIDE;
    let pixels = u64::from(width) * u64::from(height);
    (sides.contains(&width)
        && sides.contains(&height)
        && pixels <= MAX_PIXELS
        && pixels * bytes_per_pixel <= MAX_DECODED)
        .then_some(pixels)
}

/// How often these bytes occur anywhere in the file. It is not split into segments or chunks: whatever
/// a decoder takes for one, wherever it stands, is counted.
fn count(file: &[u8], bytes: &[u8]) -> usize {
    let windows = file.windows(bytes.len());
    windows.filter(|window| *window == bytes).count()
}

fn decode_png(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    // The decoder stops at the last pixel: without this a file cut behind it would pass.
    if count(file, b"IEND\xAE\x42\x60\x82") == 0 {
        return None;
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_PNG_METADATA);
    let mut decoder = PngDecoder::with_limits(Cursor::new(file), limits).ok()?;
    let (width, height) = decoder.dimensions();
    check_size(width, height, decoder.color_type().bytes_per_pixel().into())?;
    let orientation = decoder.orientation().ok()?;
    Some((DynamicImage::from_decoder(decoder).ok()?, orientation))
}

/// `image` decodes JPEG with the same decoder, but fills with grey what a cut file lacks.
fn decode_jpeg(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    // The decoder accepts a file without its end marker.
    if count(file, b"\xFF\xD9") == 0
        // A sequential JPEG may have any number of scans; 280,000 that are two bytes long took 18 s.
        // By chance 4 MiB of other data contain 64 such markers.
        || count(file, b"\xFF\xDA") > 1_000
        // The decoder sorts all parts of the extended XMP after every segment; 25,000 took 40 s. A part
        // is 64 KiB long, so a picture of 4 MiB has at most 65.
        || count(file, b"http://ns.adobe.com/xmp/extension/\0") > 100
    {
        return None;
    }
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .jpeg_set_max_scans(MAX_SCANS);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().ok()?;
    let info = decoder.info()?;
    let (width, height) = (info.width.into(), info.height.into());
    let pixels = check_size(width, height, 3)?;
    // Of several scans the decoder keeps all coefficients, in blocks of up to 32 by 32 pixels.
    let padded = width.next_multiple_of(32) * height.next_multiple_of(32);
    let coefficients = 2 * u64::from(info.components) * u64::from(padded);
    if 3 * pixels + coefficients > MAX_MEMORY {
        return None;
    }
    let orientation = orientation(&info.exif_data.unwrap_or_default());
    let picture = RgbImage::from_raw(width, height, decoder.decode().ok()?)?;
    Some((picture.into(), orientation))
}

/// `image` does not tell lossy from lossless, so its WebP decoder is called directly.
fn decode_webp(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    // The decoder reads zeros behind the end of a cut file.
    let length = u32::from_le_bytes(*file.get(4..)?.first_chunk()?);
    let mut decoder = WebPDecoder::new(Cursor::new(file.get(..8 + length as usize)?)).ok()?;
    if !decoder.is_lossy() || decoder.is_animated() || decoder.num_frames() > 0 {
        return None;
    }
    let ((width, height), has_alpha) = (decoder.dimensions(), decoder.has_alpha());
    let pixels = check_size(width, height, if has_alpha { 4 } else { 3 })?;
    if !webp_chunks_fit(file, width, height, pixels) {
        return None;
    }
    decoder.set_memory_limit(file.len());
    let exif = decoder.exif_metadata().ok()?.unwrap_or_default();
    let orientation = orientation(exif.strip_prefix(b"Exif\0\0").unwrap_or(&exif));
    let mut decoded = vec![0; decoder.output_buffer_size()?];
    decoder.read_image(&mut decoded).ok()?;
    let picture = if has_alpha {
        RgbaImage::from_raw(width, height, decoded)?.into()
    } else {
        RgbImage::from_raw(width, height, decoded)?.into()
    };
    Some((picture, orientation))
}

/// Whether two kinds of chunks, which the decoder does not limit, fit the size that the file declares.
/// They are searched for in the whole file, so that no chunk that the decoder finds is missed.
fn webp_chunks_fit(file: &[u8], width: u32, height: u32, pixels: u64) -> bool {
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3FFF);
    file.windows(18).all(|bytes| match *bytes {
        // The decoder compares the sizes only when it has decoded the frame; one of 268 megapixels in a
        // picture of 16 by 16 took 412 MB.
        [b'V', b'P', b'8', b' ', .., 0x9D, 0x01, 0x2A, w0, w1, h0, h1] => {
            (side(w0, w1), side(h0, h1)) == (width, height)
        }
        // Compressed transparency is a lossless stream, whose prefix codes the decoder expands up to
        // 7,000 times; 300 kB took 1,730 MB. The planes take 12 bytes a pixel.
        [b'A', b'L', b'P', b'H', l0, l1, l2, l3, flags, ..] if flags & 3 == 1 => {
            let length = u32::from_le_bytes([l0, l1, l2, l3]);
            12 * pixels + 7_000 * u64::from(length) <= MAX_MEMORY
        }
        _ => true,
    })
}

fn orientation(exif: &[u8]) -> Orientation {
    Orientation::from_exif_chunk(exif).unwrap_or(Orientation::NoTransforms)
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
    use std::io::Cursor;

    use image::{DynamicImage, ImageBuffer, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

    use super::{Avatar, Format, NotAnImage, clean};

    /// Small files of the fuzzing corpus.
    macro_rules! corpus {
        ($name:literal) => {
            include_bytes!(concat!("../../../tests/fuzz/corpus/avatar/", $name)).as_slice()
        };
    }

    pub(super) fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        picture.into().write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    /// Red rises from left to right, green from top to bottom.
    pub(super) fn gradient(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 60])
        })
    }

    pub(super) fn cleaned(file: &[u8]) -> (RgbaImage, Avatar) {
        let avatar = clean(file).unwrap();
        let decoded = image::load_from_memory(&avatar.bytes).unwrap();
        (decoded.into_rgba8(), avatar)
    }

    fn near(picture: &RgbaImage, (x, y): (u32, u32), wanted: [u8; 4]) -> bool {
        let Rgba(is) = picture.get_pixel(x, y);
        let mut channels = is.iter().zip(wanted);
        channels.all(|(is, wanted)| is.abs_diff(wanted) <= 8)
    }

    #[test]
    fn other_formats_are_refused() {
        let (png, jpeg) = (corpus!("rgb.png"), corpus!("grey.jpg"));
        let files: [&[u8]; 13] = [
            b"",
            b"\x89",
            &[0; 4096],
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
            b"<!doctype html><img src=x onerror=alert(1)>",
            b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;",
            b"II\x2a\0\x08\0\0\0\0\0\0\0\0\0",
            b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf",
            b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0",
            &[&png[..8], jpeg].concat(),
            &[&jpeg[..2], png].concat(),
            &[b" ", png].concat(),
            corpus!("lossless.webp"),
        ];
        for file in files {
            assert_eq!(clean(file), Err(NotAnImage), "{}", file.escape_ascii());
        }
    }

    #[test]
    fn cut_pictures_are_refused() {
        for file in [
            corpus!("rgba.png"),
            corpus!("progressive.jpg"),
            &encoded(gradient(20, 12), ImageFormat::Jpeg),
            corpus!("lossy.webp"),
            corpus!("alpha.webp"),
        ] {
            assert!(clean(file).is_ok());
            for length in 0..file.len() {
                assert_eq!(clean(&file[..length]), Err(NotAnImage), "{length}");
            }
        }
    }

    #[test]
    fn declared_sizes_beyond_the_limits_are_refused() {
        let (jpeg, lossy, alpha) = (
            encoded(gradient(20, 12), ImageFormat::Jpeg),
            corpus!("lossy.webp"),
            corpus!("alpha.webp"),
        );
        let frame = jpeg.windows(2).position(|two| two == [0xFF, 0xC0]).unwrap();
        // A file, and what is written where.
        for (file, at, size) in [
            (jpeg.as_slice(), frame + 5, [0x40, 1, 0, 1]),
            (&jpeg, frame + 5, [0, 1, 0x40, 1]),
            (&jpeg, frame + 5, [0x0F, 0xA0, 0x0F, 0xA1]),
            (lossy, 26, [0xA0, 0x0F, 0xA1, 0x0F]),
            // The frame is larger than the picture; the transparency is too long.
            (alpha, 62, [0xFF, 0x3F, 8, 0]),
            (alpha, 34, [0, 0x80, 0, 0]),
        ] {
            let mut file = file.to_vec();
            file[at..at + 4].copy_from_slice(&size);
            assert_eq!(clean(&file), Err(NotAnImage), "{size:?}");
        }
        let deep = |side| {
            encoded(
                ImageBuffer::<Rgba<u16>, _>::new(side, side),
                ImageFormat::Png,
            )
        };
        assert!(clean(&deep(3_535)).is_ok());
        assert_eq!(clean(&deep(3_536)), Err(NotAnImage));
    }

    #[test]
    fn each_kind_of_picture_keeps_its_colours() {
        let (grey, red) = ([128, 128, 128, 255], [255, 0, 0, 255]);
        for (file, format, size, colour) in [
            (corpus!("grey.jpg"), Format::Jpeg, (8, 8), grey),
            (corpus!("progressive.jpg"), Format::Jpeg, (24, 24), grey),
            (corpus!("sequential.jpg"), Format::Jpeg, (16, 16), grey),
            (corpus!("grey16.png"), Format::Jpeg, (5, 4), [0, 0, 0, 255]),
            (corpus!("palette.png"), Format::Png, (4, 3), [0; 4]),
            (corpus!("rgb.png"), Format::Jpeg, (9, 7), [0, 0, 60, 255]),
            (corpus!("rgba.png"), Format::Png, (6, 4), [0, 0, 60, 100]),
            (corpus!("lossy.webp"), Format::Jpeg, (16, 8), red),
            (
                corpus!("alpha.webp"),
                Format::Png,
                (16, 8),
                [255, 0, 0, 128],
            ),
            // Turned upright as their metadata says.
            (corpus!("exif.png"), Format::Jpeg, (4, 6), [0, 0, 0, 255]),
            (corpus!("exif.webp"), Format::Jpeg, (8, 16), red),
        ] {
            let (picture, avatar) = cleaned(file);
            assert_eq!((avatar.format, picture.dimensions()), (format, size));
            assert!(near(&picture, (0, 0), colour), "{format:?} {size:?}");
        }
    }

    #[test]
    fn appended_data_and_metadata_are_gone() {
        for file in [
            corpus!("rgb.png"),
            corpus!("rgba.png"),
            corpus!("exif.jpg"),
            corpus!("lossy.webp"),
        ] {
            let (_, avatar) = cleaned(&[file, b"<script>alert(1)</script>"].concat());
            assert_eq!(Ok(&avatar), clean(file).as_ref());
            for name in ["script", "Exif", "eXIf", "ICC", "tEXt"] {
                let mut windows = avatar.bytes.windows(name.len());
                assert!(!windows.any(|window| window == name.as_bytes()), "{name}");
            }
            // And it can be uploaded again.
            assert_eq!(cleaned(&avatar.bytes).1.format, avatar.format);
        }
    }

    #[test]
    fn large_picture_is_shrunk_and_turned() {
        let jpeg = encoded(gradient(1000, 500), ImageFormat::Jpeg);
        // Exif that says: turn clockwise.
        let exif = *b"\xFF\xE1\0\x22Exif\0\0MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let (picture, _) = cleaned(&[&jpeg[..2], &exif, &jpeg[2..]].concat());
        assert_eq!(picture.dimensions(), (256, 512));
        // The lower left corner is now the upper left.
        assert!(near(&picture, (0, 0), [0, 255, 60, 255]));
        assert!(near(&picture, (0, 511), [255, 255, 60, 255]));
    }
}
