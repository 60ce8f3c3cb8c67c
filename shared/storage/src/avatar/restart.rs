//! Puts lost restart markers and a lost end back into the scan of a sequential JPEG (ITU-T T.81): the decoder goes on in the
//! wrong place without them.

use super::jpeg::{EOI, Segment, is_frame};

/// A Huffman table (T.81, annex C): the number of codes of each length from 1 to 16 bits, and their symbols in order.
struct Table<'a> {
    counts: &'a [u8; 16],
    symbols: &'a [u8],
}

/// The blocks of a component in an MCU, and its tables.
struct Component<'a> {
    blocks: usize,
    dc: Table<'a>,
    ac: Table<'a>,
}

/// The parts of a JPEG that say where an interval ends.
struct Layout<'a> {
    components: Vec<Component<'a>>,
    /// MCUs in the scan, at least one.
    mcus: usize,
    /// MCUs between restart markers; all without such markers.
    interval: usize,
    /// Intervals in the scan.
    intervals: usize,
}

/// `scan`, from its header on, with all restart markers and, of a picture that is one sequential scan of all components,
/// with an end directly after it. `None` when restart markers are missing in another picture, or the data does not allow to
/// find the place of what is missing.
pub(super) fn repaired(segments: &[Segment<'_>], scan: &[u8]) -> Option<Vec<u8>> {
    let length = usize::from(u16::from_be_bytes(*scan.get(2..)?.first_chunk()?));
    let (header, mut rest) = scan.split_at_checked(2 + length)?;
    let Some(layout) = Layout::of(segments, header) else {
        return is_complete(scan).then(|| scan.to_vec());
    };
    let mut repaired = header.to_vec();
    let (mut data, mut marker) = until_marker(rest);
    for interval in 1..layout.intervals {
        let number = 0xD0 + ((interval - 1) % 8) as u8;
        let is_there = marker == Some(number);
        // If it is lost, the data goes on with the next interval.
        let end = if is_there { data.len() } else { layout.end(data, layout.interval)? };
        repaired.extend(&data[..end]);
        repaired.extend([0xFF, number]);
        if is_there {
            rest = &rest[end + 2..];
            (data, marker) = until_marker(rest);
        } else {
            (data, rest) = (&data[end..], &rest[end..]);
        }
    }
    if marker == Some(EOI[1]) {
        repaired.extend(rest);
    } else {
        // What follows the last block is no part of the picture.
        let last = layout.mcus - (layout.intervals - 1) * layout.interval;
        repaired.extend(&data[..layout.end(data, last)?]);
        repaired.extend(EOI);
    }
    Some(repaired)
}

/// Whether the restart markers before the end count from 0 to 7 again and again.
fn is_complete(scans: &[u8]) -> bool {
    let end = scans.windows(2).position(|two| two == EOI).unwrap_or(scans.len());
    let mut next = 0;
    scans[..end].windows(2).all(|two| match two {
        [0xFF, 0xDA] => {
            next = 0;
            true
        }
        [0xFF, marker @ 0xD0..=0xD7] => {
            let is_next = marker - 0xD0 == next;
            next = (next + 1) % 8;
            is_next
        }
        _ => true,
    })
}

/// The entropy-coded data at the start of `data`, and the marker after it.
fn until_marker(data: &[u8]) -> (&[u8], Option<u8>) {
    let end = data.windows(2).position(|two| two[0] == 0xFF && !matches!(two[1], 0 | 0xFF));
    match end {
        Some(end) => (&data[..end], Some(data[end + 1])),
        None => (data, None),
    }
}

impl<'a> Layout<'a> {
    fn of(segments: &[Segment<'a>], header: &'a [u8]) -> Option<Self> {
        let (marker, frame) = segments.iter().find(|(marker, _)| is_frame(*marker))?;
        let in_frame = frame.get(6..)?.chunks_exact(3);
        let in_scan = header.get(5..header.len().checked_sub(3)?)?.chunks_exact(2);
        if !matches!(marker, 0xC0 | 0xC1) || in_scan.len() != in_frame.len() {
            return None;
        }
        let side = |at: usize| {
            Some(usize::from(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?])))
        };
        let (height, width) = (side(1)?, side(3)?);
        let factors =
            |component: &[u8]| (usize::from(component[1] >> 4), usize::from(component[1] & 15));
        let is_usual = |factor: usize| (1..=4).contains(&factor);
        let mut all_factors = in_frame.clone().map(factors);
        if !is_usual(in_frame.len())
            || !all_factors.all(|(across, down)| is_usual(across) && is_usual(down))
        {
            return None;
        }
        let is_single = in_frame.len() == 1;
        let components = in_scan.map(|pair| {
            let (id, tables) = (pair[0], pair[1]);
            let component = in_frame.clone().find(|component| component[0] == id)?;
            let (across, down) = factors(component);
            Some(Component {
                blocks: if is_single { 1 } else { across * down },
                dc: table(segments, tables >> 4)?,
                ac: table(segments, 0x10 | tables & 15)?,
            })
        });
        let (across, down) = in_frame
            .clone()
            .map(factors)
            .fold((1, 1), |most, one| (most.0.max(one.0), most.1.max(one.1)));
        let (across, down) = if is_single { (1, 1) } else { (across, down) };
        let mcus = width.div_ceil(8 * across) * height.div_ceil(8 * down);
        if mcus == 0 {
            return None;
        }
        let interval = segments.iter().rev().find(|(marker, _)| *marker == 0xDD);
        let interval =
            interval.map_or(Some(0), |(_, data)| Some(u16::from_be_bytes(*data.first_chunk()?)))?;
        let interval = if interval == 0 { mcus } else { interval.into() };
        let intervals = mcus.div_ceil(interval);
        Some(Self { components: components.collect::<Option<_>>()?, mcus, interval, intervals })
    }

    /// Where the first `mcus` in `data` end, in bytes; `None` when it has fewer.
    fn end(&self, data: &[u8], mcus: usize) -> Option<usize> {
        let mut bits = Bits { data, at: 0, left: 0, byte: 0 };
        for _ in 0..mcus {
            for component in &self.components {
                for _ in 0..component.blocks {
                    let size = component.dc.symbol(&mut bits)?;
                    bits.skip(size)?;
                    let mut at = 1;
                    while at < 64 {
                        let symbol = component.ac.symbol(&mut bits)?;
                        let (zeros, size) = (symbol >> 4, symbol & 15);
                        if size == 0 && zeros < 15 {
                            break;
                        }
                        bits.skip(size)?;
                        at += 1 + zeros;
                    }
                }
            }
        }
        Some(bits.at)
    }
}

