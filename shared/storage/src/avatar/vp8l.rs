//! The lossless stream of WebP. Its decoder builds as many prefix codes as the file declares, gigabytes
//! for a file of one megabyte, and has no limit for them; so the stream is read here up to its pixels,
//! and what the decoder would take is known before it is asked.
//!
//! Source: RFC 9649, section 3; for what codes and images take, `image-webp` 0.2.

use std::{iter, mem};

/// How many values a byte has, which are the first symbols of every code but that of distances.
const LITERALS: usize = 256;
/// How many prefixes of run lengths follow the literals of green; after them come cached colours.
const LENGTHS: usize = 24;
/// How many prefixes of distances there are.
const DISTANCES: usize = 40;
/// In which order the lengths of the code of code lengths are written.
const ORDER: [usize; 19] = [
    17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
];

/// Bytes that the decoder takes beside the pixels: for prefix codes, block images and the entropy image.
/// Takes the stream after its header and the size of the picture. `None` when the stream is broken or
/// takes more than `limit`.
pub(super) fn memory(stream: &[u8], (mut width, height): (u32, u32), limit: u64) -> Option<u64> {
    let mut bits = BitReader { stream, at: 0 };
    let (mut memory, mut seen) = (0, [false; 4]);
    while bits.read(1)? == 1 {
        let transform = bits.read(2)?;
        // Each is there once at most.
        if mem::replace(&mut seen[transform as usize], true) {
            return None;
        }
        match transform {
            // Predictors, and factors of colours: an image with a pixel for each block.
            0 | 1 => memory += 4 * bits.block_image(width, height)?.0,
            // Green is subtracted: nothing to read.
            2 => {}
            // Colours are indexed: of few, several pixels are bundled into one.
            _ => {
                let colours = bits.read(8)? + 1;
                bits.entropy_coded_image(colours, 1)?;
                width = match colours {
                    0..=2 => width.div_ceil(8),
                    3..=4 => width.div_ceil(4),
                    5..=16 => width.div_ceil(2),
                    _ => width,
                };
            }
        }
    }
    let cache = bits.colour_cache()?;
    let mut groups = 1;
    if bits.read(1)? == 1 {
        let (blocks, highest) = bits.block_image(width, height)?;
        memory += 6 * blocks;
        groups += highest;
    }
    for _ in 0..groups {
        memory += bits
            .prefix_code_group(cache)?
            .iter()
            .map(PrefixCode::memory)
            .sum::<u64>();
        if memory > limit {
            return None;
        }
    }
    Some(memory)
}

/// A canonical prefix code: how many symbols there are of each length, and the symbols, the shortest first.
struct PrefixCode {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl PrefixCode {
    /// The code whose symbol `n` is `lengths[n]` bits long; a symbol of no length does not occur. `None`
    /// unless there is but one symbol, or the code is complete.
    fn new(lengths: &[usize]) -> Option<Self> {
        let mut symbols: Vec<usize> = (0..lengths.len())
            .filter(|symbol| lengths[*symbol] > 0)
            .collect();
        symbols.sort_by_key(|symbol| lengths[*symbol]);
        let mut counts = [0; 16];
        symbols
            .iter()
            .for_each(|symbol| counts[lengths[*symbol]] += 1);
        let words = (1..16)
            .map(|length| counts[length] << (15 - length))
            .sum::<usize>();
        (symbols.len() == 1 || words == 1 << 15).then_some(Self { counts, symbols })
    }

