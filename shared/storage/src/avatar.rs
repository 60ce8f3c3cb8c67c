//! Turns an uploaded picture into an avatar that is safe to publish.
//!
//! A file of 4 MiB can require gigabytes of memory or minutes of CPU, contain a second file, or reveal
//! where the picture was taken. So the declared size is checked before decoding, files whose cost the
//! decoders do not limit are rejected, and the result is encoded again from pixels.
//! `tests/worst_pictures` measures the most expensive files of each format.

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
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};
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
/// The most bytes for the decoded picture and its decoder's large buffers. Rows, tables and metadata take
/// up to 4 MB more.
const MAX_MEMORY: u64 = 176_000_000;
/// The end of a JPEG.
const EOI: [u8; 2] = [0xFF, 0xD9];
/// The most bytes for the colour profile and the texts of a PNG.
const MAX_PNG_METADATA: u64 = 16_000_000;
/// The most scans of a progressive JPEG: ten are usual, and each processes the whole picture.
const MAX_SCANS: usize = 32;
/// The largest colour profile that is read, in bytes: those of cameras and screens have less than 10 kB, those of printers
/// about a megabyte.
const MAX_PROFILE: usize = 2_000_000;
/// The JPEG quality of an avatar, of 100.
const QUALITY: u8 = 85;

/// A picture of at most 512 by 512 pixels, eight bits per channel, upright, without metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Avatar {
    /// The encoded file.
    pub bytes: Vec<u8>,
    /// The format of `bytes`.
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
pub struct ImageError;

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an image that can be an avatar")
    }
}

impl Error for ImageError {}

/// Makes an avatar of an uploaded PNG, JPEG or lossy WebP; the format is detected from the content.
///
/// The avatar is upright, keeps the aspect ratio, is scaled down to 512 by 512 and never enlarged. It is
/// a PNG if it has transparent pixels, else a JPEG. An ICC profile of the picture's own colour space, RGB or grey, is
/// converted to sRGB; others are ignored. Nothing is repaired. An animated PNG is reduced to its default image.
///
/// This takes up to two seconds of CPU and 180 MB: call it where blocking is allowed.
///
/// # Errors
/// [`ImageError`] if the file has another format (lossless and animated WebP included), is truncated or
/// corrupt, has a side above 16,384, more than 16,000,000 pixels, more than 100,000,000 bytes once
/// decoded, or would take more than 180 MB to decode. The last limit concerns the transparency of a lossy
/// WebP (about 20 kB at most, compressed) and some JPEGs in CMYK.
pub fn clean(file: &[u8]) -> Result<Avatar, ImageError> {
    // The decoders have panicked on broken files before.
    let decoded = catch_unwind(|| decode(file)).ok().flatten().ok_or(ImageError)?;
    let mut small = shrink(&decoded.picture);
    drop(decoded.picture);
    let profile = decoded.profile.filter(|profile| profile.len() <= MAX_PROFILE);
    let convert = |profile: Vec<u8>| {
        catch_unwind(|| converted(&small, decoded.space, &profile)).ok().flatten()
    };
    if let Some(converted) = profile.and_then(convert) {
        small = converted;
    }
    let mut small = DynamicImage::ImageRgba8(small);
    small.apply_orientation(decoded.orientation);
    encode(small.into_rgba8()).map_err(|_| ImageError)
}

/// A decoded picture.
struct Decoded {
    /// The pixels as stored.
    picture: DynamicImage,
    /// The orientation that the metadata asks for.
    orientation: Orientation,
    /// The colour space of the file.
    space: DataColorSpace,
    /// The ICC profile of the colours.
    profile: Option<Vec<u8>>,
}

/// `picture` with its colours, which are those of `profile`, in sRGB. `None` if the profile is not of `space`, that of the
/// file, or if that is neither RGB nor grey: the decoder has already made RGB of CMYK.
fn converted(picture: &RgbaImage, space: DataColorSpace, profile: &[u8]) -> Option<RgbaImage> {
    let profile = ColorProfile::new_from_slice(profile).ok()?;
    if profile.color_space != space {
        return None;
    }
    let options = TransformOptions::default();
    let srgb = ColorProfile::new_srgb();
    let mut converted = picture.clone();
    match space {
        DataColorSpace::Rgb => {
            let transform =
                profile.create_transform_8bit(Layout::Rgba, &srgb, Layout::Rgba, options).ok()?;
            transform.transform(picture.as_raw(), &mut converted).ok()?;
        }
        DataColorSpace::Gray => {
            let transform =
                profile.create_transform_8bit(Layout::Gray, &srgb, Layout::Rgb, options).ok()?;
            let grey: Vec<u8> = picture.pixels().map(|pixel| pixel.0[0]).collect();
            let mut colours = vec![0; 3 * grey.len()];
            transform.transform(&grey, &mut colours).ok()?;
            for (pixel, colour) in converted.pixels_mut().zip(colours.chunks_exact(3)) {
                pixel.0[..3].copy_from_slice(colour);
            }
        }
        _ => return None,
    }
    Some(converted)
}

