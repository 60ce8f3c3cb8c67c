//! The page of a certificate: A4 landscape, PDF/A-2b (ISO 19005-2). It follows from the snapshot, the zone of its dates and the
//! URL of the front end alone, so that it has the same bytes at each download.

mod text;

use domain::{
    Instant, Line, Zone,
    certificate::{CertificateKind, Snapshot, certificate_url, printed},
    dates,
};
use krilla::{
    Document, SerializeSettings,
    color::luma,
    configure::{Archival, ConfigurationBuilder},
    geom::{PathBuilder, Point, Rect},
    metadata::{DateTime, Metadata},
    num::NormalizedF32,
    page::PageSettings,
    paint::{Fill, FillRule, Stroke},
    surface::Surface,
};
use qrcode::{Color, EcLevel, QrCode};
use runtime::Error;
use unicode_bidi::{Direction, Level, get_base_direction};

use self::text::{Fonts, Paragraph};

/// Points: 297 mm by 210 mm.
const WIDTH: f32 = 841.89;
const HEIGHT: f32 = 595.28;
/// From the edges to the text.
const MARGIN: f32 = 48.0;
/// The height of the part with signature and code, above the lower margin.
const FOOT: f32 = 128.0;
/// The space between two base lines, for a size of 1: Arabic has marks above and below.
const LEADING: f32 = 1.6;
/// From the top of a line to its base line.
const ASCENT: f32 = 1.1;
/// The largest width of the code.
const CODE: f32 = 99.0;
/// Between parts.
const GAP: f32 = 8.0;

/// A paragraph of the page.
struct Block {
    text: String,
    size: f32,
    direction: Option<Level>,
}

impl Block {
    fn french(text: impl Into<String>, size: f32) -> Self {
        Self { text: text.into(), size, direction: Some(Level::ltr()) }
    }

    fn arabic(text: impl Into<String>, size: f32) -> Self {
        Self { text: text.into(), size, direction: Some(Level::rtl()) }
    }

    /// The same in both languages.
    fn both(french: &str, arabic: &str, size: f32) -> Self {
        Self::french(format!("{french}  ·  \u{2067}{arabic}\u{2069}"), size)
    }

    /// What people wrote, in the direction of its first letter.
    fn written(text: &str, size: f32) -> Self {
        Self { text: printed(text), size, direction: None }
    }
}

/// The page of `certificate` as a PDF. `public_url` is that of the front end.
///
/// # Errors
/// When a text has a character that the fonts do not have, which no issued certificate has.
pub fn pdf(certificate: &Snapshot, zone: &Zone, public_url: &str) -> Result<Vec<u8>, Error> {
    let fonts = Fonts::new().ok_or("a font is malformed")?;
    let url = certificate_url(&certificate.code, public_url);
    let code = QrCode::with_error_correction_level(&url, EcLevel::M)?;
    let archival = ConfigurationBuilder::new().with_archival_validator(Archival::A2_B);
    let configuration = archival.finish().map_err(|error| format!("{error:?}"))?;
    let mut document =
        Document::new_with(SerializeSettings { configuration, ..SerializeSettings::default() });
    let (title, _) = titles(certificate.kind);
    document.set_metadata(
        Metadata::new()
            .title(format!("{title} – {}", printed(certificate.course_title.as_str())))
            .authors(vec![printed(certificate.committee.name_latin.as_str())])
            .language("fr".to_owned())
            .creation_date(date(zone.local(certificate.issued_at))),
    );
    let size = PageSettings::from_wh(WIDTH, HEIGHT).ok_or("the page has no size")?;
    let mut page = document.start_page_with(size);
    let mut surface = page.surface();
    draw_frame(&mut surface);
    let (width, foot) = (WIDTH - 2.0 * MARGIN, HEIGHT - MARGIN - FOOT);
    let third = width / 3.0;
    let mut draw = |blocks: Vec<Block>, [x, y, width, height]: [f32; 4]| {
        draw_column(&fonts, &mut surface, &blocks, [x, y, width, height]);
    };
    draw(body(certificate, zone), [MARGIN, MARGIN, width, foot - MARGIN - GAP]);
    draw(dates_of(certificate, zone), [MARGIN, foot, third - GAP, FOOT]);
    draw(signature(certificate), [MARGIN + third, foot, third - GAP, FOOT]);
    draw(
        address(certificate, &url),
        [MARGIN + 2.0 * third, foot + CODE + GAP, third, FOOT - CODE - GAP],
    );
    draw_code(&mut surface, &code, Point::from_xy(MARGIN + 2.5 * third, foot));
    surface.finish();
    page.finish();
    Ok(document.finish().map_err(|error| format!("{error:?}"))?)
}

