//! WebP. The decoder believes what every chunk says of its size, and takes as much memory before it has
//! read any of it. So the chunks are walked here, and it is given those alone that make the first picture.
//!
//! Source: RFC 9649, section 2; for the header of a lossy picture RFC 6386, section 9.1.

use std::io::Cursor;

use image::{DynamicImage, codecs::webp::WebPDecoder, metadata::Orientation};

use super::{MEMORY, fits, vp8l};

/// The first picture as it is stored, and how it is to be turned.
pub(super) fn decode(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    let size = u32::from_le_bytes(*file.get(4..)?.first_chunk()?) as usize;
    let mut chunks = file.get(12..8 + size)?;
    let (mut orientation, mut alpha, mut picture) = (Orientation::NoTransforms, None, None);
    while let Some((header, rest)) = chunks.split_first_chunk::<8>() {
        let [fourcc @ .., a, b, c, d] = header;
        let size = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let data = rest.get(..size)?;
        match fourcc {
            b"ALPH" => alpha = Some(data),
            b"VP8 " if picture.is_none() => picture = Some(lossy(data, alpha)?),
            b"VP8L" if picture.is_none() => picture = Some(lossless(data)?),
            b"EXIF" => {
                let exif = data.strip_prefix(b"Exif\0\0").unwrap_or(data);
                orientation = Orientation::from_exif_chunk(exif).unwrap_or(orientation);
            }
            _ => {}
        }
        // A frame of an animation is sixteen bytes, then chunks.
        let passed = if fourcc == b"ANMF" {
            16
        } else {
            size.next_multiple_of(2)
        };
        chunks = rest.get(passed..).unwrap_or_default();
    }
    let plain = chunk(b"RIFF", &[b"WEBP", picture?.as_slice()].concat());
    let decoder = WebPDecoder::new(Cursor::new(plain)).ok()?;
    Some((DynamicImage::from_decoder(decoder).ok()?, orientation))
}

/// The chunk of a lossless picture, when it may be decoded.
fn lossless(data: &[u8]) -> Option<Vec<u8>> {
    let [0x2F, a, b, c, d, stream @ ..] = data else {
        return None;
    };
    let header = u32::from_le_bytes([*a, *b, *c, *d]);
    let (width, height) = ((header & 0x3FFF) + 1, (header >> 14 & 0x3FFF) + 1);
    // It is decoded to RGBA; an opaque one is then copied to RGB.
    let opaque = header >> 28 & 1 == 0;
    let (decoded, besides) = if opaque { (3, 4) } else { (4, 0) };
    weigh((width, height), decoded, besides, Some(stream))?;
    Some(chunk(b"VP8L", data))
}

/// The chunks of a lossy picture, when it may be decoded.
fn lossy(data: &[u8], alpha: Option<&[u8]>) -> Option<Vec<u8>> {
    let [_, _, _, _, _, _, w0, w1, h0, h1, ..] = data else {
        return None;
    };
    let side = |low: &u8, high: &u8| u32::from(u16::from_le_bytes([*low, *high]) & 0x3FFF);
    let (width, height) = (side(w0, w1), side(h0, h1));
    let picture = chunk(b"VP8 ", data);
    // Its planes take one and a half bytes a pixel; its alpha takes one, or is the green of an RGBA.
    let Some(alpha) = alpha else {
        weigh((width, height), 3, 2, None)?;
        return Some(picture);
    };
    match alpha {
        [info, stream @ ..] if info & 3 == 1 => weigh((width, height), 4, 7, Some(stream))?,
        _ => weigh((width, height), 4, 3, None)?,
    }
    let ([w0, w1, ..], [h0, h1, ..]) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
    let extended = chunk(b"VP8X", &[0x10, 0, 0, 0, w0, w1, 0, h0, h1, 0]);
    Some([extended, chunk(b"ALPH", alpha), picture].concat())
}

