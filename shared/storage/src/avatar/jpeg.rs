//! JPEG. What a file costs depends on how its scans are laid out, so its segments are read before the
//! decoder reads them, and it is given those alone that make the picture. The decoder below `image` is
//! asked, and strictly, for `image` fills with grey what a broken file lacks.
//!
//! Source: ITU-T T.81, annex B.

use image::{DynamicImage, RgbImage, metadata::Orientation};
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, options::DecoderOptions},
};

use super::fits;

/// A progressive JPEG has at most this many scans: ten are usual, and each passes over the whole picture.
const SCANS: usize = 32;

/// Starts of a frame, from baseline to progressive.
const SOF0: u8 = 0xC0;
const SOF2: u8 = 0xC2;
/// Huffman tables.
const DHT: u8 = 0xC4;
/// The first and the last restart.
const RST0: u8 = 0xD0;
const RST7: u8 = 0xD7;
/// End of the image.
const EOI: u8 = 0xD9;
/// Start of a scan.
const SOS: u8 = 0xDA;
/// Quantization tables.
const DQT: u8 = 0xDB;
/// The restart interval.
const DRI: u8 = 0xDD;
/// Segments of applications: Exif's and Adobe's.
const APP1: u8 = 0xE1;
const APP14: u8 = 0xEE;

/// The picture as it is stored, and how it is to be turned.
pub(super) fn decode(file: &[u8]) -> Option<(DynamicImage, Orientation)> {
    let (mut orientation, mut frame, mut scanned) = (Orientation::NoTransforms, None::<Frame>, 0);
    let (start, mut rest) = file.split_at_checked(2)?;
    let mut plain = start.to_vec();
    loop {
        let (coded, segment, after) = split_segment(rest)?;
        if scanned > 0 {
            plain.extend_from_slice(coded);
        } else if coded.iter().any(|byte| *byte != 0xFF) {
            return None;
        }
        let marker = segment[1];
        if marker == EOI {
            plain.extend_from_slice(segment);
            break;
        }
        let parameters = segment.get(4..)?;
        let needed = match marker {
            SOF0..=SOF2 => {
                frame = Some(Frame::new(marker == SOF2, parameters)?);
                true
            }
            SOS => {
                let components = usize::from(*parameters.first()?);
                frame.as_ref()?.fits(components)?;
                scanned += components;
                true
            }
            DHT | DQT | DRI => true,
            // Adobe's tells which colours the components are.
            APP14 => parameters.starts_with(b"Adobe") && parameters.len() >= 12,
            APP1 => {
                let exif = parameters.strip_prefix(b"Exif\0\0");
                orientation = exif
                    .and_then(Orientation::from_exif_chunk)
                    .unwrap_or(orientation);
                false
            }
            _ => false,
        };
        if needed {
            plain.extend_from_slice(segment);
        }
        rest = after;
    }
    let frame = frame?;
    // In a sequential JPEG each component is scanned once; the decoder would give less as a picture.
    if !frame.progressive && scanned != frame.components {
        return None;
    }
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .jpeg_set_max_scans(SCANS);
    let pixels = JpegDecoder::new_with_options(ZCursor::new(plain.as_slice()), options)
        .decode()
        .ok()?;
    Some((
        RgbImage::from_raw(frame.width, frame.height, pixels)?.into(),
        orientation,
    ))
}

/// Gives what comes before a marker, its segment, and what comes after.
fn split_segment(file: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    // Entropy-coded data runs up to a marker, which a stuffed zero, a restart and a fill byte are not.
    let end = file
        .windows(2)
        .position(|two| two[0] == 0xFF && !matches!(two[1], 0 | RST0..=RST7 | 0xFF))?;
    let (coded, rest) = file.split_at(end);
    let length = if rest[1] == EOI {
        0
    } else {
        u16::from_be_bytes(*rest[2..].first_chunk()?)
    };
    let (segment, after) = rest.split_at_checked(2 + usize::from(length))?;
    Some((coded, segment, after))
}

/// What a frame header tells.
struct Frame {
    progressive: bool,
    width: u32,
    height: u32,
    /// How many components there are.
    components: usize,
    /// What all coefficients take, two bytes each.
    coefficients: u64,
}

