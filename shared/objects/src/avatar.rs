//! Avatars: whatever picture somebody uploads becomes a small, plain one, or is refused.

use std::error::Error;
use std::fmt;
use std::io::Cursor;
use std::panic::catch_unwind;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{PngDecoder, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, GenericImageView, ImageDecoder, ImageResult, Limits, RgbImage, Rgba, RgbaImage};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::options::DecoderOptions;

/// An avatar is at most this wide and this high.
const SIDE: u32 = 512;
/// An uploaded picture is at most this wide and this high.
const INPUT_SIDE: u32 = 16_384;
/// An uploaded picture has at most this many pixels.
const PIXELS: u64 = 25_000_000;
/// An uploaded picture has at most this many bytes once decoded.
const DECODED: u64 = 100_000_000;
/// A decoder takes at most this many bytes, the decoded ones included: some would take three times those.
const MEMORY: u64 = 180_000_000;
/// A PNG's colour profile and texts, which its decoder unpacks first, take at most this much of it.
const PNG_EXTRAS: u64 = 16_000_000;
/// A progressive JPEG has at most this many scans: ten are usual, and each passes over the whole picture.
const SCANS: usize = 32;
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
    let (picture, orientation) = catch_unwind(|| decode(file)).ok().flatten().ok_or(NotAnImage)?;
    let mut small = DynamicImage::ImageRgba8(shrink(&picture));
    drop(picture);
    small.apply_orientation(orientation);
    encode(small.into_rgba8()).map_err(|_| NotAnImage)
}

/// Gives the picture as it is stored, and how it is to be turned.
fn decode(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    match file {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => png(file),
        [0xFF, 0xD8, ..] => jpeg(file),
        [b'R', b'I', b'F', b'F', a, b, c, d, b'W', b'E', b'B', b'P', ..] => {
            let end = (u32::from_le_bytes([*a, *b, *c, *d]) as usize).checked_add(8)?;
            webp(file.get(12..end)?)
        }
        _ => None,
    }
}

/// Something when a picture is within all bounds, given its bytes once decoded and what decoding takes.
fn fits(width: u32, height: u32, decoded: u64, memory: u64) -> Option<()> {
    let sides = 1..=INPUT_SIDE;
    let pixels = u64::from(width) * u64::from(height);
    let fits = sides.contains(&width) && sides.contains(&height) && pixels <= PIXELS && decoded <= DECODED && memory <= MEMORY;
    fits.then_some(())
}

fn png(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(INPUT_SIDE);
    limits.max_image_height = Some(INPUT_SIDE);
    limits.max_alloc = Some(PNG_EXTRAS);
    let mut decoder = PngDecoder::with_limits(Cursor::new(file), limits).ok()?;
    let (width, height) = decoder.dimensions();
    fits(width, height, decoder.total_bytes(), decoder.total_bytes() + PNG_EXTRAS)?;
    let orientation = decoder.orientation().ok()?;
    // The decoder stops at the last pixel; a whole file ends with this chunk and its checksum.
    let whole = file.windows(8).any(|end| end == b"IEND\xAE\x42\x60\x82");
    Some((DynamicImage::from_decoder(decoder).ok().filter(|_| whole)?, orientation))
}

/// Takes the file apart by ITU-T T.81, annex B, for what it will cost, and to give the decoder nothing
/// but the picture. `image` fills what is missing with grey, so the decoder below it is asked, strictly.
fn jpeg(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    let mut orientation = Orientation::NoTransforms;
    let (mut frame, mut progressive, mut scanned) = (None, false, 0);
    let mut plain = vec![0xFF, 0xD8];
    let mut at = 2;
    loop {
        // Coded data runs up to a marker, which a stuffed zero, a restart and a fill byte are not.
        let gap = file.get(at..)?.windows(2).position(|two| two[0] == 0xFF && !matches!(two[1], 0 | 0xD0..=0xD7 | 0xFF))?;
        let (data, rest) = file.get(at..)?.split_at(gap);
        if scanned > 0 {
            plain.extend_from_slice(data);
        } else if data.iter().any(|byte| *byte != 0xFF) {
            return None;
        }
        let marker = rest[1];
        if marker == 0xD9 {
            plain.extend_from_slice(&rest[..2]);
            break;
        }
        let end = 2 + usize::from(u16::from_be_bytes([*rest.get(2)?, *rest.get(3)?]));
        let segment = rest.get(4..end)?;
        match (marker, segment) {
            // The frame: precision, height, width, components with their sampling.
            (0xC0..=0xC2, [_, h0, h1, w0, w1, count, components @ ..]) => {
                progressive = marker == 0xC2;
                let sampling = components.iter().skip(1).step_by(3).map(|byte| (u64::from(byte >> 4), u64::from(byte & 15)));
                let widest = sampling.clone().map(|(wide, _)| wide).max()?.max(1);
                let tallest = sampling.clone().map(|(_, tall)| tall).max()?.max(1);
                let samples = sampling.map(|(wide, tall)| wide * tall).sum::<u64>();
                let (width, height) = (u16::from_be_bytes([*w0, *w1]), u16::from_be_bytes([*h0, *h1]));
                frame = Some((u32::from(width), u32::from(height), usize::from(*count), samples, widest * tallest));
            }
            // A scan. Unless the first has all components, the decoder keeps all coefficients, two bytes each.
            (0xDA, [count, ..]) => {
                let (width, height, components, samples, whole) = frame?;
                let pixels = u64::from(width) * u64::from(height);
                let buffered = progressive || usize::from(*count) != components;
                fits(width, height, 3 * pixels, 3 * pixels + if buffered { 2 * pixels * samples / whole } else { 0 })?;
                scanned += usize::from(*count);
            }
            (0xE1, [b'E', b'x', b'i', b'f', 0, 0, exif @ ..]) => {
                orientation = Orientation::from_exif_chunk(exif).unwrap_or(orientation);
            }
            _ => {}
        }
        // Frames, scans and tables make the picture, and Adobe's segment tells what its channels are.
        let adobe = marker == 0xEE && segment.starts_with(b"Adobe") && segment.len() >= 12;
        if adobe || matches!(marker, 0xC0..=0xC2 | 0xC4 | 0xDA | 0xDB | 0xDD) {
            plain.extend_from_slice(&rest[..end]);
        }
        at += gap + end;
    }
    // In a sequential JPEG each component is scanned once; the decoder would give less as a picture.
    let (width, height, components, ..) = frame?;
    if !progressive && scanned != components {
        return None;
    }
    let options = DecoderOptions::default().set_strict_mode(true).jpeg_set_max_scans(SCANS);
    let pixels = JpegDecoder::new_with_options(ZCursor::new(plain.as_slice()), options).decode().ok()?;
    Some((RgbImage::from_raw(width, height, pixels)?.into(), orientation))
}

