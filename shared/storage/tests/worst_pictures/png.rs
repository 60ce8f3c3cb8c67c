//! PNGs whose pixels, profiles and texts decompress to much more than the file.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};

use super::noise;

pub(super) fn pictures() -> Vec<(&'static str, Vec<u8>)> {
    let zeros = |count: usize| zlib(std::iter::repeat_n(0, count));
    // Rows of Paeth-filtered noise up to the maximum file size, then zeros.
    let paeth = |row: usize, rows: usize| {
        let noise = noise(3_000_000);
        zlib((0..row * rows).map(|at| match at % row {
            0 => 4,
            _ => noise.get(at).copied().unwrap_or_default(),
        }))
    };
    let bomb = four_gigabytes();
    let iccp = chunk(b"iCCP", &[b"a\0\0", &bomb[..]].concat());
    let ztxt = chunk(b"zTXt", &[b"a\0\0", &bomb[..]].concat());
    let itxt = chunk(b"iTXt", &[b"a\0\x01\0\0\0", &bomb[..]].concat());
    let texts = chunk(b"tEXt", b"a\0b").repeat(270_000);
    let iccps = [chunk(b"iCCP", b"a\0\0x"), iccp.clone()].concat();
    let palette = [chunk(b"PLTE", &[7; 6]), chunk(b"tRNS", &[9])].concat();
    let some_texts = &texts[..3_500_000 / 15 * 15];
    let small = zeros(2);
    let rgba16 = zeros((1 + 3_535 * 8) * 3_535);
    vec![
        ("png: rgba16, 12.5 MP", png(3_535, 3_535, 16, 6, 0, b"", &rgba16)),
        ("png: rgba16, texts, 12.5 MP", png(3_535, 3_535, 16, 6, 0, some_texts, &rgba16)),
        ("png: rgba16 above the bytes, 16 MP", png(4_000, 4_000, 16, 6, 0, b"", &rgba16)),
        ("png: rgba8, paeth, 16 MP", png(4_000, 4_000, 8, 6, 0, b"", &paeth(16_001, 4_000))),
        ("png: rgba8 interlaced, 16 MP", png(4_000, 4_000, 8, 6, 1, b"", &zeros(64_020_000))),
        ("png: rgba16 interlaced, 12.5 MP", png(3_535, 3_535, 16, 6, 1, b"", &zeros(100_100_000))),
        ("png: 1 bit interlaced, 16 MP", png(4_000, 4_000, 1, 0, 1, b"", &zeros(2_100_000))),
        ("png: palette, 16 MP", png(4_000, 4_000, 1, 3, 0, &palette, &zeros(501 * 4_000))),
        ("png: one pixel wide, interlaced", png(1, 16_384, 8, 6, 1, b"", &zeros(100_000))),
        ("png: iCCP of 4 GB", png(1, 1, 8, 0, 0, &iccp, &small)),
        ("png: second iCCP of 4 GB", png(1, 1, 8, 0, 0, &iccps, &small)),
        ("png: zTXt of 4 GB", png(1, 1, 8, 0, 0, &ztxt, &small)),
        ("png: iTXt of 4 GB", png(1, 1, 8, 0, 0, &itxt, &small)),
        ("png: pixels of 4 GB", png(1, 1, 8, 0, 0, b"", &bomb)),
        ("png: 270,000 texts", png(1, 1, 8, 0, 0, &texts, &small)),
        ("png: chunk of 4 GB", png(1, 1, 8, 0, 0, b"\xFF\xFF\xFF\xFFiCCPa\0\0", &small)),
        ("png: 4 billion by 4 billion", png(u32::MAX >> 1, u32::MAX >> 1, 16, 6, 0, b"", &small)),
    ]
}

fn zlib(bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(1));
    let mut buffer = Vec::with_capacity(1 << 20);
    for byte in bytes {
        buffer.push(byte);
        if buffer.len() == 1 << 20 {
            encoder.write_all(&buffer).unwrap();
            buffer.clear();
        }
    }
    encoder.write_all(&buffer).unwrap();
    encoder.finish().unwrap()
}

/// A zlib stream of 4,000 MB of zeros, without an end.
fn four_gigabytes() -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let mut ends = Vec::new();
    for _ in 0..2 {
        encoder.write_all(&vec![0; 1_000_000]).unwrap();
        encoder.flush().unwrap();
        ends.push(encoder.get_ref().len());
    }
    let stream = encoder.get_ref();
    [&stream[..ends[0]], &stream[ends[0]..ends[1]].repeat(3_999)].concat()
}

fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(name);
    crc.update(data);
    [&(data.len() as u32).to_be_bytes()[..], name, data, &crc.sum().to_be_bytes()].concat()
}

fn png(
    width: u32,
    height: u32,
    depth: u8,
    colour: u8,
    interlaced: u8,
    extras: &[u8],
    data: &[u8],
) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let header = [&size[..], &[depth, colour, 0, 0, interlaced]].concat();
    [
        b"\x89PNG\r\n\x1a\n",
        &chunk(b"IHDR", &header)[..],
        extras,
        &chunk(b"IDAT", data),
        &chunk(b"IEND", b""),
    ]
    .concat()
}