impl Frame {
    fn new(progressive: bool, parameters: &[u8]) -> Option<Self> {
        let [_precision, y0, y1, x0, x1, count, components @ ..] = parameters else {
            return None;
        };
        let (width, height) = (
            u16::from_be_bytes([*x0, *x1]),
            u16::from_be_bytes([*y0, *y1]),
        );
        // The sampling factors of each component are the second of its three bytes.
        let factors = components
            .iter()
            .skip(1)
            .step_by(3)
            .map(|byte| (u64::from(byte >> 4), u64::from(byte & 15)));
        let horizontal = factors
            .clone()
            .map(|(horizontal, _)| horizontal)
            .max()?
            .max(1);
        let vertical = factors.clone().map(|(_, vertical)| vertical).max()?.max(1);
        let samples = factors
            .map(|(horizontal, vertical)| horizontal * vertical)
            .sum::<u64>();
        let coefficients =
            2 * u64::from(width) * u64::from(height) * samples / (horizontal * vertical);
        Some(Self {
            progressive,
            width: width.into(),
            height: height.into(),
            components: usize::from(*count),
            coefficients,
        })
    }

    /// Something when a scan of so many components may be decoded. Unless a sequential picture has them all
    /// in one, the decoder keeps all coefficients until it has read them.
    fn fits(&self, components: usize) -> Option<()> {
        let decoded = 3 * u64::from(self.width) * u64::from(self.height);
        let kept = if self.progressive || components != self.components {
            self.coefficients
        } else {
            0
        };
        fits(self.width, self.height, decoded, decoded + kept)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use image::ImageFormat;

    use crate::avatar::{
        NotAnImage, clean,
        tests::{cleaned, encoded, exif, holds, slope},
    };

    pub(crate) fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
        [
            &[0xFF, marker][..],
            &(data.len() as u16 + 2).to_be_bytes(),
            data,
        ]
        .concat()
    }

    /// The same file with segments right after its first two bytes.
    pub(crate) fn with_segments(jpeg: &[u8], segments: &[u8]) -> Vec<u8> {
        [&jpeg[..2], segments, &jpeg[2..]].concat()
    }

    /// A grey JPEG whose codes are one zero bit for "no change" and one for "no more", so that a block is
    /// one bit in a progressive file and two in a sequential one. "123" is one scan
    /// of three components, "1,2,3" are three scans.
    pub(crate) fn jpeg_of(side: u16, components: u8, progressive: bool, scans: &str) -> Vec<u8> {
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
            file.extend(vec![
                0;
                (blocks * if progressive { 1 } else { 2 }).div_ceil(8)
            ]);
        }
        file.extend([0xFF, 0xD9]);
        file
    }

    #[test]
    fn a_jpeg_that_lacks_a_part_of_its_picture_is_refused() {
        assert!(clean(&jpeg_of(64, 3, false, "123")).is_ok());
        assert!(clean(&jpeg_of(64, 3, false, "1,2,3")).is_ok());
        for scans in ["", "1", "1,2", "12", "123,123", "1,2,3,1"] {
            assert_eq!(
                clean(&jpeg_of(64, 3, false, scans)),
                Err(NotAnImage),
                "{scans:?}"
            );
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
    fn a_jpeg_that_would_take_three_times_its_pixels_is_refused() {
        // Of 5,000 by 5,000, coefficients are 150 MB and pixels 75 MB.
        assert_eq!(clean(&jpeg_of(5_000, 3, true, "123")), Err(NotAnImage));
        assert_eq!(clean(&jpeg_of(5_000, 3, false, "1,2,3")), Err(NotAnImage));
    }

    #[test]
    fn no_metadata_of_a_jpeg_survives() {
        let plain = encoded(slope(40, 30), ImageFormat::Jpeg);
        let extras = [
            segment(0xFE, b"secret"),
            segment(0xE1, &[b"Exif\0\0", &exif(1)[..], b"secret GPS"].concat()),
            segment(
                0xE1,
                b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>secret</x:xmpmeta>",
            ),
            segment(0xE2, b"ICC_PROFILE\0\x01\x01secret"),
            segment(0xED, b"Photoshop 3.0\0secret"),
        ]
        .concat();
        let (_, avatar) = cleaned(&with_segments(&plain, &extras));
        assert_eq!(Ok(&avatar), clean(&plain).as_ref());
        assert!(
            !holds(&avatar.bytes, b"secret")
                && !holds(&avatar.bytes, b"Exif")
                && !holds(&avatar.bytes, b"ICC")
        );
    }
}
