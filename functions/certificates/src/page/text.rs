//! Text as it is drawn: broken into lines, in the order of its directions, as glyphs of the first font that has them.

use std::ops::Range;

use krilla::{
    geom::Point,
    surface::Surface,
    text::{Font, GlyphId, KrillaGlyph},
};
use rustybuzz::{Direction, Face, UnicodeBuffer};
use unicode_bidi::{BidiInfo, Level};

/// How much smaller than its size a line may be drawn before it is broken.
const SMALLEST: f32 = 0.6;

/// The fonts, in the order in which they are tried.
pub(super) struct Fonts {
    fonts: Vec<(Face<'static>, Font)>,
    /// The width of a space.
    space: f32,
}

/// A paragraph, which takes one line or more.
pub(super) struct Paragraph<'a> {
    text: &'a str,
    bidi: BidiInfo<'a>,
    /// The places of its words with the spaces after them, and their widths without and with these.
    words: Vec<(Range<usize>, [f32; 2])>,
}

/// A line as it is drawn. Widths are of a size of 1.
pub(super) struct Line {
    pub(super) width: f32,
    segments: Vec<Segment>,
}

/// A text in one direction and one font.
struct Segment {
    font: Font,
    text: String,
    glyphs: Vec<KrillaGlyph>,
}

impl Fonts {
    /// `None` if a font is malformed.
    pub(super) fn new() -> Option<Self> {
        let fonts: [&'static [u8]; 2] = [
            include_bytes!("../../fonts/Amiri.ttf"),
            include_bytes!("../../fonts/NotoSansTifinagh.ttf"),
        ];
        let font =
            |bytes: &'static [u8]| Some((Face::from_slice(bytes, 0)?, Font::new(bytes.into(), 0)?));
        let fonts = fonts.into_iter().map(font).collect::<Option<Vec<_>>>()?;
        let space = shaped(&fonts.first()?.0, " ", false);
        Some(Self { space: space.iter().map(|glyph| glyph.x_advance).sum(), fonts })
    }

