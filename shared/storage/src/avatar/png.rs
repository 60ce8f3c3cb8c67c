//! The colours of a PNG without an ICC profile.

use std::{io::Cursor, ops::RangeInclusive};

use moxcms::{Chromaticity, ColorPrimaries, ColorProfile, ToneReprCurve};
use png::{Decoder, Limits, ScaledFloat};

/// A `gAMA` that is sRGB to browsers if there is no `cHRM`: within a twentieth of 1 / 2.2.
const SRGB_GAMMA: RangeInclusive<u32> = 43_183..=47_727;

/// The ICC profile of the colours that `gAMA`, and `cHRM` if it is there, give to the PNG `file`
/// (<https://www.w3.org/TR/png-3/#11gAMA>). `None` if they are those of sRGB: without `gAMA`, with `sRGB`, or unreadable.
/// Reading takes at most `max_bytes` of memory.
pub(super) fn described_profile(file: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    let reader = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: max_bytes });
    let reader = reader.read_info().ok()?;
    let info = reader.info();
    let gamma = info.gama_chunk.filter(|_| info.srgb.is_none())?.into_scaled();
    if info.chrm_chunk.is_none() && SRGB_GAMMA.contains(&gamma) {
        return None;
    }
    let curve = Some(ToneReprCurve::Parametric(vec![100_000.0 / gamma as f32]));
    let mut profile = ColorProfile::new_srgb();
    profile.cicp = None;
    profile.red_trc.clone_from(&curve);
    profile.green_trc.clone_from(&curve);
    profile.blue_trc = curve;
    if let Some(colours) = info.chrm_chunk {
        let [white, red, green, blue] =
            [colours.white, colours.red, colours.green, colours.blue].map(chromaticity);
        let primaries = ColorPrimaries { red, green, blue };
        profile.update_rgb_colorimetry(white.to_xyyb(), primaries);
    }
    profile.encode().ok()
}

fn chromaticity((x, y): (ScaledFloat, ScaledFloat)) -> Chromaticity {
    Chromaticity::new(x.into_value(), y.into_value())
}