/// Takes the chunks of the file, by RFC 9649, section 2. The decoder is given only those of the first
/// picture: it believes what others say of their size, and takes as much.
fn webp(mut chunks: &[u8]) -> Option<(DynamicImage, Orientation)> {
    let (mut orientation, mut alpha, mut picture) = (Orientation::NoTransforms, None, None);
    while let Some((head, rest)) = chunks.split_first_chunk::<8>() {
        let [name @ .., a, b, c, d] = *head;
        let size = u32::from_le_bytes([a, b, c, d]) as usize;
        let data = rest.get(..size)?;
        match &name {
            b"ALPH" if picture.is_none() => alpha = Some(data),
            b"VP8 " | b"VP8L" if picture.is_none() => picture = Some((name, data)),
            b"EXIF" => {
                let exif = data.strip_prefix(b"Exif\0\0").unwrap_or(data);
                orientation = Orientation::from_exif_chunk(exif).unwrap_or(orientation);
            }
            _ => {}
        }
        // A frame of an animation is sixteen bytes, then chunks.
        let passed = if &name == b"ANMF" { 16 } else { size + size % 2 };
        chunks = rest.get(passed..).unwrap_or_default();
    }
    let (name, data) = picture?;
    // For each pixel, bytes decoded and taken besides: of a lossless picture RGBA if it is opaque; of a
    // lossy one its planes, which is one and a half, and its alpha, which may be the green of an RGBA.
    let (width, height, decoded, besides, lossless) = match data {
        [0x2F, a, b, c, d, stream @ ..] if &name == b"VP8L" => {
            let head = u32::from_le_bytes([*a, *b, *c, *d]);
            let opaque = head >> 28 & 1 == 0;
            ((head & 0x3FFF) + 1, (head >> 14 & 0x3FFF) + 1, if opaque { 3 } else { 4 }, if opaque { 4 } else { 0 }, Some(stream))
        }
        [_, _, _, _, _, _, w0, w1, h0, h1, ..] if &name == b"VP8 " => {
            let side = |low: u8, high: u8| u32::from(u16::from_le_bytes([low, high]) & 0x3FFF);
            let (decoded, besides, stream) = match alpha {
                None => (3, 2, None),
                Some([info, stream @ ..]) if info & 3 == 1 => (4, 7, Some(stream)),
                Some(_) => (4, 3, None),
            };
            (side(*w0, *w1), side(*h0, *h1), decoded, besides, stream)
        }
        _ => return None,
    };
    let pixels = u64::from(width) * u64::from(height);
    let memory = pixels * (decoded + besides);
    fits(width, height, pixels * decoded, memory)?;
    if let Some(stream) = lossless {
        vp8l::memory(stream, (width, height), MEMORY - memory)?;
    }
    let mut plain = b"RIFF\0\0\0\0WEBP".to_vec();
    let mut put = |name: [u8; 4], data: &[u8]| {
        plain.extend_from_slice(&name);
        plain.extend_from_slice(&(data.len() as u32).to_le_bytes());
        plain.extend_from_slice(data);
        plain.resize(plain.len().next_multiple_of(2), 0);
    };
    if let (Some(alpha), b"VP8 ") = (alpha, &name) {
        let ([w0, w1, ..], [h0, h1, ..]) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
        put(*b"VP8X", &[0x10, 0, 0, 0, w0, w1, 0, h0, h1, 0]);
        put(*b"ALPH", alpha);
    }
    put(name, data);
    let size = (plain.len() as u32 - 8).to_le_bytes();
    plain[4..8].copy_from_slice(&size);
    let decoder = WebPDecoder::new(Cursor::new(plain)).ok()?;
    Some((DynamicImage::from_decoder(decoder).ok()?, orientation))
}

/// Averages the pixels that fall in each pixel of the small picture, those at its edge by the part that
/// does. A colour counts as far as it is opaque: what is hidden under full transparency is gone.
fn shrink(picture: &DynamicImage) -> RgbaImage {
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
    (from / small..to.div_ceil(small)).map(move |pixel| (pixel, u64::from(to.min((pixel + 1) * small) - from.max(pixel * small))))
}

