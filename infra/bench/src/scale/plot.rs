//! The figures as a picture: read units and times by the number of courses, in SVG.

use std::fmt::Write;

use crate::{
    FULL,
    requests::{Figure, Row},
    table::grouped,
};

const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 660.0;
/// Where panels begin below the title.
const TOP: f64 = 100.0;
const PANEL_WIDTH: f64 = 440.0;
const PANEL_HEIGHT: f64 = 360.0;
/// Told apart by those who see few colours, too; and each has a mark and a dash of its own.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc5a9b", "#b07a00", "#3a9bd9", "#222222", "#7a4fbf"];
const DASHES: [&str; 4] = ["none", "9 4", "2 4", "10 4 2 4"];

/// One of the two diagrams.
struct Panel<'a> {
    left: f64,
    title: &'a str,
    label: &'a str,
    value: fn(&Figure) -> f64,
    sizes: &'a [u64],
    /// The value at the upper end, and how far ticks are apart.
    highest: f64,
    step: f64,
}

impl<'a> Panel<'a> {
    fn new(left: f64, title: &'a str, label: &'a str, value: fn(&Figure) -> f64, sizes: &'a [u64], rows: &[Row]) -> Self {
        let values = rows.iter().flat_map(|row| &row.figures).map(|(_, figure)| value(figure));
        let most = values.fold(f64::MIN_POSITIVE, f64::max);
        // Five to ten ticks of 1, 2 or 5 times a power of ten.
        let power = 10_f64.powf((most / 10.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| most / step <= 10.0).unwrap_or(most);
        Self { left, title, label, value, sizes, highest: (most / step).ceil() * step, step }
    }

    fn x(&self, size: u64) -> f64 {
        let place = |size: u64| (size as f64).log10();
        let (first, last) = (self.sizes.first().copied().unwrap_or(1), self.sizes.last().copied().unwrap_or(10));
        self.left + 20.0 + (PANEL_WIDTH - 40.0) * (place(size) - place(first)) / (place(last) - place(first))
    }

    fn y(&self, value: f64) -> f64 {
        TOP + PANEL_HEIGHT * (1.0 - value / self.highest)
    }

    fn draw(&self, svg: &mut String, rows: &[Row]) {
        let (left, right, bottom) = (self.left, self.left + PANEL_WIDTH, TOP + PANEL_HEIGHT);
        let middle = f64::midpoint(left, right);
        text(svg, middle, TOP - 18.0, 16.0, "middle", "600", self.title);
        let mut tick = 0.0;
        while tick <= self.highest + self.step / 2.0 {
            let y = self.y(tick);
            line(svg, (left, y), (right, y), if tick == 0.0 { "#555555" } else { "#dddddd" });
            text(svg, left - 8.0, y + 5.0, 13.0, "end", "400", &tick_text(tick, self.step));
            tick += self.step;
        }
        for size in self.sizes {
            let x = self.x(*size);
            line(svg, (x, bottom), (x, bottom + 6.0), "#555555");
            text(svg, x, bottom + 22.0, 13.0, "middle", "400", &grouped(*size));
        }
        text(svg, middle, bottom + 46.0, 14.0, "middle", "400", "courses in the store (logarithmic)");
        let (x, y) = (left - 52.0, f64::midpoint(TOP, bottom));
        let _ = writeln!(
            svg,
            r##"<text transform="translate({x:.1} {y:.1}) rotate(-90)" font-size="14" text-anchor="middle" fill="#222222">{}</text>"##,
            self.label
        );
        let x = self.x(FULL);
        line(svg, (x, TOP), (x, bottom), "#999999");
        text(svg, x + 6.0, bottom - 10.0, 12.0, "start", "400", "from here on pages are full");
        for (number, row) in rows.iter().enumerate() {
            let points: Vec<(f64, f64)> = row.figures.iter().map(|(size, figure)| (self.x(*size), self.y((self.value)(figure)))).collect();
            curve(svg, number, &points);
        }
    }
}

/// The picture of `rows` at `sizes`.
pub(crate) fn svg(sizes: &[u64], rows: &[Row]) -> String {
    let title = "What a request costs does not depend on how many courses there are";
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif" role="img" aria-labelledby="title about">
<title id="title">{title}</title>
<desc id="about">Two diagrams over the number of courses in the store, from {} to {}: read units per request, and its median time. Units do not grow once pages are full.</desc>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>
"##,
        grouped(sizes.first().copied().unwrap_or_default()),
        grouped(sizes.last().copied().unwrap_or_default()),
    );
    text(&mut svg, WIDTH / 2.0, 40.0, 21.0, "middle", "600", title);
    let reads = Panel::new(90.0, "Read units per request", "read units", |figure| figure.reads, sizes, rows);
    reads.draw(&mut svg, rows);
    let time = |figure: &Figure| figure.median.as_secs_f64() * 1e3;
    let times = Panel::new(640.0, "Median time, embedded store on one machine", "milliseconds", time, sizes, rows);
    times.draw(&mut svg, rows);
    for (number, row) in rows.iter().enumerate() {
        // Two columns.
        let half = rows.len().div_ceil(2);
        let (x, y) = (90.0 + 550.0 * (number / half) as f64, TOP + PANEL_HEIGHT + 88.0 + 28.0 * (number % half) as f64);
        curve(&mut svg, number, &[(x, y - 5.0), (x + 27.0, y - 5.0), (x + 54.0, y - 5.0)]);
        let last = row.figures.last().map_or(0.0, |(_, figure)| figure.reads);
        text(&mut svg, x + 68.0, y, 14.0, "start", "400", &format!("{} – {last:.1} units", row.name));
    }
    svg.push_str("</svg>\n");
    svg
}

fn tick_text(tick: f64, step: f64) -> String {
    if step < 1.0 { format!("{tick:.1}") } else { format!("{tick:.0}") }
}

fn text(svg: &mut String, x: f64, y: f64, size: f64, anchor: &str, weight: &str, text: &str) {
    let _ = writeln!(
        svg,
        r##"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222222">{text}</text>"##
    );
}

fn line(svg: &mut String, (x, y): (f64, f64), (to_x, to_y): (f64, f64), colour: &str) {
    let _ = writeln!(svg, r#"<path d="M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}" stroke="{colour}"/>"#);
}

/// A line through `points` with a mark on each.
fn curve(svg: &mut String, number: usize, points: &[(f64, f64)]) {
    let colour = COLOURS.get(number % COLOURS.len()).copied().unwrap_or_default();
    let dash = DASHES.get(number % DASHES.len()).copied().unwrap_or_default();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        svg,
        r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dash}"/>"#,
        path.join(" ")
    );
    for (x, y) in points {
        let _ = match number % 4 {
            0 => writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4.5" fill="{colour}"/>"#),
            1 => writeln!(svg, r#"<path d="M{x:.1} {y:.1}m-4 -4h8v8h-8z" fill="{colour}"/>"#),
            2 => writeln!(svg, r#"<path d="M{x:.1} {y:.1}m0 -5.5l5 9h-10z" fill="{colour}"/>"#),
            _ => writeln!(svg, r#"<path d="M{x:.1} {y:.1}m0 -6l6 6l-6 6l-6 -6z" fill="{colour}"/>"#),
        };
    }
}
