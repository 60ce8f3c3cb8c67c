use std::io::Cursor;

use image::{DynamicImage, ImageBuffer, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

use super::{Avatar, Format, ImageError, clean};

/// Small files of the fuzzing corpus.
macro_rules! corpus {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/fuzz/corpus/avatar/", $name)).as_slice()
    };
}

pub(super) fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.into().write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// Red rises from left to right, green from top to bottom.
pub(super) fn gradient(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 60])
    })
}

pub(super) fn cleaned(file: &[u8]) -> (RgbaImage, Avatar) {
    let avatar = clean(file).unwrap();
    let decoded = image::load_from_memory(&avatar.bytes).unwrap();
    (decoded.into_rgba8(), avatar)
}

fn near(picture: &RgbaImage, (x, y): (u32, u32), expected: [u8; 4]) -> bool {
    let Rgba(actual) = picture.get_pixel(x, y);
    let mut channels = actual.iter().zip(expected);
    channels.all(|(actual, expected)| actual.abs_diff(expected) <= 8)
}

#[test]
fn clean_other_formats_rejected() {
    let (png, jpeg) = (corpus!("rgb.png"), corpus!("grey.jpg"));
    let files: [&[u8]; 10] = [
            b"",
            b"\x89",
            &[0; 4096],
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
            b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;",
            b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0",
            &[&png[..8], jpeg].concat(),
            &[&jpeg[..2], png].concat(),
            &[b" ", png].concat(),
            corpus!("lossless.webp"),
        ];
    for file in files {
        assert_eq!(clean(file), Err(ImageError), "{}", file.escape_ascii());
    }
}

#[test]
fn clean_truncated_files_rejected() {
    for file in [
        corpus!("rgba.png"),
        corpus!("progressive.jpg"),
        &encoded(gradient(20, 12), ImageFormat::Jpeg),
        corpus!("lossy.webp"),
        corpus!("alpha.webp"),
    ] {
        assert!(clean(file).is_ok());
        for length in 0..file.len() {
            assert_eq!(clean(&file[..length]), Err(ImageError), "{length}");
        }
    }
}

#[test]
fn clean_declared_size_over_limit_rejected() {
    let jpeg = encoded(gradient(20, 12), ImageFormat::Jpeg);
    let (lossy, alpha) = (corpus!("lossy.webp"), corpus!("alpha.webp"));
    let frame = jpeg.windows(2).position(|two| two == [0xFF, 0xC0]).unwrap();
    // A file, an offset, and the bytes written there.
    for (file, at, size) in [
        (jpeg.as_slice(), frame + 5, [0x40, 1, 0, 1]),
        (&jpeg, frame + 5, [0, 1, 0x40, 1]),
        (&jpeg, frame + 5, [0x0F, 0xA0, 0x0F, 0xA1]),
        (lossy, 26, [0xA0, 0x0F, 0xA1, 0x0F]),
        // The frame is larger than the picture; the transparency is too long.
        (alpha, 62, [0xFF, 0x3F, 8, 0]),
        (alpha, 34, [0, 0x80, 0, 0]),
    ] {
        let mut file = file.to_vec();
        file[at..at + 4].copy_from_slice(&size);
        assert_eq!(clean(&file), Err(ImageError), "{size:?}");
    }
    let deep = |side| encoded(ImageBuffer::<Rgba<u16>, _>::new(side, side), ImageFormat::Png);
    assert!(clean(&deep(3_535)).is_ok());
    assert_eq!(clean(&deep(3_536)), Err(ImageError));
}

#[test]
fn clean_each_format_keeps_colours() {
    let (grey, red) = ([128, 128, 128, 255], [255, 0, 0, 255]);
    for (file, format, size, colour) in [
        (corpus!("grey.jpg"), Format::Jpeg, (8, 8), grey),
        (corpus!("progressive.jpg"), Format::Jpeg, (24, 24), grey),
        (corpus!("sequential.jpg"), Format::Jpeg, (16, 16), grey),
        (corpus!("grey16.png"), Format::Jpeg, (5, 4), [0, 0, 0, 255]),
        (corpus!("palette.png"), Format::Png, (4, 3), [0; 4]),
        (corpus!("rgb.png"), Format::Jpeg, (9, 7), [0, 0, 60, 255]),
        (corpus!("rgba.png"), Format::Png, (6, 4), [0, 0, 60, 100]),
        (corpus!("lossy.webp"), Format::Jpeg, (16, 8), red),
        (corpus!("alpha.webp"), Format::Png, (16, 8), [255, 0, 0, 128]),
        // Rotated upright by their metadata.
        (corpus!("exif.png"), Format::Jpeg, (4, 6), [0, 0, 0, 255]),
        (corpus!("exif.webp"), Format::Jpeg, (8, 16), red),
    ] {
        let (picture, avatar) = cleaned(file);
        assert_eq!((avatar.format, picture.dimensions()), (format, size));
        assert!(near(&picture, (0, 0), colour), "{format:?} {size:?}");
    }
}

#[test]
fn clean_shows_the_colours_that_browsers_show() {
    for (file, [red, green, blue]) in [
        // Display P3 with a gamma of 2.2, Adobe RGB, and sRGB with a gamma of 1.8.
        (corpus!("wide-colours.jpg"), [218, 37, 0]),
        (corpus!("adobe-rgb.jpg"), [230, 57, 20]),
        (corpus!("gamma-1.8.jpg"), [209, 77, 39]),
        // Its profile is of another colour space, so that it is ignored.
        (corpus!("cmyk-with-rgb-profile.jpg"), [200, 60, 30]),
    ] {
        let (picture, _) = cleaned(file);
        let seen = picture.get_pixel(2, 2);
        assert!(near(&picture, (2, 2), [red, green, blue, 255]), "{seen:?} {red}");
    }
}

#[test]
fn clean_removes_appended_data_and_metadata() {
    for file in [corpus!("rgba.png"), corpus!("exif.jpg"), corpus!("lossy.webp")] {
        let (_, avatar) = cleaned(&[file, b"<script>alert(1)</script>"].concat());
        assert_eq!(Ok(&avatar), clean(file).as_ref());
        for name in ["script", "Exif", "eXIf", "ICC", "tEXt"] {
            let mut windows = avatar.bytes.windows(name.len());
            assert!(!windows.any(|window| window == name.as_bytes()), "{name}");
        }
        // The avatar itself can be uploaded.
        assert_eq!(cleaned(&avatar.bytes).1.format, avatar.format);
    }
}

#[test]
fn clean_large_rotated_picture_shrunk_and_upright() {
    let jpeg = encoded(gradient(1000, 500), ImageFormat::Jpeg);
    // Exif orientation 6: rotate clockwise.
    let exif = *b"\xFF\xE1\0\x22Exif\0\0MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let (picture, _) = cleaned(&[&jpeg[..2], &exif, &jpeg[2..]].concat());
    assert_eq!(picture.dimensions(), (256, 512));
    // The lower left corner is now the upper left.
    assert!(near(&picture, (0, 0), [0, 255, 60, 255]));
    assert!(near(&picture, (0, 511), [255, 255, 60, 255]));
}