/// The day of `at`, for the data of the document.
fn date(at: jiff::civil::DateTime) -> DateTime {
    let [month, day] = [at.month(), at.day()].map(|part| part.unsigned_abs());
    DateTime::new(at.year().unsigned_abs()).month(month).day(day)
}

/// The title in French and in Arabic.
const fn titles(kind: CertificateKind) -> (&'static str, &'static str) {
    match kind {
        CertificateKind::Attendance => ("Attestation de participation", "شهادة مشاركة"),
        CertificateKind::Completion => ("Attestation de réussite", "شهادة نجاح"),
    }
}

/// What is certified.
fn body(certificate: &Snapshot, zone: &Zone) -> Vec<Block> {
    let Snapshot { committee, course_title, course_sub_title, location, city, text, .. } =
        certificate;
    let (french, arabic) = titles(certificate.kind);
    let mut blocks = vec![
        Block::written(committee.name_arabe.as_str(), 15.0),
        Block::written(committee.name_latin.as_str(), 13.0),
        Block::both(french, arabic, 27.0),
        Block::both("est délivrée à", "تُسلَّم إلى", 11.0),
        name(certificate),
        Block::both("pour la formation", "عن الدورة التكوينية", 11.0),
        Block::written(course_title.as_str(), 19.0),
    ];
    blocks.extend(course_sub_title.as_ref().map(|text| Block::written(text.as_str(), 13.0)));
    let place = [location.as_ref().map(Line::as_str), city.as_ref().map(Line::as_str)];
    let place: Vec<String> = place.into_iter().flatten().map(isolated).collect();
    if !place.is_empty() {
        blocks.push(Block::french(place.join(", "), 11.0));
    }
    blocks.extend(held(certificate, zone));
    blocks.extend(followed(certificate));
    let trainers: Vec<String> =
        certificate.trainers.iter().map(|name| isolated(name.as_str())).collect();
    if !trainers.is_empty() {
        let by = "Formation assurée par · \u{2067}أمّن التكوين\u{2069}\u{a0}: ";
        blocks.push(Block::french(by.to_owned() + &trainers.join(", "), 11.0));
    }
    let lines = text.iter().flat_map(|text| text.as_str().split('\n'));
    blocks.extend(lines.map(|line| Block::written(line, 11.0)));
    blocks
}

/// The names of the person, each in its own script and direction; the line has that of the first one.
fn name(certificate: &Snapshot) -> Block {
    let names = [&certificate.name, &certificate.last_name];
    let names: Vec<&str> = names.into_iter().flatten().map(Line::as_str).collect();
    let is_rtl = names.first().is_some_and(|name| get_base_direction(*name) == Direction::Rtl);
    let text: Vec<String> = names.into_iter().map(isolated).collect();
    let direction = Some(if is_rtl { Level::rtl() } else { Level::ltr() });
    Block { text: text.join(" "), size: 27.0, direction }
}

/// When the course was held.
fn held(certificate: &Snapshot, zone: &Zone) -> Option<Block> {
    let day = |at: Instant| zone.local(at).date();
    let start = day(certificate.start_at.or(certificate.end_at)?);
    let end = day(certificate.end_at.or(certificate.start_at)?);
    let (french, arabic) = (dates::french(start), dates::arabic(start));
    Some(if start == end {
        Block::both(&format!("le {french}"), &format!("يوم {arabic}"), 11.0)
    } else {
        let french = format!("du {french} au {}", dates::french(end));
        let arabic = format!("من {arabic} إلى {}", dates::arabic(end));
        Block::both(&french, &arabic, 11.0)
    })
}

/// How many hours the person has attended.
fn followed(certificate: &Snapshot) -> Option<Block> {
    let (minutes, total) = certificate.minutes.zip(certificate.total_minutes)?;
    let french = |minutes: u32| match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes}\u{a0}min"),
        (hours, 0) => format!("{hours}\u{a0}h"),
        (hours, minutes) => format!("{hours}\u{a0}h\u{a0}{minutes:02}"),
    };
    // Each number in a direction of its own, so that it does not change places with the unit.
    let unit = |number: u32, unit: &str| format!("\u{2066}{number}\u{2069}\u{a0}{unit}");
    let arabic = |minutes: u32| match (minutes / 60, minutes % 60) {
        (0, minutes) => unit(minutes, "د"),
        (hours, 0) => unit(hours, "س"),
        (hours, minutes) => format!("{} و{}", unit(hours, "س"), unit(minutes, "د")),
    };
    let french = format!("{} sur {}", french(minutes), french(total));
    let arabic = format!("{} من {}", arabic(minutes), arabic(total));
    Some(Block::both(&french, &arabic, 13.0))
}

