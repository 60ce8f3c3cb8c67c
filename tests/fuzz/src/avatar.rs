//! Avatars: the result of an accepted image is small, complete, without metadata, and is accepted as an input.

use png::{BitDepth, ColorType, Decoder};
use storage::avatar::{Avatar, Format, clean};
use zune_jpeg::JpegDecoder;

/// The longest side of a result, in pixels.
const SIDE: usize = 512;

pub(crate) fn run(input: &[u8]) {
    let Ok(avatar) = clean(input) else { return };
    let chunk = input.get(12..21).filter(|_| input.starts_with(b"RIFF"));
    assert!(
        !chunk
            .is_some_and(|chunk| chunk.starts_with(b"VP8L")
                || chunk.starts_with(b"VP8X") && chunk[8] & 2 != 0),
        "lossless and animated WebP are refused"
    );
    let sides = plain(&avatar.bytes, avatar.format);
    let Avatar { bytes, format } = clean(&avatar.bytes).expect("a result is accepted as an input");
    assert_eq!(plain(&bytes, format), sides, "a small image keeps its size");
}

/// The width and height of a result, after checking that it contains only what its pixels need.
pub(crate) fn plain(file: &[u8], format: Format) -> (usize, usize) {
    let sides = match format {
        Format::Png => plain_png(file),
        Format::Jpeg => plain_jpeg(file),
    };
    assert!((1..=SIDE).contains(&sides.0) && (1..=SIDE).contains(&sides.1), "{sides:?}");
    sides
}

fn plain_png(file: &[u8]) -> (usize, usize) {
    let mut rest = &file[8..];
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).expect("a length");
        assert!(
            [b"IHDR", b"IDAT", b"IEND"].iter().any(|name| after.starts_with(*name)),
            "{:?}",
            &after[..4]
        );
        rest = &after[4 + length + 4..];
    }
    let mut reader = Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    let frame = reader.next_frame(&mut pixels).expect("a complete PNG");
    assert_eq!((frame.color_type, frame.bit_depth), (ColorType::Rgba, BitDepth::Eight));
    assert!(pixels.chunks(4).any(|pixel| pixel[3] < 255), "an opaque result is a JPEG");
    (frame.width as usize, frame.height as usize)
}

fn plain_jpeg(file: &[u8]) -> (usize, usize) {
    let mut rest = file.strip_prefix(b"\xff\xd8").expect("a JPEG");
    while let [0xff, marker, high, low, ..] = rest {
        // The JFIF header, tables, the frame; the scan comes last.
        assert!([0xe0, 0xdb, 0xc0, 0xc4, 0xda].contains(marker), "{marker:x}");
        assert!(*marker != 0xe0 || rest[4..].starts_with(b"JFIF\0"));
        if *marker == 0xda {
            break;
        }
        rest = &rest[2 + usize::from(u16::from_be_bytes([*high, *low]))..];
    }
    assert!(file.ends_with(b"\xff\xd9"));
    let mut decoder = JpegDecoder::new(std::io::Cursor::new(file));
    decoder.decode().expect("a complete JPEG");
    decoder.dimensions().expect("it has a size")
}
