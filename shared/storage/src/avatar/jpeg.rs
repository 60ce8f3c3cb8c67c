//! Brings a JPEG into the form that its decoder reads as browsers do.

use super::restart;

/// The end of a JPEG.
pub(super) const EOI: [u8; 2] = [0xFF, 0xD9];
/// The start of a scan.
const SOS: [u8; 2] = [0xFF, 0xDA];

/// A segment before the first scan: its marker, and the bytes after its length.
pub(super) type Segment<'a> = (u8, &'a [u8]);

/// A JPEG, and whether it has an end.
pub(super) struct Normalized {
    pub(super) file: Vec<u8>,
    pub(super) has_end: bool,
}

/// `file` with the segments that its pixels, colours and orientation need, without junk between them.
/// `None` if it has no scan, lacks an end although it has or may have several scans, or lacks restart markers or pixels, so
/// that it cannot be [repaired](restart::repaired): the decoder would go on in the wrong place.
///
/// Where it has a JFIF segment and three components, an Adobe segment is left out: browsers take the components as YCbCr
/// whatever it says, as JFIF requires (<https://www.w3.org/Graphics/JPEG/jfif3.pdf>).
pub(super) fn normalized(file: &[u8]) -> Option<Normalized> {
    let (segments, scans) = segments(file)?;
    let (frame, header) = segments.iter().find(|(marker, _)| is_frame(*marker))?;
    let (is_progressive, components) = (!matches!(frame, 0xC0 | 0xC1), header.get(5)?);
    let is_jfif =
        segments.iter().any(|(marker, data)| *marker == 0xE0 && data.starts_with(b"JFIF\0"));
    let is_ycbcr = is_jfif && *components == 3;
    let scan = restart::repaired(&segments, scans)?;
    let mut normalized = vec![0xFF, 0xD8];
    for (marker, data) in segments {
        let is_needed = match marker {
            0xE0 => data.starts_with(b"JFIF\0"),
            0xE1 => data.starts_with(b"Exif\0\0"),
            0xE2 => data.starts_with(b"ICC_PROFILE\0"),
            0xEE => data.starts_with(b"Adobe") && !is_ycbcr,
            0xE3..=0xEF | 0xFE => false,
            _ => true,
        };
        if is_needed {
            normalized.extend([0xFF, marker]);
            normalized.extend((u16::try_from(data.len()).ok()? + 2).to_be_bytes());
            normalized.extend(data);
        }
    }
    let has = |marker: [u8; 2], from: &[u8]| from.windows(2).any(|two| two == marker);
    let has_end = has(EOI, &scan);
    if !has_end && (is_progressive || has(SOS, &scan[2..])) {
        return None;
    }
    normalized.extend(scan);
    Some(Normalized { file: normalized, has_end })
}

/// The segments before the first scan, and the file from there on.
fn segments(file: &[u8]) -> Option<(Vec<Segment<'_>>, &[u8])> {
    let mut rest = file.strip_prefix(b"\xFF\xD8")?;
    let mut segments = Vec::new();
    loop {
        // What stands between segments is skipped up to the next marker, as libjpeg does.
        let marker = match rest {
            [0xFF, marker, ..] if !matches!(marker, 0 | 0xFF) => *marker,
            [_, ..] => {
                rest = &rest[1..];
                continue;
            }
            [] => return None,
        };
        let after = &rest[2..];
        match marker {
            0xDA => return Some((segments, rest)),
            0xD9 => return None,
            // Markers without a segment.
            0x01 | 0xD0..=0xD8 => rest = after,
            _ => {
                let length = usize::from(u16::from_be_bytes(*after.first_chunk()?));
                segments.push((marker, after.get(2..length)?));
                rest = &after[length..];
            }
        }
    }
}

/// Whether `marker` begins a frame, whose header has the number of components.
pub(super) const fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF)
}
