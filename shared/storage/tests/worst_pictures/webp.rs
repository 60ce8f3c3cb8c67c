//! WebPs with frames larger than the image, and alpha channels with expensive codes.

use super::noise;

pub(super) fn pictures() -> Vec<(&'static str, Vec<u8>)> {
    let picture = |side| vp8(side, side, 3_900_000);
    let alpha = |side: u32, flags: u8, data: &[u8], length| {
        let alpha = [&[flags], data].concat();
        webp(&[
            (b"VP8X", &vp8x(0x10, side, side)),
            (b"ALPH", &alpha),
            (b"VP8 ", &vp8(side, side, length)),
        ])
    };
    let extended = |flags, chunks: &[(&[u8; 4], &[u8])]| {
        webp(&[&[(b"VP8X", &vp8x(flags, 16, 16)[..])], chunks].concat())
    };
    let small = vp8(16, 16, 100);
    let mut long = extended(8, &[(b"VP8 ", &small), (b"EXIF", b"a")]);
    let at = long.len() - 6;
    long[at..at + 4].copy_from_slice(&[0xF0, 0xFF, 0xFF, 0xFF]);
    let framed = |side| webp(&[(b"VP8X", &vp8x(0, side, side)), (b"VP8 ", &small)]);
    let chunks = [&[(b"VP8 ", &small[..])], &vec![(b"JUNK", &b""[..]); 500_000][..]].concat();
    let frame = [&[0; 16][..], b"VP8L\xFF\xFF\xFF\0", &codes(30_000)].concat();
    let lossless = [&[0x2F, 15, 0, 4, 0][..], &codes(30_000)].concat();
    vec![
        ("webp: lossy, 16 MP", webp(&[(b"VP8 ", &picture(4_000))])),
        ("webp: lossy, all zeros, 16 MP", webp(&[(b"VP8 ", &zeroed(4_000))])),
        ("webp: lossy, 268 MP", webp(&[(b"VP8 ", &picture(16_383))])),
        ("webp: lossy, 268 MP in a frame of 16 by 16", extended(0, &[(b"VP8 ", &picture(16_383))])),
        ("webp: lossy, 268 MP all zeros, of 16 by 16", extended(0, &[(b"VP8 ", &zeroed(16_383))])),
        ("webp: lossy, frame of 281 TP", framed(1 << 24)),
        ("webp: lossy, frame of 4 GP", framed(65_535)),
        ("webp: alpha of one colour, 14 MP", alpha(3_800, 1, &codes(1), 3_900_000)),
        ("webp: alpha, gradient, 14 MP", alpha(3_800, 13, &codes(1), 3_900_000)),
        ("webp: alpha, gradient, 4 MP", alpha(2_000, 13, &codes(1), 3_900_000)),
        ("webp: alpha of 2,350 codes, 0.3 MP", alpha(512, 1, &codes(2_350), 3_900_000)),
        ("webp: alpha of 1,200 codes, 7 MP", alpha(2_650, 1, &codes(1_200), 3_900_000)),
        ("webp: alpha of 200 codes, 13 MP", alpha(3_600, 13, &codes(200), 3_900_000)),
        ("webp: alpha of 30,000 codes, 0.3 MP", alpha(512, 1, &codes(30_000), 100_000)),
        ("webp: alpha not compressed, 4 MP", alpha(2_000, 12, &noise(4_000_000), 100_000)),
        ("webp: EXIF of 4 GB", long),
        ("webp: 500,000 chunks", extended(0, &chunks)),
        ("webp: frame in a still picture", extended(0, &[(b"VP8 ", &small), (b"ANMF", &frame)])),
        ("webp: lossless, 30,000 codes", webp(&[(b"VP8L", &lossless)])),
    ]
}

fn webp(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let one = |name: &[u8; 4], data: &[u8]| {
        [name, &(data.len() as u32).to_le_bytes(), data, &[0][..data.len() % 2]].concat()
    };
    let chunks: Vec<u8> = chunks.iter().flat_map(|(name, data)| one(name, data)).collect();
    one(b"RIFF", &[b"WEBP", &chunks[..]].concat())
}

fn vp8x(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let (width, height) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
    [&[flags, 0, 0, 0], &width[..3], &height[..3]].concat()
}

/// A key frame with a simple header and macroblocks of noise.
fn vp8(width: u32, height: u32, length: usize) -> Vec<u8> {
    let noise = noise(length);
    let first = (length / 8).min(500_000);
    vp8_frame(width, height, first, &noise)
}

/// A key frame whose macroblock bits are all zero.
fn zeroed(side: u32) -> Vec<u8> {
    vp8_frame(side, side, 500_000, &vec![0; 3_900_000])
}

fn vp8_frame(width: u32, height: u32, first: usize, data: &[u8]) -> Vec<u8> {
    // A shown key frame, and the length of the first partition.
    let tag = (first as u32) << 5 | 0x10;
    let (width, height) = (width.to_le_bytes(), height.to_le_bytes());
    let head = [&tag.to_le_bytes()[..3], b"\x9d\x01\x2a", &width[..2], &height[..2]].concat();
    // No segments, a normal loop filter, one partition.
    [&head[..], &[0x08, 0x80, 0x40], &data[3..]].concat()
}

/// A lossless stream without a header: `groups` code groups, then one colour. In all but the last group the first code
/// has 2,048 symbols of eleven bits, which a decoder expands from 10 bytes to 70 kB.
fn codes(groups: u32) -> Vec<u8> {
    const ZERO: (u32, u32) = (1, 4);
    // No transform; the largest colour cache; code groups selected per block of 512 × 512 pixels.
    let mut fields = vec![(0, 1), (1, 1), (11, 4), (1, 1), (7, 3), (0, 1)];
    fields.extend([(0b101, 3), ((groups - 1) & 255, 8), (0b101, 3), ((groups - 1) >> 8, 8)]);
    fields.extend([ZERO; 3]);
    for _ in 1..groups {
        fields.extend([(0, 1), (11, 4), (0, 30), (0, 12), (1, 3), (1, 1), (5, 3), (2046, 12)]);
        fields.extend([ZERO; 4]);
    }
    fields.extend([ZERO; 5]);
    fields.extend([(0, 32); 4]);
    let bits: Vec<u32> = fields
        .iter()
        .flat_map(|(number, length)| (0..*length).map(move |bit| number >> bit & 1))
        .collect();
    bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | *bit as u8)).collect()
}