/// The last table of `class` and identifier `name`, as the two halves of a byte.
fn table<'a>(segments: &[Segment<'a>], name: u8) -> Option<Table<'a>> {
    let mut found = None;
    for (_, data) in segments.iter().filter(|(marker, _)| *marker == 0xC4) {
        let mut rest = *data;
        while let [first, after @ ..] = rest {
            let (counts, after) = after.split_first_chunk()?;
            let total = counts.iter().map(|count| usize::from(*count)).sum();
            let (symbols, after) = after.split_at_checked(total)?;
            if *first == name {
                found = Some(Table { counts, symbols });
            }
            rest = after;
        }
    }
    found
}

impl Table<'_> {
    /// The next symbol (T.81, figure F.16).
    fn symbol(&self, bits: &mut Bits<'_>) -> Option<u8> {
        let (mut code, mut first, mut index) = (0_usize, 0_usize, 0_usize);
        for count in self.counts {
            code = code << 1 | usize::from(bits.next()?);
            let count = usize::from(*count);
            if code < first + count {
                return self.symbols.get(index + code - first).copied();
            }
            index += count;
            first = (first + count) << 1;
        }
        None
    }
}

/// The bits of entropy-coded data, in which a zero byte follows each 0xFF.
struct Bits<'a> {
    data: &'a [u8],
    /// The number of bytes that were read, at least in part.
    at: usize,
    left: u8,
    byte: u8,
}

impl Bits<'_> {
    fn next(&mut self) -> Option<bool> {
        if self.left == 0 {
            self.byte = *self.data.get(self.at)?;
            self.at += if self.byte == 0xFF { 2 } else { 1 };
            self.left = 8;
        }
        self.left -= 1;
        Some(self.byte >> self.left & 1 == 1)
    }

    fn skip(&mut self, count: u8) -> Option<()> {
        (0..count).try_for_each(|_| self.next().map(drop))
    }
}