    /// Bytes that the decoder takes for it: a table of at most 1,024 entries, two nodes for every symbol
    /// of more than ten bits, and the places in the group and in the heap.
    fn memory(&self) -> u64 {
        let longest = self
            .counts
            .iter()
            .rposition(|count| *count > 0)
            .unwrap_or_default();
        160 + (4 << longest.min(10)) + 32 * self.counts[11..].iter().sum::<usize>() as u64
    }
}

/// The stream and the place in it, in bits.
struct BitReader<'a> {
    stream: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    /// The next bits as a number, the lowest first.
    fn read(&mut self, bits: u32) -> Option<u32> {
        let mut number = 0;
        for bit in 0..bits {
            number |= (u32::from(*self.stream.get(self.at / 8)?) >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(number)
    }

    /// The next symbol of a code; the only one takes no bits.
    fn symbol(&mut self, code: &PrefixCode) -> Option<usize> {
        if let [only] = code.symbols[..] {
            return Some(only);
        }
        // `first` is the first word of a length, and `index` the place of its symbol.
        let (mut word, mut first, mut index) = (0, 0, 0);
        for count in &code.counts[1..] {
            word |= self.read(1)? as usize;
            if word < first + count {
                return code.symbols.get(index + word - first).copied();
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        None
    }

    /// How many colours the cache holds: none, or 2 to 2,048.
    fn colour_cache(&mut self) -> Option<usize> {
        match self.read(1)? {
            0 => Some(0),
            _ => self
                .read(4)
                .filter(|bits| (1..=11).contains(bits))
                .map(|bits| 1 << bits),
        }
    }

    /// The codes of green with run lengths and cached colours, of red, of blue, of alpha and of distances.
    fn prefix_code_group(&mut self, cache: usize) -> Option<[PrefixCode; 5]> {
        Some([
            self.prefix_code(LITERALS + LENGTHS + cache)?,
            self.prefix_code(LITERALS)?,
            self.prefix_code(LITERALS)?,
            self.prefix_code(LITERALS)?,
            self.prefix_code(DISTANCES)?,
        ])
    }

    fn prefix_code(&mut self, alphabet: usize) -> Option<PrefixCode> {
        if self.read(1)? == 1 {
            self.simple_code(alphabet)
        } else {
            self.normal_code(alphabet)
        }
    }

    /// A code of one symbol or two, which are written as they are.
    fn simple_code(&mut self, alphabet: usize) -> Option<PrefixCode> {
        let (two, wide) = (self.read(1)? == 1, self.read(1)?);
        let mut code = PrefixCode {
            counts: [0; 16],
            symbols: vec![self.read(1 + 7 * wide)? as usize],
        };
        if two {
            code.symbols.push(self.read(8)? as usize);
            code.counts[1] = 2;
        }
        code.symbols
            .iter()
            .all(|symbol| *symbol < alphabet)
            .then_some(code)
    }

    /// A code of which the lengths are written, in a code of their own.
    fn normal_code(&mut self, alphabet: usize) -> Option<PrefixCode> {
        let mut lengths = [0; ORDER.len()];
        for length in &ORDER[..4 + self.read(4)? as usize] {
            lengths[*length] = self.read(3)? as usize;
        }
        let code = PrefixCode::new(&lengths)?;
        let mut max_symbol = alphabet;
        if self.read(1)? == 1 {
            let bits = 2 + 2 * self.read(3)?;
            max_symbol = 2 + self.read(bits)? as usize;
        }
        let (mut lengths, mut last) = (Vec::new(), 8);
        for _ in 0..max_symbol {
            if lengths.len() >= alphabet {
                break;
            }
            let (length, times) = match self.symbol(&code)? {
                0 => (0, 1),
                16 => (last, 3 + self.read(2)?),
                17 => (0, 3 + self.read(3)?),
                18 => (0, 11 + self.read(7)?),
                length => {
                    last = length;
                    (length, 1)
                }
            };
            lengths.extend(iter::repeat_n(length, times as usize));
        }
        if lengths.len() > alphabet {
            None
        } else {
            PrefixCode::new(&lengths)
        }
    }

    /// Passes an image that has a pixel for each block of so large a picture. Gives how many there are,
    /// and the highest meta prefix code: red is its high byte, green its low.
    fn block_image(&mut self, width: u32, height: u32) -> Option<(u64, usize)> {
        let block = 4 << self.read(3)?;
        let (columns, rows) = (width.div_ceil(block), height.div_ceil(block));
        Some((
            u64::from(columns) * u64::from(rows),
            self.entropy_coded_image(columns, rows)?,
        ))
    }

    /// Passes an image that is no picture, and gives what is its highest meta prefix code if it names some.
    /// Only literals can name a new one: run lengths and cached colours repeat what was there.
    fn entropy_coded_image(&mut self, width: u32, height: u32) -> Option<usize> {
        let cache = self.colour_cache()?;
        let [green, red, blue, alpha, distance] = self.prefix_code_group(cache)?;
        let (mut left, mut highest) = (width as usize * height as usize, 0);
        while left > 0 {
            let symbol = self.symbol(&green)?;
            let pixels = if symbol < LITERALS {
                highest = highest.max(self.symbol(&red)? << 8 | symbol);
                self.symbol(&blue)?;
                self.symbol(&alpha)?;
                1
            } else if symbol < LITERALS + LENGTHS {
                let length = self.prefixed(symbol - LITERALS)?;
                let prefix = self.symbol(&distance)?;
                self.prefixed(prefix)?;
                length
            } else {
                1
            };
            left = left.checked_sub(pixels)?;
        }
        Some(highest)
    }

    /// A run length or a distance, of which the symbol is the prefix.
    fn prefixed(&mut self, prefix: usize) -> Option<usize> {
        if prefix < 4 {
            return Some(prefix + 1);
        }
        let bits = (prefix as u32 - 2) >> 1;
        Some(((2 + (prefix & 1)) << bits) + self.read(bits)? as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::memory;
    use crate::avatar::{
        MEMORY, NotAnImage, clean,
        webp::tests::{VP8, riff, vp8x},
    };

    /// Of a lossless stream: signature, 16 by 16, opaque.
    const HEAD: [(u32, u32); 4] = [(0x2F, 8), (15, 14), (15, 14), (0, 4)];
    /// A prefix code of the one symbol zero.
    const ZERO: (u32, u32) = (1, 4);

    /// Numbers and how many bits each has, the lowest bit first.
    fn packed(fields: &[(u32, u32)]) -> Vec<u8> {
        let bits: Vec<u32> = fields
            .iter()
            .flat_map(|(number, length)| (0..*length).map(move |bit| number >> bit & 1))
            .collect();
        bits.chunks(8)
            .map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | *bit as u8))
            .collect()
    }

    /// A lossless stream that declares so many groups of codes, the first of each of 2,048 symbols of
    /// eleven bits. It ends where the pixels would begin.
    fn groups(number: u32) -> Vec<u8> {
        let mut fields = HEAD.to_vec();
        // No transform; the largest cache; groups named by an image of one block.
        fields.extend([(0, 1), (1, 1), (11, 4), (1, 1), (7, 3), (0, 1)]);
        // That image: the name of the last group, as the only green and the only red.
        fields.extend([
            (0b101, 3),
            ((number - 1) & 255, 8),
            (0b101, 3),
            ((number - 1) >> 8, 8),
            ZERO,
            ZERO,
            ZERO,
        ]);
        for _ in 0..number {
            // The only length is eleven, of 2,048 symbols; the other codes have one symbol each.
            fields.extend([
                (0, 1),
                (11, 4),
                (0, 30),
                (0, 12),
                (1, 3),
                (1, 1),
                (5, 3),
                (2046, 12),
                ZERO,
                ZERO,
                ZERO,
                ZERO,
            ]);
        }
        packed(&fields)
    }

    #[test]
    fn a_webp_that_declares_gigabytes_of_codes_is_refused() {
        // Within bounds it is read up to the pixels: to the last byte, and one less is too few.
        let few = groups(40);
        assert!(
            memory(&few[5..], (16, 16), MEMORY)
                .is_some_and(|taken| (40 * 69_632..40 * 71_000).contains(&taken))
        );
        assert_eq!(memory(&few[5..few.len() - 1], (16, 16), MEMORY), None);
        let many = groups(30_000);
        assert!(many.len() < 320_000);
        assert_eq!(clean(&riff(&[(b"VP8L", &many)])), Err(NotAnImage));
        // The alpha of a lossy one is such a stream too.
        let alpha = [&[1][..], &many[5..]].concat();
        assert_eq!(
            clean(&riff(&[
                (b"VP8X", &vp8x(0x10, 16, 8)),
                (b"ALPH", &alpha),
                (b"VP8 ", VP8)
            ])),
            Err(NotAnImage)
        );
    }

    #[test]
    fn a_webp_whose_codes_name_no_symbol_of_theirs_is_refused() {
        let stream = |distance: u32| {
            let mut fields = HEAD.to_vec();
            // An image of predictions, whose only green is 256, a run of one: 256 lengths are zero, one is not.
            fields.extend([(1, 1), (0, 2), (0, 3), (0, 1)]);
            fields.extend([(0, 1), (0, 4), (0, 3), (1, 3), (0, 3), (1, 3), (0, 1)]);
            fields.extend([(1, 1), (127, 7), (1, 1), (107, 7), (0, 1), (1, 1), (12, 7)]);
            fields.extend([ZERO, ZERO, ZERO, (0b101, 3), (distance, 8)]);
            // The picture itself is one colour.
            fields.extend([(0, 3), ZERO, ZERO, ZERO, ZERO, ZERO, (0, 32)]);
            packed(&fields)
        };
        assert!(memory(&stream(3)[5..], (16, 16), MEMORY).is_some());
        assert_eq!(memory(&stream(255)[5..], (16, 16), MEMORY), None);
        assert_eq!(clean(&riff(&[(b"VP8L", &stream(255))])), Err(NotAnImage));
    }
}
