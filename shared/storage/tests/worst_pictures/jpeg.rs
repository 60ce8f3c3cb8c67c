//! JPEGs with as many scans, tables and metadata as the file size permits.

/// The parts of a JPEG.
struct Jpeg<'a> {
    size: (u16, u16),
    /// Sampling factors of each component.
    components: &'a [u8],
    progressive: bool,
    /// Segments before the frame.
    extras: Vec<u8>,
    /// Scans: components, spectral selection and approximation, data.
    scans: Vec<(Vec<u8>, [u8; 3], Vec<u8>)>,
}

impl Jpeg<'_> {
    /// The file. One zero bit codes "no change", and "end of block".
    fn file(&self) -> Vec<u8> {
        let (width, height) = (self.size.0.to_be_bytes(), self.size.1.to_be_bytes());
        let mut frame =
            vec![8, height[0], height[1], width[0], width[1], self.components.len() as u8];
        frame.extend((1..).zip(self.components).flat_map(|(id, factors)| [id, *factors, 0]));
        // AC table 0 codes only an end of block; table 1 a run of 16,384 ends of block, followed by 14 bits.
        let table = |class: u8, symbol: u8| [&[class, 1][..], &[0; 15], &[symbol]].concat();
        let mut file = [&[0xFF, 0xD8][..], &self.extras].concat();
        file.extend(segment(0xDB, &[&[0][..], &[1; 64]].concat()));
        file.extend(segment(if self.progressive { 0xC2 } else { 0xC0 }, &frame));
        file.extend(segment(0xC4, &[table(0, 0), table(0x10, 0), table(0x11, 0xE0)].concat()));
        for (components, parameters, data) in &self.scans {
            let mut header = vec![components.len() as u8];
            let ac = u8::from(self.progressive && parameters[0] > 0);
            header.extend(components.iter().flat_map(|id| [*id, ac]));
            header.extend(parameters);
            file.extend(segment(0xDA, &header));
            file.extend(data);
        }
        file.extend([0xFF, 0xD9]);
        file
    }
}

fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
    [&[0xFF, marker][..], &(data.len() as u16 + 2).to_be_bytes(), data].concat()
}

pub(super) fn pictures() -> Vec<(&'static str, Vec<u8>)> {
    let all = |count: u8| (1..=count).collect::<Vec<u8>>();
    // 4,000 × 4,000 pixels: 250,000 blocks per component.
    let dc =
        |components: u8| (all(components), [0, 0, 0], vec![0; 31_250 * usize::from(components)]);
    let plain = |components: &'static [u8], progressive, scans| Jpeg {
        size: (4_000, 4_000),
        components,
        progressive,
        extras: Vec::new(),
        scans,
    };
    let refine = |count, components: u8| {
        let mut scans = vec![(all(components), [0, 0, 0x0D], dc(components).2)];
        scans.extend((0..count).map(|at: u8| {
            let low = 12_u8.saturating_sub(at);
            (all(components), [0, 0, (low + 1) << 4 | low], dc(components).2)
        }));
        scans
    };
    // Each AC scan: 16 runs of ends of block, 15 bits each.
    let runs = |approximation, length| {
        let mut scans = vec![dc(3)];
        let scan = |at: u8| (vec![at % 3 + 1], [1, 63, approximation], vec![0; length]);
        scans.extend((0..31).map(scan));
        plain(&[0x11; 3], true, scans).file()
    };
    let extended_xmp = {
        let name = b"http://ns.adobe.com/xmp/extension/\0";
        segment(0xE1, &[&name[..], &[b'a'; 32], &[0, 1, 0, 0], &[0, 0, 1, 0]].concat())
    };
    let small = |extras| {
        Jpeg {
            size: (8, 8),
            extras,
            ..plain(&[0x11; 3], false, vec![(all(3), [0, 63, 0], vec![0])])
        }
        .file()
    };
    let xmps = |xmps, markers| {
        small([extended_xmp.repeat(xmps), segment(0xE0, b"").repeat(markers)].concat())
    };
    let lone = |count, length| vec![(vec![1], [0, 63, 0], vec![0; length]); count];
    let wide = |extras, scans| {
        Jpeg { size: (16_384, 976), extras, ..plain(&[0x11; 3], false, scans) }.file()
    };
    let odd = |components: &'static [u8], size| {
        Jpeg { size, ..plain(components, true, refine(1, components.len() as u8)) }.file()
    };
    let sequential = |components: &'static [u8]| {
        let count = components.len() as u8;
        let scan = (all(count), [0, 63, 0], vec![0; 62_500 * components.len()]);
        plain(components, false, vec![scan]).file()
    };
    let huffman = [&[0, 1][..], &[0; 16]].concat();
    let quantization = [&[0][..], &[1; 64]].concat();
    let profile = [&b"ICC_PROFILE\0\x01\x01"[..], &[7; 60_000]].concat();
    vec![
        ("jpeg: sequential, 16 MP", sequential(&[0x11; 3])),
        ("jpeg: sequential CMYK, 16 MP", sequential(&[0x11; 4])),
        ("jpeg: progressive, 32 scans, 16 MP", plain(&[0x11; 3], true, refine(30, 3)).file()),
        ("jpeg: progressive, 40 scans, 16 MP", plain(&[0x11; 3], true, refine(39, 3)).file()),
        ("jpeg: progressive CMYK, 32 scans, 16 MP", plain(&[0x11; 4], true, refine(30, 4)).file()),
        ("jpeg: progressive, runs, 16 MP", runs(0, 32)),
        ("jpeg: progressive, refined runs, 16 MP", runs(0x10, 32)),
        ("jpeg: progressive, refined blocks, 16 MP", runs(0x10, 125_000)),
        ("jpeg: progressive CMYK 4 by 4", odd(&[0x44, 0x44, 0x44, 0x44], (16_100, 993))),
        ("jpeg: progressive CMYK 4 by 1", odd(&[0x41, 0x14, 0x44, 0x44], (993, 16_100))),
        (
            "jpeg: a scan of a component, 66 times, 16 MP",
            plain(&[0x11; 3], false, lone(66, 62_500)).file(),
        ),
        ("jpeg: 280,000 short scans, 16 MP", wide(Vec::new(), lone(280_000, 2))),
        ("jpeg: 280,000 empty scans, 16 MP", wide(segment(0xDD, &[0, 1]), lone(280_000, 2))),
        (
            "jpeg: 100,000 longer scans, 16 MP",
            wide(segment(0xDD, &[0xFF, 0xFF]), lone(100_000, 30)),
        ),
        ("jpeg: 53,000 extended XMP", xmps(53_000, 0)),
        ("jpeg: 25,000 extended XMP, 500,000 markers", xmps(25_000, 500_000)),
        ("jpeg: 60 extended XMP, 1,000,000 markers", xmps(60, 1_000_000)),
        ("jpeg: 190,000 Huffman tables", small(segment(0xC4, &huffman).repeat(180_000))),
        (
            "jpeg: 3,000 Huffman tables in one",
            small(segment(0xC4, &huffman.repeat(3_600)).repeat(60)),
        ),
        ("jpeg: 60,000 quantization tables", small(segment(0xDB, &quantization).repeat(60_000))),
        ("jpeg: profile of 4 MB", small(segment(0xE2, &profile).repeat(69))),
        ("jpeg: 200,000 profiles", small(segment(0xE2, b"ICC_PROFILE\0\x01\x01a").repeat(200_000))),
        (
            "jpeg: 65,535 by 65,535",
            Jpeg { size: (65_535, 65_535), ..plain(&[0x11; 3], true, refine(1, 3)) }.file(),
        ),
    ]
}