fn decode(file: &[u8]) -> Option<Decoded> {
    match image::guess_format(file).ok()? {
        ImageFormat::Png => decode_png(file),
        ImageFormat::Jpeg => decode_jpeg(file),
        ImageFormat::WebP => decode_webp(file),
        _ => None,
    }
}

/// The number of pixels, if the size is within the limits.
fn check_size(width: u32, height: u32, bytes_per_pixel: u64) -> Option<u64> {
    let sides = 1..=MAX_SIDE;
    let pixels = u64::from(width) * u64::from(height);
    (sides.contains(&width)
        && sides.contains(&height)
        && pixels <= MAX_PIXELS
        && pixels * bytes_per_pixel <= MAX_DECODED)
        .then_some(pixels)
}

/// Counts `bytes` in the whole file, not in parsed segments or chunks, so that nothing that a decoder may
/// take for one is missed.
fn count(file: &[u8], bytes: &[u8]) -> usize {
    let windows = file.windows(bytes.len());
    windows.filter(|window| *window == bytes).count()
}

fn decode_png(file: &[u8]) -> Option<Decoded> {
    // The decoder stops at the last pixel, so it would accept a file truncated after it.
    if count(file, b"IEND\xAE\x42\x60\x82") == 0 {
        return None;
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_PNG_METADATA);
    let mut decoder = PngDecoder::with_limits(Cursor::new(file), limits).ok()?;
    let (width, height) = decoder.dimensions();
    check_size(width, height, decoder.color_type().bytes_per_pixel().into())?;
    let orientation = decoder.orientation().ok()?;
    let profile = decoder.icc_profile().ok()?;
    let space =
        if decoder.color_type().has_color() { DataColorSpace::Rgb } else { DataColorSpace::Gray };
    let picture = DynamicImage::from_decoder(decoder).ok()?;
    Some(Decoded { picture, orientation, space, profile })
}

/// `image` uses the same JPEG decoder but fills the missing part of a truncated file with grey.
fn decode_jpeg(file: &[u8]) -> Option<Decoded> {
    // A sequential JPEG may have any number of scans; 280,000 that are two bytes long took 18 s.
    // 4 MiB of random data contain 64 such markers on average.
    if count(file, b"\xFF\xDA") > 1_000 {
        return None;
    }
    // The decoder accepts a file that ends after the last pixel.
    if count(file, &EOI) == 0 {
        return None;
    }
    let options = DecoderOptions::default().set_strict_mode(true).jpeg_set_max_scans(MAX_SCANS);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().ok()?;
    let info = decoder.info()?;
    let (width, height) = (info.width.into(), info.height.into());
    let pixels = check_size(width, height, 3)?;
    // With several scans the decoder keeps all coefficients, in blocks of up to 32 by 32 pixels.
    let padded = width.next_multiple_of(32) * height.next_multiple_of(32);
    let coefficients = 2 * u64::from(info.components) * u64::from(padded);
    if 3 * pixels + coefficients > MAX_MEMORY {
        return None;
    }
    let orientation = orientation(&info.exif_data.unwrap_or_default());
    let profile = decoder.icc_profile();
    let space = match info.components {
        1 => DataColorSpace::Gray,
        3 => DataColorSpace::Rgb,
        _ => DataColorSpace::Cmyk,
    };
    let picture = RgbImage::from_raw(width, height, decoder.decode().ok()?)?.into();
    Some(Decoded { picture, orientation, space, profile })
}

/// `image` does not distinguish lossy from lossless, so its WebP decoder is called directly.
fn decode_webp(file: &[u8]) -> Option<Decoded> {
    // The decoder reads zeros past the end of a truncated file.
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
    let profile = decoder.icc_profile().ok()?;
    let mut decoded = vec![0; decoder.output_buffer_size()?];
    decoder.read_image(&mut decoded).ok()?;
    let picture = if has_alpha {
        RgbaImage::from_raw(width, height, decoded)?.into()
    } else {
        RgbImage::from_raw(width, height, decoded)?.into()
    };
    Some(Decoded { picture, orientation, space: DataColorSpace::Rgb, profile })
}

/// Whether the two kinds of chunks that the decoder does not limit fit the declared size. The whole file is
/// searched, so that no chunk that the decoder finds is missed.
fn webp_chunks_fit(file: &[u8], width: u32, height: u32, pixels: u64) -> bool {
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3FFF);
    file.windows(18).all(|bytes| match *bytes {
        // The decoder compares the sizes only after decoding the frame; a frame of 268 megapixels in a
        // picture of 16 by 16 took 412 MB.
        [b'V', b'P', b'8', b' ', .., 0x9D, 0x01, 0x2A, w0, w1, h0, h1] => {
            (side(w0, w1), side(h0, h1)) == (width, height)
        }
        // Compressed transparency is a lossless stream, whose prefix codes the decoder expands up to
        // 7,000 times; 300 kB took 1,730 MB. The planes take 12 bytes per pixel.
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
mod tests;
