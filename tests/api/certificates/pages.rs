//! The pages of certificates: what they look like, and what a reader finds in them.

use std::fs;

use certificates::page;
use domain::{
    Zone,
    certificate::{PRINTABLE, Snapshot},
};
use hayro::{
    PixmapSettings, RenderCache, RenderSettings,
    hayro_interpret::{
        BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
        InterpreterSettings, SoftMask, TransformExt,
        font::GlyphRun,
        hayro_cmap::BfString,
        hayro_syntax::{Pdf, page::Page},
        interpret_page,
    },
    kurbo::{BezPath, Rect},
    vello_cpu::color::palette::css::WHITE,
};
use image::GrayImage;
use serde_json::{Value, json};

use super::Over;

/// The pictures, which the README of the function shows.
const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../functions/certificates/pages");
const URL: &str = "https://halqa.example.org";
const CODE: &str = "H7K29QRT5MXC4V8N";

fn snapshot(changes: Value) -> Snapshot {
    let mut snapshot = json!({
        "code": CODE, "kind": "ATTENDANCE", "name": "Amina", "lastName": "Ben Salah",
        "courseTitle": "Premiers secours : les gestes qui sauvent",
        "courseSubTitle": "Niveau 1, théorie et pratique",
        "committee": { "nameArabe": "الهيئة الجهوية بصفاقس", "nameLatin": "Comité régional de Sfax" },
        "location": "Maison des jeunes, route de Tunis", "city": "Sfax",
        "startAt": "2026-12-03T08:00:00.000Z", "endAt": "2026-12-04T16:00:00.000Z",
        "minutes": 210, "totalMinutes": 240, "trainers": ["Nizar Gharsalli", "سلمى الخليفي"],
        "text": "Cette formation suit le référentiel national.\nElle donne droit au niveau 2.",
        "signedBy": "Salma Khelifi", "signedAs": "Présidente du comité",
        "issuedAt": "2026-12-05T09:00:00.000Z", "expiresAt": "2028-12-05T09:00:00.000Z",
    });
    for (field, value) in changes.as_object().unwrap() {
        snapshot[field] = value.clone();
    }
    serde_json::from_value(snapshot).unwrap()
}

/// A name of a hundred letters.
const LONG: &str = "Abdelmajid-Tahar Mohamed El Hédi Ben Abdallah Ben Abderrahmane El Fehri El Kairouani de la Manouba X";