/// The quotient to the nearest; of nothing it is nothing.
fn rounded(sum: u64, of: u64) -> u8 {
    (sum + of / 2).checked_div(of).unwrap_or_default() as u8
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

/// What a lossless WebP takes besides its pixels, known before it is taken.
///
/// A stream may declare 65,536 groups of prefix codes in ten bytes each, and `image-webp` builds them
/// all: 700 KB of file take 3.7 GB. It has no limit for that, so the stream is read here up to its
/// pixels. Only literals matter: runs and cached colours repeat what was there and name no new group.
///
/// Source: RFC 9649, section 3.
mod vp8l {
    /// Symbols of the five codes of a group: green with run lengths, red, blue, alpha, distance.
    const ALPHABETS: [usize; 5] = [256 + 24, 256, 256, 256, 40];
    /// In which order the lengths of the code of code lengths are written.
    const ORDER: [usize; 19] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// Bytes that `image-webp` takes for the codes and the side images of a lossless stream, beside its
    /// pixels. Takes the stream after its header and the size of the picture. `None` when the stream is
    /// broken or takes more than `limit`.
    pub(super) fn memory(stream: &[u8], (width, height): (u32, u32), limit: u64) -> Option<u64> {
        let mut bits = Bits { stream, at: 0 };
        let (mut width, mut memory, mut seen) = (width, 0, [false; 4]);
        while bits.take(1)? == 1 {
            let transform = bits.take(2)? as usize;
            if std::mem::replace(&mut seen[transform], true) {
                return None;
            }
            match transform {
                // Prediction and colour: an image of blocks.
                0 | 1 => {
                    let block = bits.take(3)? + 2;
                    let (columns, rows) = (blocks(width, block), blocks(height, block));
                    bits.image(columns, rows)?;
                    memory += 4 * u64::from(columns) * u64::from(rows);
                }
                // Green is subtracted: nothing to read.
                2 => {}
                // A palette: of few colours, several pixels are packed in one.
                _ => {
                    let colours = bits.take(8)? + 1;
                    bits.image(colours, 1)?;
                    let packed = match colours {
                        0..=2 => 3,
                        3..=4 => 2,
                        5..=16 => 1,
                        _ => 0,
                    };
                    width = blocks(width, packed);
                }
            }
        }
        let cache = bits.cache()?;
        let mut groups = 1;
        if bits.take(1)? == 1 {
            let block = bits.take(3)? + 2;
            let (columns, rows) = (blocks(width, block), blocks(height, block));
            groups += bits.image(columns, rows)?;
            memory += 6 * u64::from(columns) * u64::from(rows);
        }
        for _ in 0..groups {
            memory += bits.codes(cache)?.iter().map(Code::memory).sum::<u64>();
            if memory > limit {
                return None;
            }
        }
        Some(memory)
    }

    /// How many blocks of `1 << block` pixels cover a side.
    fn blocks(side: u32, block: u32) -> u32 {
        side.div_ceil(1 << block)
    }

    /// A prefix code in its canonical form: how many symbols there are of each length, and the symbols.
    struct Code {
        counts: [usize; 16],
        symbols: Vec<usize>,
    }

    impl Code {
        /// The code whose symbol `n` is `lengths[n]` bits long; a symbol of no length does not occur. `None`
        /// unless there is but one symbol, or every word begins with a code.
        fn new(lengths: &[usize]) -> Option<Self> {
            let mut symbols: Vec<usize> = (0..lengths.len()).filter(|symbol| lengths[*symbol] > 0).collect();
            symbols.sort_by_key(|symbol| lengths[*symbol]);
            let mut counts = [0; 16];
            symbols.iter().for_each(|symbol| counts[lengths[*symbol]] += 1);
            let words = (1..16).map(|bits| counts[bits] << (15 - bits)).sum::<usize>();
            (symbols.len() == 1 || words == 1 << 15).then_some(Self { counts, symbols })
        }

        /// Bytes that `image-webp` takes for it: a table of at most 1,024 entries, two nodes for every
        /// symbol of more than ten bits, and the places in the group and in the heap.
        fn memory(&self) -> u64 {
            let longest = self.counts.iter().rposition(|count| *count > 0).unwrap_or_default();
            160 + (4 << longest.min(10)) + 32 * self.counts[11..].iter().sum::<usize>() as u64
        }
    }

    /// The stream and the place in it, in bits.
    struct Bits<'a> {
        stream: &'a [u8],
        at: usize,
    }

    impl Bits<'_> {
        /// The next bits as a number, the lowest first.
        fn take(&mut self, bits: u32) -> Option<u32> {
            let mut number = 0;
            for bit in 0..bits {
                number |= (u32::from(*self.stream.get(self.at / 8)?) >> (self.at % 8) & 1) << bit;
                self.at += 1;
            }
            Some(number)
        }

        /// The next symbol of a code; the only one takes no bits.
        fn symbol(&mut self, code: &Code) -> Option<usize> {
            if let [only] = code.symbols[..] {
                return Some(only);
            }
            let (mut word, mut first, mut index) = (0, 0, 0);
            for count in &code.counts[1..] {
                word |= self.take(1)? as usize;
                if word < first + count {
                    return code.symbols.get(index + word.checked_sub(first)?).copied();
                }
                index += count;
                first = (first + count) << 1;
                word <<= 1;
            }
            None
        }

        /// How many colours the cache holds: none, or 2 to 2,048.
        fn cache(&mut self) -> Option<usize> {
            match self.take(1)? {
                0 => Some(0),
                _ => self.take(4).filter(|bits| (1..=11).contains(bits)).map(|bits| 1 << bits),
            }
        }

        /// A group of five codes.
        fn codes(&mut self, cache: usize) -> Option<Vec<Code>> {
            let [green, rest @ ..] = ALPHABETS;
            std::iter::once(green + cache).chain(rest).map(|alphabet| self.code(alphabet)).collect()
        }

        fn code(&mut self, alphabet: usize) -> Option<Code> {
            if self.take(1)? == 1 {
                let (two, wide) = (self.take(1)? == 1, self.take(1)?);
                let mut code = Code { counts: [0; 16], symbols: vec![self.take(1 + 7 * wide)? as usize] };
                if two {
                    code.symbols.push(self.take(8)? as usize);
                    code.counts[1] = 2;
                }
                return Some(code).filter(|code| code.symbols.iter().all(|symbol| *symbol < alphabet));
            }
            let mut lengths = [0; 19];
            for at in &ORDER[..4 + self.take(4)? as usize] {
                lengths[*at] = self.take(3)? as usize;
            }
            let code = Code::new(&lengths)?;
            let mut left = alphabet;
            if self.take(1)? == 1 {
                let bits = 2 + 2 * self.take(3)?;
                left = 2 + self.take(bits)? as usize;
            }
            let (mut lengths, mut last) = (Vec::new(), 8);
            while lengths.len() < alphabet && left > 0 {
                left -= 1;
                let (length, times) = match self.symbol(&code)? {
                    0 => (0, 1),
                    16 => (last, 3 + self.take(2)?),
                    17 => (0, 3 + self.take(3)?),
                    18 => (0, 11 + self.take(7)?),
                    length => (length, 1),
                };
                last = if length > 0 { length } else { last };
                lengths.extend(std::iter::repeat_n(length, times as usize));
            }
            if lengths.len() > alphabet { None } else { Code::new(&lengths) }
        }

        /// Passes a side image and gives the highest group it names: red is the high byte, green the low.
        fn image(&mut self, width: u32, height: u32) -> Option<usize> {
            let cache = self.cache()?;
            let codes = self.codes(cache)?;
            let (mut left, mut highest) = (width as usize * height as usize, 0);
            while left > 0 {
                let green = self.symbol(&codes[0])?;
                let pixels = if green < 256 {
                    highest = highest.max(self.symbol(&codes[1])? << 8 | green);
                    self.symbol(&codes[2])?;
                    self.symbol(&codes[3])?;
                    1
                } else if green < ALPHABETS[0] {
                    let run = self.number(green - 256)?;
                    let distance = self.symbol(&codes[4])?;
                    self.number(distance)?;
                    run
                } else {
                    1
                };
                left = left.checked_sub(pixels)?;
            }
            Some(highest)
        }

        /// A run length or a distance of which the symbol gives the size.
        fn number(&mut self, symbol: usize) -> Option<usize> {
            if symbol < 4 {
                return Some(symbol + 1);
            }
            let bits = (symbol as u32 - 2) >> 1;
            Some(((2 + (symbol & 1)) << bits) + self.take(bits)? as usize + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, ImageBuffer, ImageEncoder, ImageFormat, Luma, LumaA, Rgb};

    use super::*;

    fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        picture.into().write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    /// Red rises from left to right, green from top to bottom.
    fn slope(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 60]))
    }

    fn cleaned(file: &[u8]) -> (RgbaImage, Avatar) {
        let avatar = clean(file).unwrap();
        (image::load_from_memory(&avatar.bytes).unwrap().into_rgba8(), avatar)
    }

    fn holds(file: &[u8], part: &[u8]) -> bool {
        file.windows(part.len()).any(|window| window == part)
    }

    fn near(is: Rgba<u8>, wanted: [u8; 4]) -> bool {
        is.0.iter().zip(wanted).all(|(is, wanted)| is.abs_diff(wanted) <= 8)
    }

    // --- PNG

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
        })
    }

    fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let named = [name, data].concat();
        [&(data.len() as u32).to_be_bytes()[..], &named, &crc(&named).to_be_bytes()].concat()
    }

    /// A PNG of these rows, each with its filter byte; they are stored, not compressed.
    fn png_of(width: u32, height: u32, depth: u8, colour: u8, extras: &[u8], rows: &[u8]) -> Vec<u8> {
        let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour, 0, 0, 0]].concat();
        let length = rows.len() as u16;
        let (a, b) = rows.iter().fold((1, 0), |(a, b), byte| ((a + u32::from(*byte)) % 65_521, (b + a + u32::from(*byte)) % 65_521));
        let zlib = [&[0x78, 1, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), rows, &(b << 16 | a).to_be_bytes()].concat();
        [b"\x89PNG\r\n\x1a\n", &chunk(b"IHDR", &head)[..], extras, &chunk(b"IDAT", &zlib), &chunk(b"IEND", b"")].concat()
    }

    /// The same file with chunks right after its header.
    fn with_chunks(png: &[u8], chunks: &[u8]) -> Vec<u8> {
        [&png[..33], chunks, &png[33..]].concat()
    }

    // --- JPEG

    fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
        [&[0xFF, marker][..], &(data.len() as u16 + 2).to_be_bytes(), data].concat()
    }

    /// The same file with segments right after its first two bytes.
    fn with_segments(jpeg: &[u8], segments: &[u8]) -> Vec<u8> {
        [&jpeg[..2], segments, &jpeg[2..]].concat()
    }

    /// A grey JPEG whose codes are one zero bit for "no change" and one for "no more", so that a block is
    /// one bit in a progressive file and two in a sequential one. "123" is one scan
    /// of three components, "1,2,3" are three scans.
    fn jpeg_of(side: u16, components: u8, progressive: bool, scans: &str) -> Vec<u8> {
        let size = side.to_be_bytes();
        let mut frame = vec![8, size[0], size[1], size[0], size[1], components];
        frame.extend((1..=components).flat_map(|id| [id, 0x11, 0]));
        let one = |class: u8| [&[class, 1][..], &[0; 16]].concat();
        let mut file = [
            &[0xFF, 0xD8][..],
            &segment(0xDB, &[&[0][..], &[1; 64]].concat()),
            &segment(if progressive { 0xC2 } else { 0xC0 }, &frame),
            &segment(0xC4, &[one(0), one(0x10)].concat()),
        ]
        .concat();
        for scan in scans.split(',').filter(|scan| !scan.is_empty()) {
            let mut head = vec![scan.len() as u8];
            head.extend(scan.bytes().flat_map(|id| [id - b'0', 0]));
            head.extend([0, if progressive { 0 } else { 63 }, 0]);
            let blocks = usize::from(side).div_ceil(8).pow(2) * scan.len();
            file.extend(segment(0xDA, &head));
            file.extend(vec![0; (blocks * if progressive { 1 } else { 2 }).div_ceil(8)]);
        }
        file.extend([0xFF, 0xD9]);
        file
    }

    /// TIFF with one entry: the orientation.
    fn exif(orientation: u8) -> Vec<u8> {
        [&b"MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..], &[orientation], b"\0\0\0\0\0\0"].concat()
    }

    // --- WebP

    /// 16 by 8, red, lossy; and what makes its red half transparent.
    const VP8: &[u8] = b"\x90\x01\x00\x9d\x01\x2a\x10\x00\x08\x00\x02\xc0\x4c\x25\xa0\x02\x74\xba\x00\x03\x98\x00\
        \xfe\xee\x43\x1f\xee\x6c\x73\x8b\x70\x57\xff\x6d\x0f\xff\x5a\x1f\xfe\xb4\x3f\xe9\x40\x00";
    const ALPH: &[u8] = b"\x01\x28\x60\x44\x04";

    fn riff(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let body: Vec<u8> = chunks
            .iter()
            .flat_map(|(name, data)| [*name, &(data.len() as u32).to_le_bytes(), *data, &[0][..data.len() % 2]].concat())
            .collect();
        [b"RIFF", &(body.len() as u32 + 4).to_le_bytes()[..], b"WEBP", &body].concat()
    }

    fn vp8x(flags: u8, width: u8, height: u8) -> [u8; 10] {
        [flags, 0, 0, 0, width - 1, 0, 0, height - 1, 0, 0]
    }

    /// A lossless picture, without the file around it.
    fn vp8l(picture: RgbaImage) -> Vec<u8> {
        let file = encoded(picture, ImageFormat::WebP);
        let at = file.windows(4).position(|name| name == b"VP8L").unwrap();
        file[at + 8..].to_vec()
    }

    /// Numbers and how many bits each has, the lowest bit first.
    fn packed(fields: &[(u32, u32)]) -> Vec<u8> {
        let bits: Vec<u32> = fields.iter().flat_map(|(number, length)| (0..*length).map(move |bit| number >> bit & 1)).collect();
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | *bit as u8)).collect()
    }

    /// Of a lossless stream: signature, 16 by 16, opaque.
    const HEAD: [(u32, u32); 4] = [(0x2F, 8), (15, 14), (15, 14), (0, 4)];
    /// A prefix code of the one symbol zero.
    const ZERO: (u32, u32) = (1, 4);

    /// A lossless stream that declares so many groups of codes, the first of each of 2,048 symbols of
    /// eleven bits. It ends where the pixels would begin.
    fn groups(number: u32) -> Vec<u8> {
        let mut fields = HEAD.to_vec();
        // No transform; the largest cache; groups named by an image of one block.
        fields.extend([(0, 1), (1, 1), (11, 4), (1, 1), (7, 3), (0, 1)]);
        // That image: the name of the last group, as the only green and the only red.
        fields.extend([(0b101, 3), ((number - 1) & 255, 8), (0b101, 3), ((number - 1) >> 8, 8), ZERO, ZERO, ZERO]);
        for _ in 0..number {
            // The only length is eleven, of 2,048 symbols; the other codes have one symbol each.
            fields.extend([(0, 1), (11, 4), (0, 30), (0, 12), (1, 3), (1, 1), (5, 3), (2046, 12), ZERO, ZERO, ZERO, ZERO]);
        }
        packed(&fields)
    }

    // --- what is refused

    #[test]
    fn what_is_no_png_jpeg_or_webp_is_refused() {
        let (png, jpeg) = (encoded(slope(9, 9), ImageFormat::Png), encoded(slope(9, 9), ImageFormat::Jpeg));
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
            riff(&[(b"VP8X", &vp8x(0x10, 16, 8)), (b"ALPH", ALPH), (b"VP8 ", VP8)]),
        ];
        for file in files {
            assert!(clean(&file).is_ok(), "{file:x?}");
            for length in 0..file.len() {
                assert_eq!(clean(&file[..length]), Err(NotAnImage), "{length} of {}", file.len());
            }
        }
    }

    #[test]
    fn a_lossless_stream_cut_inside_a_whole_file_is_refused() {
        let stream = vp8l(slope_with_alpha());
        assert!(clean(&riff(&[(b"VP8L", &stream)])).is_ok());
        for length in 0..stream.len() - 2 {
            assert_eq!(clean(&riff(&[(b"VP8L", &stream[..length])])), Err(NotAnImage), "{length}");
        }
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
        assert_eq!(clean(&png_of(2, 3, 8, 0, b"", &[0, 1, 2, 0, 3, 4])), Err(NotAnImage));
    }

    #[test]
    fn a_jpeg_that_lacks_a_part_of_its_picture_is_refused() {
        assert!(clean(&jpeg_of(64, 3, false, "123")).is_ok());
        assert!(clean(&jpeg_of(64, 3, false, "1,2,3")).is_ok());
        for scans in ["", "1", "1,2", "12", "123,123", "1,2,3,1"] {
            assert_eq!(clean(&jpeg_of(64, 3, false, scans)), Err(NotAnImage), "{scans:?}");
        }
    }

    #[test]
    fn a_jpeg_with_nonsense_in_the_middle_is_refused() {
        for progressive in [false, true] {
            let mut file = jpeg_of(64, 3, progressive, "123");
            assert!(clean(&file).is_ok());
            // No code begins with a one.
            let middle = file.len() - 10;
            file[middle..][..4].fill(0xAA);
            assert_eq!(clean(&file), Err(NotAnImage));
        }
    }

    #[test]
    fn a_jpeg_of_more_scans_than_anybody_writes_is_refused() {
        let scans = |number| jpeg_of(8, 1, true, &vec!["1"; number].join(","));
        assert!(clean(&scans(20)).is_ok());
        assert_eq!(clean(&scans(40)), Err(NotAnImage));
    }

    #[test]
    fn a_picture_beyond_the_bounds_is_refused_by_its_header() {
        let png = |width, height, depth, colour| png_of(width, height, depth, colour, b"", &[0; 999]);
        let lossless = |width: u32, height: u32| {
            riff(&[(b"VP8L", &[&[0x2F][..], &((height - 1) << 14 | (width - 1)).to_le_bytes(), &[0; 99]].concat())])
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
        for (width, height, decoded, memory) in
            [(0, 1, 0, 0), (16_385, 1, 1, 1), (5_001, 5_000, 1, 1), (1, 1, DECODED + 1, 1), (1, 1, 1, MEMORY + 1)]
        {
            assert_eq!(fits(width, height, decoded, memory), None);
        }
    }

    #[test]
    fn a_jpeg_that_would_take_three_times_its_pixels_is_refused() {
        // Of 5,000 by 5,000, coefficients are 150 MB and pixels 75 MB.
        assert_eq!(clean(&jpeg_of(5_000, 3, true, "123")), Err(NotAnImage));
        assert_eq!(clean(&jpeg_of(5_000, 3, false, "1,2,3")), Err(NotAnImage));
    }

    #[test]
    fn a_webp_that_declares_gigabytes_of_codes_is_refused() {
        // Within bounds it is read up to the pixels: to the last byte, and one less is too few.
        let few = groups(40);
        assert!(vp8l::memory(&few[5..], (16, 16), MEMORY).is_some_and(|memory| (40 * 69_632..40 * 71_000).contains(&memory)));
        assert_eq!(vp8l::memory(&few[5..few.len() - 1], (16, 16), MEMORY), None);
        let many = groups(30_000);
        assert!(many.len() < 320_000);
        assert_eq!(clean(&riff(&[(b"VP8L", &many)])), Err(NotAnImage));
        // The alpha of a lossy one is such a stream too.
        let alpha = [&[1][..], &many[5..]].concat();
        assert_eq!(clean(&riff(&[(b"VP8X", &vp8x(0x10, 16, 8)), (b"ALPH", &alpha), (b"VP8 ", VP8)])), Err(NotAnImage));
    }

    #[test]
    fn a_webp_whose_codes_name_no_symbol_of_theirs_is_refused() {
        let stream = |distance: u32| {
            let mut fields = HEAD.to_vec();
            // An image of predictions, whose only green is 256, a run of one: 256 lengths are zero, one is not.
            fields.extend([(1, 1), (0, 2), (0, 3), (0, 1)]);
            fields.extend([
                (0, 1),
                (0, 4),
                (0, 3),
                (1, 3),
                (0, 3),
                (1, 3),
                (0, 1),
                (1, 1),
                (127, 7),
                (1, 1),
                (107, 7),
                (0, 1),
                (1, 1),
                (12, 7),
            ]);
            fields.extend([ZERO, ZERO, ZERO, (0b101, 3), (distance, 8)]);
            // The picture itself is one colour.
            fields.extend([(0, 3), ZERO, ZERO, ZERO, ZERO, ZERO, (0, 32)]);
            packed(&fields)
        };
        assert!(vp8l::memory(&stream(3)[5..], (16, 16), MEMORY).is_some());
        assert_eq!(vp8l::memory(&stream(255)[5..], (16, 16), MEMORY), None);
        assert_eq!(clean(&riff(&[(b"VP8L", &stream(255))])), Err(NotAnImage));
    }

    #[test]
    fn a_webp_whose_chunk_is_longer_than_the_file_is_refused() {
        let mut file = riff(&[(b"VP8X", &vp8x(8, 16, 8)), (b"VP8 ", VP8), (b"EXIF", &exif(1))]);
        assert!(clean(&file).is_ok());
        let size = file.len() - exif(1).len() - 4;
        file[size..][..4].copy_from_slice(&0xFFFF_FFF0_u32.to_le_bytes());
        assert_eq!(clean(&file), Err(NotAnImage));
    }

    // --- what does not survive

    #[test]
    fn what_is_appended_to_a_picture_is_gone() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let plain = encoded(slope(40, 30), format);
            for tail in [&b"<html><script>alert(1)</script></html>"[..], b"PK\x03\x04payload.exe", b"\xFF\xD8\xFF\xE0 payload \xFF\xD9"] {
                let (_, avatar) = cleaned(&[&plain[..], tail].concat());
                assert_eq!(Ok(&avatar), clean(&plain).as_ref());
                assert!(!holds(&avatar.bytes, b"script") && !holds(&avatar.bytes, b"payload"));
            }
        }
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
        let (_, avatar) = cleaned(&with_chunks(&encoded(slope_with_alpha(), ImageFormat::Png), &extras));
        let (mut rest, mut names) = (&avatar.bytes[8..], Vec::new());
        while let [a, b, c, d, name @ ..] = rest {
            names.push(name[..4].to_vec());
            rest = &rest[u32::from_be_bytes([*a, *b, *c, *d]) as usize + 12..];
        }
        names.dedup();
        assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
    }

    #[test]
    fn no_metadata_of_a_jpeg_survives() {
        let plain = encoded(slope(40, 30), ImageFormat::Jpeg);
        let extras = [
            segment(0xFE, b"secret"),
            segment(0xE1, &[b"Exif\0\0", &exif(1)[..], b"secret GPS"].concat()),
            segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>secret</x:xmpmeta>"),
            segment(0xE2, b"ICC_PROFILE\0\x01\x01secret"),
            segment(0xED, b"Photoshop 3.0\0secret"),
        ]
        .concat();
        let (_, avatar) = cleaned(&with_segments(&plain, &extras));
        assert_eq!(Ok(&avatar), clean(&plain).as_ref());
        assert!(!holds(&avatar.bytes, b"secret") && !holds(&avatar.bytes, b"Exif") && !holds(&avatar.bytes, b"ICC"));
    }

    #[test]
    fn colours_hidden_under_full_transparency_are_gone() {
        let picture = RgbaImage::from_fn(4, 4, |x, _| if x < 2 { Rgba([9, 99, 199, 0]) } else { Rgba([9, 99, 199, 255]) });
        let (out, _) = cleaned(&encoded(picture, ImageFormat::Png));
        assert_eq!((out.get_pixel(0, 0).0, out.get_pixel(3, 3).0), ([0; 4], [9, 99, 199, 255]));
    }

    // --- what comes out

    fn slope_with_alpha() -> RgbaImage {
        RgbaImage::from_fn(24, 16, |x, y| Rgba([x as u8 * 10, y as u8 * 15, 60, 100 + x as u8]))
    }

    #[test]
    fn an_opaque_picture_becomes_a_jpeg_and_a_transparent_one_a_png() {
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let (out, avatar) = cleaned(&encoded(slope_with_alpha(), format));
            assert_eq!((avatar.format, avatar.format.content_type(), avatar.format.extension()), (Format::Png, "image/png", "png"));
            assert_eq!(out, slope_with_alpha());
            let mut opaque = slope_with_alpha();
            opaque.pixels_mut().for_each(|pixel| pixel.0[3] = 255);
            let (_, avatar) = cleaned(&encoded(opaque, format));
            assert_eq!((avatar.format, avatar.format.content_type(), avatar.format.extension()), (Format::Jpeg, "image/jpeg", "jpg"));
        }
    }

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
            let (out, _) = cleaned(&encoded(slope(from.0, from.1), ImageFormat::Png));
            assert_eq!(out.dimensions(), to, "{from:?}");
        }
    }

    #[test]
    fn shrinking_averages_and_does_not_darken_edges() {
        // Three pixels become two: the middle one is halved.
        let three = RgbaImage::from_fn(768, 1, |x, _| Rgba([[0, 90, 240][x as usize % 3], 0, 0, 255]));
        let out = shrink(&three.into());
        assert_eq!((out.get_pixel(0, 0).0[0], out.get_pixel(1, 0).0[0]), (30, 190));
        // White beside transparent black is white, half transparent.
        let edge = RgbaImage::from_fn(1024, 2, |x, _| if x % 2 == 0 { Rgba([255; 4]) } else { Rgba([0; 4]) });
        assert!(shrink(&edge.into()).pixels().all(|pixel| pixel.0 == [255, 255, 255, 128]));
    }

    #[test]
    fn exif_turns_the_picture_upright() {
        let (jpeg, png) = (encoded(slope(64, 32), ImageFormat::Jpeg), encoded(slope(64, 32), ImageFormat::Png));
        for orientation in 1..=8 {
            let tiff = exif(orientation);
            let stream = vp8l(DynamicImage::from(slope(64, 32)).into_rgba8());
            let files = [
                with_segments(&jpeg, &segment(0xE1, &[b"Exif\0\0", &tiff[..]].concat())),
                with_chunks(&png, &chunk(b"eXIf", &tiff)),
                riff(&[(b"VP8X", &vp8x(8, 64, 32)), (b"VP8L", &stream), (b"EXIF", &tiff)]),
            ];
            let mut wanted = DynamicImage::from(slope(64, 32));
            wanted.apply_orientation(Orientation::from_exif(orientation).unwrap());
            let wanted = wanted.into_rgba8();
            for file in files {
                let (out, avatar) = cleaned(&file);
                assert_eq!(out.dimensions(), wanted.dimensions(), "{orientation}");
                assert!(out.pixels().zip(wanted.pixels()).all(|(is, wanted)| near(*is, wanted.0)), "{orientation}");
                assert!(!holds(&avatar.bytes, b"Exif"));
            }
        }
    }

    #[test]
    fn a_large_picture_is_shrunk_and_turned() {
        let jpeg = encoded(slope(1000, 500), ImageFormat::Jpeg);
        let (out, _) = cleaned(&with_segments(&jpeg, &segment(0xE1, &[b"Exif\0\0", &exif(6)[..]].concat())));
        assert_eq!(out.dimensions(), (256, 512));
        // Turned clockwise, the lower left corner is now the upper left.
        assert!(near(*out.get_pixel(0, 0), [0, 255, 60, 255]) && near(*out.get_pixel(0, 511), [255, 255, 60, 255]));
    }

    #[test]
    fn every_kind_of_pixel_becomes_eight_bits_of_red_green_and_blue() {
        let grey = encoded(ImageBuffer::from_pixel(9, 9, Luma([200_u8])), ImageFormat::Png);
        let grey_alpha = encoded(ImageBuffer::from_pixel(9, 9, LumaA([200_u8, 50])), ImageFormat::Png);
        let deep = encoded(ImageBuffer::from_pixel(9, 9, Rgba([0xFFFF_u16, 0x8080, 0, 0x4040])), ImageFormat::Png);
        let deep_grey = encoded(ImageBuffer::from_pixel(9, 9, Luma([0x8080_u16])), ImageFormat::Png);
        let palette = |colours: &[u8], alphas: &[u8]| [chunk(b"PLTE", colours), chunk(b"tRNS", alphas)].concat();
        let mut grey_jpeg = Vec::new();
        JpegEncoder::new(&mut grey_jpeg).write_image(&[90; 81], 9, 9, ExtendedColorType::L8).unwrap();
        for (what, file, format, colour) in [
            ("grey", grey, Format::Jpeg, [200, 200, 200, 255]),
            ("grey with alpha", grey_alpha, Format::Png, [200, 200, 200, 50]),
            ("16 bits with alpha", deep, Format::Png, [255, 128, 0, 64]),
            ("16 bits of grey", deep_grey, Format::Jpeg, [128, 128, 128, 255]),
            ("1 bit", png_of(1, 1, 1, 0, b"", &[0, 0x80]), Format::Jpeg, [255, 255, 255, 255]),
            ("palette", png_of(1, 1, 2, 3, &palette(&[1, 2, 3, 40, 50, 60], &[]), &[0, 0x40]), Format::Jpeg, [40, 50, 60, 255]),
            (
                "palette with alpha",
                png_of(1, 1, 2, 3, &palette(&[1, 2, 3, 40, 50, 60], &[255, 70]), &[0, 0x40]),
                Format::Png,
                [40, 50, 60, 70],
            ),
            (
                "one colour that stands for none",
                png_of(1, 1, 8, 2, &chunk(b"tRNS", &[0, 1, 0, 2, 0, 3]), &[0, 1, 2, 3]),
                Format::Png,
                [0; 4],
            ),
            ("grey JPEG", grey_jpeg, Format::Jpeg, [90, 90, 90, 255]),
            ("progressive JPEG", jpeg_of(40, 3, true, "123"), Format::Jpeg, [128, 128, 128, 255]),
            ("CMYK JPEG", jpeg_of(40, 4, false, "1234"), Format::Jpeg, [64, 64, 64, 255]),
            ("lossy WebP", riff(&[(b"VP8 ", VP8)]), Format::Jpeg, [255, 0, 0, 255]),
            (
                "lossy WebP with alpha",
                riff(&[(b"VP8X", &vp8x(0x10, 16, 8)), (b"ALPH", ALPH), (b"VP8 ", VP8)]),
                Format::Png,
                [255, 0, 0, 128],
            ),
        ] {
            let (out, avatar) = cleaned(&file);
            assert_eq!(avatar.format, format, "{what}");
            assert!(out.pixels().all(|pixel| near(*pixel, colour)), "{what}: {:?}", out.get_pixel(0, 0));
        }
    }

    #[test]
    fn of_an_animation_the_first_picture_counts() {
        let frame = |picture: RgbaImage| {
            let stream = vp8l(picture);
            let place = [0, 0, 0, 0, 0, 0, 23, 0, 0, 15, 0, 0, 100, 0, 0, 0];
            [&place[..], b"VP8L", &(stream.len() as u32).to_le_bytes(), &stream, &[0][..stream.len() % 2]].concat()
        };
        let (first, second) = (frame(slope_with_alpha()), frame(RgbaImage::from_pixel(24, 16, Rgba([1, 2, 3, 255]))));
        let webp = riff(&[(b"VP8X", &vp8x(0x12, 24, 16)), (b"ANIM", &[0; 6]), (b"ANMF", &first), (b"ANMF", &second)]);
        assert_eq!(cleaned(&webp).0, slope_with_alpha());
        let control = |number: u8| [&[0, 0, 0, number][..], &[0, 0, 0, 1, 0, 0, 0, 1], &[0; 8], &[0, 1, 0, 10, 0, 0]].concat();
        let still = png_of(1, 1, 8, 0, &[chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]), chunk(b"fcTL", &control(0))].concat(), &[0, 77]);
        let at = still.len() - 12;
        let more = [chunk(b"fcTL", &control(1)), chunk(b"fdAT", &[0, 0, 0, 2, 0x78, 1, 1, 2, 0, 0xFD, 0xFF, 0, 9, 0, 0, 0, 0])].concat();
        assert_eq!(cleaned(&[&still[..at], &more, &still[at..]].concat()).0.get_pixel(0, 0).0, [77, 77, 77, 255]);
    }

    #[test]
    fn an_avatar_can_be_uploaded_again() {
        for picture in [DynamicImage::from(slope(700, 300)), slope_with_alpha().into()] {
            let (out, avatar) = cleaned(&encoded(picture, ImageFormat::Png));
            let (again, second) = cleaned(&avatar.bytes);
            assert_eq!((second.format, again.dimensions()), (avatar.format, out.dimensions()));
        }
    }

    #[test]
    fn the_refusal_says_what_it_is() {
        let refusal: &dyn Error = &NotAnImage;
        assert_eq!(refusal.to_string(), "not an image that can be an avatar");
    }
}