    /// The paragraph `text`, which has no line break, in the direction `level`, or else that of its first letter with one.
    pub(super) fn paragraph<'a>(&self, text: &'a str, level: Option<Level>) -> Paragraph<'a> {
        let mut paragraph = Paragraph { text, bidi: BidiInfo::new(text, level), words: Vec::new() };
        let mut start = 0;
        while start < text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let word = rest.find(' ').unwrap_or(rest.len());
            let gap = rest.get(word..).unwrap_or_default();
            let end = start + word + (gap.len() - gap.trim_start_matches(' ').len());
            let narrow = self.line(&paragraph, start..start + word).width;
            let wide = narrow + self.space * (end - start - word) as f32;
            let widths = [narrow, wide];
            paragraph.words.push((start..end, widths));
            start = end;
        }
        paragraph
    }

    /// The places of the lines of `paragraph`, at most `width` wide, and their size: up to `size`, as much smaller as one line
    /// needs, but not below [`SMALLEST`].
    pub(super) fn lines(
        &self,
        paragraph: &Paragraph<'_>,
        size: f32,
        width: f32,
    ) -> (f32, Vec<Range<usize>>) {
        let whole: f32 = paragraph.words.iter().map(|(_, [_, wide])| wide).sum();
        if whole * size * SMALLEST <= width {
            let whole_text = 0..paragraph.text.len();
            return (size.min(width / whole.max(f32::EPSILON)), vec![whole_text]);
        }
        let size = size * SMALLEST;
        (size, self.broken(paragraph, width / size))
    }

    /// The ranges of the lines of `paragraph` that are at most `width` wide. A word that is longer is broken, too.
    fn broken(&self, paragraph: &Paragraph<'_>, width: f32) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let (mut line, mut taken) = (0..0, 0.0);
        for (range, [narrow, wide]) in &paragraph.words {
            if taken + narrow > width && taken > 0.0 {
                lines.push(std::mem::replace(&mut line, range.start..range.start));
                taken = 0.0;
            }
            if *narrow > width {
                let mut parts = self.broken_word(paragraph, range, width);
                line = parts.pop().unwrap_or_else(|| range.clone());
                lines.append(&mut parts);
                taken = self.line(paragraph, line.clone()).width;
            } else {
                line.end = range.end;
                taken += wide;
            }
        }
        lines.push(line);
        lines
    }

    fn broken_word(
        &self,
        paragraph: &Paragraph<'_>,
        word: &Range<usize>,
        width: f32,
    ) -> Vec<Range<usize>> {
        let text = paragraph.text.get(word.clone()).unwrap_or_default();
        let (mut parts, mut start) = (Vec::new(), word.start);
        for (place, letter) in text.char_indices() {
            let (place, end) = (word.start + place, word.start + place + letter.len_utf8());
            if place > start && self.line(paragraph, start..end).width > width {
                parts.push(start..place);
                start = place;
            }
        }
        parts.push(start..word.end);
        parts
    }

    /// The part of `paragraph` at `range` as one line.
    pub(super) fn line(&self, paragraph: &Paragraph<'_>, range: Range<usize>) -> Line {
        let text = paragraph.text.get(range.clone()).unwrap_or_default();
        let range = range.start..range.start + text.trim_end_matches(' ').len();
        let mut line = Line { width: 0.0, segments: Vec::new() };
        let Some(whole) = paragraph.bidi.paragraphs.first().filter(|_| !range.is_empty()) else {
            return line;
        };
        let (levels, runs) = paragraph.bidi.visual_runs(whole, range);
        for run in runs {
            let is_rtl = levels.get(run.start).is_some_and(Level::is_rtl);
            let text = paragraph.text.get(run).unwrap_or_default();
            let mut segments = self.segments(text, is_rtl);
            if is_rtl {
                segments.reverse();
            }
            line.segments.append(&mut segments);
        }
        let glyphs = line.segments.iter().flat_map(|segment| &segment.glyphs);
        line.width = glyphs.map(|glyph| glyph.x_advance).sum();
        line
    }

    /// The segments of `text`, which has one direction, in their order in the text. The fonts have no glyphs for isolates.
    fn segments(&self, text: &str, is_rtl: bool) -> Vec<Segment> {
        let mut parts: Vec<(usize, String)> = Vec::new();
        for letter in text.chars().filter(|letter| !ISOLATES.contains(letter)) {
            let has = |font: &usize| {
                self.fonts.get(*font).is_some_and(|(face, _)| face.glyph_index(letter).is_some())
            };
            // A space stays in the font of the word before it.
            let font = match parts.last() {
                Some((font, _)) if has(font) => *font,
                _ => (0..self.fonts.len()).find(has).unwrap_or_default(),
            };
            match parts.last_mut() {
                Some((last, part)) if *last == font => part.push(letter),
                _ => parts.push((font, letter.to_string())),
            }
        }
        let segment = |(font, text): (usize, String)| {
            let (face, font) = self.fonts.get(font)?;
            Some(Segment { font: font.clone(), glyphs: shaped(face, &text, is_rtl), text })
        };
        parts.into_iter().filter_map(segment).collect()
    }
}

const ISOLATES: [char; 4] = ['\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'];

/// The glyphs of `text`, from left to right.
fn shaped(face: &Face<'_>, text: &str, is_rtl: bool) -> Vec<KrillaGlyph> {
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(text);
    buffer.guess_segment_properties();
    buffer.set_direction(if is_rtl { Direction::RightToLeft } else { Direction::LeftToRight });
    let shaped = rustybuzz::shape(face, &[], buffer);
    let mut starts: Vec<usize> =
        shaped.glyph_infos().iter().map(|glyph| glyph.cluster as usize).collect();
    starts.push(text.len());
    starts.sort_unstable();
    starts.dedup();
    // The letters of a glyph end where those of the next one in the text begin.
    let end = |start: usize| starts.iter().copied().find(|next| *next > start);
    let units = face.units_per_em() as f32;
    let glyphs = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
    glyphs
        .map(|(glyph, at)| {
            let start = glyph.cluster as usize;
            let range = start..end(start).unwrap_or(text.len());
            let [x, y, right, up] =
                [at.x_advance, at.y_advance, at.x_offset, at.y_offset].map(|n| n as f32 / units);
            KrillaGlyph::new(GlyphId::new(glyph.glyph_id), x, right, up, y, range, None)
        })
        .collect()
}

impl Line {
    /// Draws the line in `size`, beginning at `start`, which is on its base line.
    pub(super) fn draw(&self, surface: &mut Surface<'_>, start: Point, size: f32) {
        let mut x = start.x;
        for Segment { font, text, glyphs } in &self.segments {
            let start = Point::from_xy(x, start.y);
            surface.draw_glyphs(start, glyphs, font.clone(), text, size, false);
            x += glyphs.iter().map(|glyph| glyph.x_advance * size).sum::<f32>();
        }
    }
}