/// Something when a picture may be decoded, of which each pixel is `decoded` bytes and takes some
/// `besides`, and a lossless stream what it declares.
fn weigh(
    (width, height): (u32, u32),
    decoded: u64,
    besides: u64,
    stream: Option<&[u8]>,
) -> Option<()> {
    let pixels = u64::from(width) * u64::from(height);
    let memory = pixels * (decoded + besides);
    fits(width, height, pixels * decoded, memory)?;
    if let Some(stream) = stream {
        vp8l::memory(stream, (width, height), MEMORY - memory)?;
    }
    Some(())
}

fn chunk(fourcc: &[u8; 4], data: &[u8]) -> Vec<u8> {
    [
        fourcc,
        &(data.len() as u32).to_le_bytes(),
        data,
        &[0][..data.len() % 2],
    ]
    .concat()
}

#[cfg(test)]
pub(super) mod tests {
    use image::{ImageFormat, Rgba, RgbaImage};

    use super::chunk;
    use crate::avatar::{
        NotAnImage, clean,
        tests::{cleaned, encoded, exif, slope_with_alpha},
    };

    /// 16 by 8, red, lossy; and what makes its red half transparent.
    pub(crate) const VP8: &[u8] =
        b"\x90\x01\x00\x9d\x01\x2a\x10\x00\x08\x00\x02\xc0\x4c\x25\xa0\x02\x74\xba\x00\x03\x98\x00\
        \xfe\xee\x43\x1f\xee\x6c\x73\x8b\x70\x57\xff\x6d\x0f\xff\x5a\x1f\xfe\xb4\x3f\xe9\x40\x00";
    pub(crate) const ALPH: &[u8] = b"\x01\x28\x60\x44\x04";

    pub(crate) fn riff(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let chunks: Vec<u8> = chunks
            .iter()
            .flat_map(|(fourcc, data)| chunk(fourcc, data))
            .collect();
        chunk(b"RIFF", &[b"WEBP", &chunks[..]].concat())
    }

    pub(crate) fn vp8x(flags: u8, width: u8, height: u8) -> [u8; 10] {
        [flags, 0, 0, 0, width - 1, 0, 0, height - 1, 0, 0]
    }

    /// A lossless picture, without the file around it.
    pub(crate) fn vp8l(picture: RgbaImage) -> Vec<u8> {
        let file = encoded(picture, ImageFormat::WebP);
        let at = file.windows(4).position(|name| name == b"VP8L").unwrap();
        file[at + 8..].to_vec()
    }

    #[test]
    fn a_webp_whose_chunk_is_longer_than_the_file_is_refused() {
        let mut file = riff(&[
            (b"VP8X", &vp8x(8, 16, 8)),
            (b"VP8 ", VP8),
            (b"EXIF", &exif(1)),
        ]);
        assert!(clean(&file).is_ok());
        let size = file.len() - exif(1).len() - 4;
        file[size..][..4].copy_from_slice(&0xFFFF_FFF0_u32.to_le_bytes());
        assert_eq!(clean(&file), Err(NotAnImage));
    }

    #[test]
    fn a_lossless_stream_cut_inside_a_whole_file_is_refused() {
        let stream = vp8l(slope_with_alpha());
        assert!(clean(&riff(&[(b"VP8L", &stream)])).is_ok());
        for length in 0..stream.len() - 2 {
            assert_eq!(
                clean(&riff(&[(b"VP8L", &stream[..length])])),
                Err(NotAnImage),
                "{length}"
            );
        }
    }

    #[test]
    fn of_an_animation_the_first_picture_counts() {
        let frame = |picture: RgbaImage| {
            let place = [0, 0, 0, 0, 0, 0, 23, 0, 0, 15, 0, 0, 100, 0, 0, 0];
            [&place[..], &chunk(b"VP8L", &vp8l(picture))].concat()
        };
        let (first, second) = (
            frame(slope_with_alpha()),
            frame(RgbaImage::from_pixel(24, 16, Rgba([1, 2, 3, 255]))),
        );
        let webp = riff(&[
            (b"VP8X", &vp8x(0x12, 24, 16)),
            (b"ANIM", &[0; 6]),
            (b"ANMF", &first),
            (b"ANMF", &second),
        ]);
        assert_eq!(cleaned(&webp).0, slope_with_alpha());
    }
}