/// The pictures by their names, each with the names of the person.
fn samples() -> [(&'static str, Snapshot); 6] {
    let arabic = json!({
        "name": "محمد علي", "lastName": "بن صالح", "kind": "COMPLETION",
        "courseTitle": "الإسعافات الأولية (المستوى 1) لسنة 2026", "courseSubTitle": null,
        "text": null, "signedBy": "سلمى الخليفي", "signedAs": "رئيسة الهيئة", "expiresAt": null,
    });
    let hours = json!({
        "name": "نزار", "lastName": "القرصلي", "minutes": 690, "totalMinutes": 845,
        "text": "أنهى 12 ساعة من التكوين (المرحلة 2 من 3)، بنسبة 95 %.",
    });
    [
        ("french", snapshot(json!({}))),
        ("arabic", snapshot(arabic)),
        ("tifinagh", snapshot(json!({ "name": "ⵢⵓⴱⴰ ⵏ ⵜⵓⵏⵙ", "lastName": "ⴰⵎⴰⵣⵉⵖ" }))),
        ("mixed", snapshot(json!({ "name": "محمد", "lastName": "Ḥasan ʿAbd al-Raḥmān (fils)" }))),
        ("long", snapshot(json!({ "name": LONG, "lastName": LONG }))),
        ("hours", snapshot(hours)),
    ]
}

fn zone() -> Zone {
    "Africa/Tunis".parse().unwrap()
}

fn pdf(snapshot: &Snapshot) -> Vec<u8> {
    page::pdf(snapshot, &zone(), URL).unwrap()
}

/// The only page of `pdf` at 72 dots an inch.
fn picture(pdf: Vec<u8>) -> GrayImage {
    let pdf = Pdf::new(pdf).unwrap();
    let pages = pdf.pages();
    assert_eq!(pages.len(), 1);
    let settings = PixmapSettings { bg_color: WHITE, ..PixmapSettings::default() };
    let (interpreter, render) = (InterpreterSettings::default(), RenderSettings::default());
    let pixmap = hayro::render(&pages[0], &RenderCache::new(), &interpreter, &render, &settings);
    let (width, height) = (pixmap.width().into(), pixmap.height().into());
    let red = pixmap.data_as_u8_slice().chunks_exact(4).map(|pixel| pixel[0]).collect();
    GrayImage::from_raw(width, height, red).unwrap()
}

/// With the environment variable `UPDATE` it writes the pictures instead, as `cargo dev update` does.
#[expect(clippy::disallowed_methods, reason = "says that the pictures are to be written")]
#[test]
fn pages_match_their_pictures() {
    for (name, snapshot) in samples() {
        let path = format!("{PICTURES}/{name}.png");
        let picture = picture(pdf(&snapshot));
        let kept = fs::read(&path).ok().map(|file| image::load_from_memory(&file).unwrap());
        let kept = kept.map(|kept| kept.into_luma8());
        let differ = kept.as_ref().is_none_or(|kept| {
            assert_eq!(kept.dimensions(), picture.dimensions(), "{name}");
            let pairs = kept.as_raw().iter().zip(picture.as_raw());
            let different = pairs.filter(|(one, other)| one.abs_diff(**other) > 64).count();
            // One in two thousand: renderers of another release smooth edges in another way.
            different * 2000 > kept.as_raw().len()
        });
        if differ && std::env::var_os("UPDATE").is_some() {
            picture.save(&path).unwrap();
        } else {
            assert!(!differ, "{name} differs: `cargo dev update` writes it");
        }
    }
}

/// The letters of each glyph of a page, in the order in which they are drawn.
#[derive(Default)]
struct Letters(Vec<String>);

impl Device<'_> for Letters {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, _: DrawProps<'_>, _: &DrawMode) {
        let letters = run.glyphs().iter().filter_map(|positioned| positioned.as_unicode());
        self.0.extend(letters.map(|letters| match letters {
            BfString::Char(letter) => letter.to_string(),
            BfString::String(letters) => letters,
        }));
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// The text of `pdf` as it is drawn from left to right, and from right to left.
fn texts(pdf: Vec<u8>) -> [String; 2] {
    let pdf = Pdf::new(pdf).unwrap();
    let page: &Page<'_> = &pdf.pages()[0];
    let cache = Default::default();
    let area = Rect::new(0.0, 0.0, 1000.0, 1000.0);
    let transform = page.initial_transform(true).to_kurbo();
    let settings = InterpreterSettings::default();
    let mut context = Context::new(transform, area, &cache, page.xref(), settings);
    let mut letters = Letters::default();
    interpret_page(page, &mut context, &mut letters);
    let reversed: Vec<String> = letters.0.iter().rev().cloned().collect();
    [letters.0.concat(), reversed.concat()]
}

#[test]
fn text_of_a_page_has_the_names_and_the_hours() {
    for (sample, snapshot) in samples() {
        let [forward, backward] = texts(pdf(&snapshot));
        for name in [&snapshot.name, &snapshot.last_name].into_iter().flatten() {
            // A long one is broken into lines, which have no space at their ends.
            let without_spaces = |text: &str| text.replace(' ', "");
            let name = without_spaces(name.as_str());
            let brackets = |text: &str| text.replace(['(', ')'], "");
            let found = [&forward, &backward]
                .map(|text| brackets(&without_spaces(text)).contains(&brackets(&name)));
            assert!(found[0] || found[1], "{sample}: {name}: {forward}");
        }
        assert!(forward.contains("H7K2-9QRT-5MXC-4V8N"), "{forward}");
    }
    let [forward, _] = texts(pdf(&snapshot(json!({}))));
    assert!(forward.contains("3 h 30 sur 4 h"), "{forward}");
    assert!(forward.contains("du 3 décembre 2026 au 4 décembre 2026"), "{forward}");
}

#[test]
fn code_of_a_page_leads_to_its_address() {
    for (name, snapshot) in samples() {
        let picture = picture(pdf(&snapshot));
        let size = [picture.width(), picture.height()].map(|side| side as usize);
        let gray = |x: usize, y: usize| picture.get_pixel(x as u32, y as u32).0[0];
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(size[0], size[1], gray);
        let codes = image.detect_grids();
        let (_, link) = codes[0].decode().unwrap();
        assert_eq!(link, format!("{URL}/certificates/{CODE}"), "{name}");
    }
}

#[test]
fn page_of_the_longest_texts_is_one_page_with_all_of_them() {
    let trainers: Vec<String> =
        (0..300).map(|number| format!("Formateur {number} {}", &"Ben Ali ".repeat(10))).collect();
    let longest = snapshot(json!({
        "trainers": trainers, "text": "ب".repeat(250) + &"W".repeat(250), "signedBy": "W".repeat(100),
        "signedAs": "W ".repeat(50), "courseTitle": "W".repeat(200), "courseSubTitle": "W".repeat(300),
        "location": "W".repeat(300), "city": "W".repeat(100), "name": "W".repeat(100),
    }));
    let page = pdf(&longest);
    let [forward, _] = texts(page.clone());
    assert!(forward.contains("Formateur 299"), "{forward}");
    assert_eq!(forward.matches('W').count(), 100 + 50 + 200 + 300 + 300 + 100 + 100 + 250);
    // Nothing is drawn outside of the frame.
    let picture = picture(page);
    let (width, height) = picture.dimensions();
    let is_outside = |x, y| x < 22 || y < 22 || x + 22 > width || y + 22 > height;
    let drawn = picture.enumerate_pixels().filter(|(x, y, _)| is_outside(*x, *y));
    assert!(drawn.into_iter().all(|(_, _, pixel)| pixel.0[0] > 250));
}

#[test]
fn every_printable_character_has_a_glyph() {
    // A character without one is an error of PDF/A. Marks are printed on a letter.
    let letters: Vec<char> = PRINTABLE.chars().filter(|letter| !letter.is_whitespace()).collect();
    for some in letters.chunks(100) {
        let text: Vec<String> = some.iter().map(|letter| format!("a{letter}")).collect();
        page::pdf(&snapshot(json!({ "text": text.join(" ") })), &zone(), URL).unwrap();
    }
    assert!(page::pdf(&snapshot(json!({ "name": "山" })), &zone(), URL).is_err());
}

#[tokio::test]
async fn download_has_the_same_bytes_each_time() {
    let over = Over::with(1).await;
    let code = over.code(0).await;
    let anonymous = over.course.world.anonymous();
    let path = format!("/certificates/{code}/pdf");
    let first = anonymous.get(&path).await;
    assert_eq!(first.header("content-type"), "application/pdf");
    assert_eq!(first.header("cache-control"), "no-cache");
    let groups: Vec<&str> = [0, 4, 8, 12].map(|at| &code[at..at + 4]).into();
    let name = format!("inline; filename=\"attestation-{}.pdf\"", groups.join("-"));
    assert_eq!(first.header("content-disposition"), name);
    let other = over.course.world.another_process().anonymous().get(&path).await;
    assert_eq!(first.body, other.body);
    assert!(first.body.starts_with(b"%PDF-1.7") && first.body.len() < 100_000);
}