/// When it was issued, and until when it is valid.
fn dates_of(certificate: &Snapshot, zone: &Zone) -> Vec<Block> {
    let day = |at: Instant| zone.local(at).date();
    let issued = day(certificate.issued_at);
    let mut blocks = vec![
        Block::french(format!("Délivrée le {}", dates::french(issued)), 11.0),
        Block::arabic(format!("سُلِّمت يوم {}", dates::arabic(issued)), 11.0),
    ];
    if let Some(end) = certificate.expires_at.map(day) {
        blocks.push(Block::french(format!("Valable jusqu’au {}", dates::french(end)), 11.0));
        blocks.push(Block::arabic(format!("صالحة إلى غاية {}", dates::arabic(end)), 11.0));
    }
    blocks
}

/// Who signs, above the space for it.
fn signature(certificate: &Snapshot) -> Vec<Block> {
    let Snapshot { signed_by, signed_as, .. } = certificate;
    let mut blocks = Vec::new();
    blocks.extend(signed_by.as_ref().map(|name| Block::written(name.as_str(), 13.0)));
    blocks.extend(signed_as.as_ref().map(|text| Block::written(text.as_str(), 11.0)));
    blocks.push(Block::both("Signature et cachet", "الإمضاء والختم", 8.0));
    blocks
}

/// Where the certificate can be verified.
fn address(certificate: &Snapshot, url: &str) -> Vec<Block> {
    vec![Block::french(certificate.code.grouped(), 10.0), Block::french(url, 7.0)]
}

/// `text`, which people wrote, in the direction of its first letter, whatever is around it
/// (<https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates>).
fn isolated(text: &str) -> String {
    format!("\u{2068}{}\u{2069}", printed(text))
}

/// Draws `blocks` one below the other, in the middle of the rectangle at `x` and `y`: smaller if they would be higher than it.
fn draw_column(
    fonts: &Fonts,
    surface: &mut Surface<'_>,
    blocks: &[Block],
    [x, y, width, height]: [f32; 4],
) {
    let paragraphs: Vec<(&Block, Paragraph<'_>)> =
        blocks.iter().map(|block| (block, fonts.paragraph(&block.text, block.direction))).collect();
    let lines = |(block, paragraph): &(&Block, Paragraph<'_>), step: i32| {
        fonts.lines(paragraph, block.size * 0.95_f32.powi(step), width)
    };
    let height_at = |step| {
        let heights = paragraphs.iter().map(|paragraph| {
            let (size, lines) = lines(paragraph, step);
            size * LEADING * lines.len() as f32
        });
        heights.sum::<f32>()
    };
    // The longest texts that are possible need the last one.
    let steps: Vec<i32> = (0..60).collect();
    let first_fitting = steps.partition_point(|step| height_at(*step) > height);
    let step = steps.get(first_fitting).or(steps.last()).copied().unwrap_or_default();
    let mut top = y + (height - height_at(step)).max(0.0) / 2.0;
    for paragraph in &paragraphs {
        let (size, lines) = lines(paragraph, step);
        for line in lines.into_iter().map(|range| fonts.line(&paragraph.1, range)) {
            let start = x + (width - line.width * size) / 2.0;
            line.draw(surface, Point::from_xy(start, top + size * ASCENT), size);
            top += size * LEADING;
        }
    }
}

fn draw_frame(surface: &mut Surface<'_>) {
    for (inset, width) in [(24.0, 1.5), (29.0, 0.5)] {
        let mut path = PathBuilder::new();
        let size = (WIDTH - 2.0 * inset, HEIGHT - 2.0 * inset);
        let Some(frame) = Rect::from_xywh(inset, inset, size.0, size.1) else { return };
        path.push_rect(frame);
        let stroke = Stroke { paint: luma::Color::new(90).into(), width, ..Stroke::default() };
        surface.set_fill(None);
        surface.set_stroke(Some(stroke));
        path.finish().iter().for_each(|path| surface.draw_path(path));
    }
    surface.set_stroke(None);
    surface.set_fill(Some(black()));
}

fn black() -> Fill {
    let paint = luma::Color::black().into();
    Fill { paint, opacity: NormalizedF32::ONE, rule: FillRule::NonZero }
}

/// Draws `code` below `top`, the middle of its upper edge, with modules of whole points if there is room.
fn draw_code(surface: &mut Surface<'_>, code: &QrCode, top: Point) {
    let modules = code.width();
    let fitting = CODE / modules as f32;
    let size = if fitting >= 1.0 { fitting.floor() } else { fitting };
    let left = (top.x - size * modules as f32 / 2.0).floor();
    let mut path = PathBuilder::new();
    for (place, color) in code.to_colors().into_iter().enumerate() {
        let (column, row) = ((place % modules) as f32, (place / modules) as f32);
        let module = Rect::from_xywh(left + column * size, top.y + row * size, size, size);
        module
            .filter(|_| color == Color::Dark)
            .into_iter()
            .for_each(|module| path.push_rect(module));
    }
    path.finish().iter().for_each(|path| surface.draw_path(path));
}
