//! Figures as a picture: two diagrams side by side and what their curves are, in SVG.

use std::fmt::Write;

use crate::grouped;

const WIDTH: f64 = 1120.0;
/// Where panels begin below the title, and to the right.
const TOP: f64 = 100.0;
const LEFT: [f64; 2] = [90.0, 640.0];
const PANEL_WIDTH: f64 = 440.0;
const PANEL_HEIGHT: f64 = 360.0;
/// Told apart by those who see few colours, too; and each has a mark and a dash of its own.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc5a9b", "#b07a00", "#3a9bd9", "#222222", "#7a4fbf",
];
const DASHES: [&str; 4] = ["none", "9 4", "2 4", "10 4 2 4"];

/// Two diagrams and a legend.
pub struct Picture<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// What it shows, for who does not see it.
    pub about: &'a str,
    /// The diagrams.
    pub panels: [Panel<'a>; 2],
    /// What the curve with each number is.
    pub legend: Vec<String>,
}

/// One diagram.
pub struct Panel<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// What stands beside the vertical axis.
    pub label: &'a str,
    /// What stands below the horizontal axis.
    pub across: &'a str,
    /// How far apart numbers are on the horizontal axis.
    pub scale: Scale,
    /// What is written at the horizontal axis; the first and the last are its ends.
    pub ticks: &'a [u64],
    /// A line at one of them, and what begins there.
    pub note: Option<(u64, &'a str)>,
    /// Curves with their numbers in the legend.
    pub curves: Vec<(usize, Vec<(f64, f64)>)>,
}

/// How far apart numbers are.
#[derive(Clone, Copy)]
pub enum Scale {
    /// As far as they differ.
    Linear,
    /// As far as their logarithms differ.
    Logarithmic,
}

/// Where a panel stands, and how high its values go.
struct Frame<'a> {
    panel: &'a Panel<'a>,
    left: f64,
    /// The value at the upper end, and how far ticks are apart.
    highest: f64,
    step: f64,
}

impl<'a> Frame<'a> {
    fn new(panel: &'a Panel<'a>, left: f64) -> Self {
        let values = panel
            .curves
            .iter()
            .flat_map(|(_, points)| points)
            .map(|(_, value)| *value);
        let most = values.fold(f64::MIN_POSITIVE, f64::max);
        // Five to ten ticks of 1, 2 or 5 times a power of ten.
        let power = 10_f64.powf((most / 10.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|times| times * power)
            .find(|step| most / step <= 10.0)
            .unwrap_or(most);
        Self {
            panel,
            left,
            highest: (most / step).ceil() * step,
            step,
        }
    }

    fn x(&self, number: f64) -> f64 {
        let place = |number: f64| match self.panel.scale {
            Scale::Linear => number,
            Scale::Logarithmic => number.log10(),
        };
        let ends = (
            self.panel.ticks.first().copied().unwrap_or(1),
            self.panel.ticks.last().copied().unwrap_or(10),
        );
        let (first, last) = (place(ends.0 as f64), place(ends.1 as f64));
        self.left + 20.0 + (PANEL_WIDTH - 40.0) * (place(number) - first) / (last - first)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + PANEL_HEIGHT * (1.0 - value / self.highest)
    }

    fn draw(&self, svg: &mut String) {
        let (left, right, bottom) = (self.left, self.left + PANEL_WIDTH, TOP + PANEL_HEIGHT);
        let middle = f64::midpoint(left, right);
        text(
            svg,
            middle,
            TOP - 18.0,
            16.0,
            "middle",
            "600",
            self.panel.title,
        );
        let mut tick = 0.0;
        while tick <= self.highest + self.step / 2.0 {
            let y = self.y(tick);
            line(
                svg,
                (left, y),
                (right, y),
                if tick == 0.0 { "#555555" } else { "#dddddd" },
            );
            text(
                svg,
                left - 8.0,
                y + 5.0,
                13.0,
                "end",
                "400",
                &tick_text(tick, self.step),
            );
            tick += self.step;
        }
        for tick in self.panel.ticks {
            let x = self.x(*tick as f64);
            line(svg, (x, bottom), (x, bottom + 6.0), "#555555");
            text(
                svg,
                x,
                bottom + 22.0,
                13.0,
                "middle",
                "400",
                &grouped(*tick),
            );
        }
        text(
            svg,
            middle,
            bottom + 46.0,
            14.0,
            "middle",
            "400",
            self.panel.across,
        );
        let (x, y) = (left - 52.0, f64::midpoint(TOP, bottom));
        let _ = writeln!(
            svg,
            r##"<text transform="translate({x:.1} {y:.1}) rotate(-90)" font-size="14" text-anchor="middle" fill="#222222">{}</text>"##,
            self.panel.label
        );
        if let Some((number, note)) = self.panel.note {
            let x = self.x(number as f64);
            line(svg, (x, TOP), (x, bottom), "#999999");
            text(svg, x + 6.0, bottom - 10.0, 12.0, "start", "400", note);
        }
        for (number, points) in &self.panel.curves {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|(x, y)| (self.x(*x), self.y(*y)))
                .collect();
            curve(svg, *number, &points);
        }
    }
}

impl Picture<'_> {
    /// The picture.
    pub fn svg(&self) -> String {
        let Self {
            title,
            about,
            panels,
            legend,
        } = self;
        // Two columns.
        let half = legend.len().div_ceil(2);
        let below = TOP + PANEL_HEIGHT + 88.0;
        let height = below + 28.0 * half as f64;
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="Helvetica, Arial, sans-serif" role="img" aria-labelledby="title about">
<title id="title">{title}</title>
<desc id="about">{about}</desc>
<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>
"##
        );
        text(&mut svg, WIDTH / 2.0, 40.0, 21.0, "middle", "600", title);
        for (panel, left) in panels.iter().zip(LEFT) {
            Frame::new(panel, left).draw(&mut svg);
        }
        for (number, name) in legend.iter().enumerate() {
            let (x, y) = (
                90.0 + 550.0 * (number / half) as f64,
                below + 28.0 * (number % half) as f64,
            );
            curve(
                &mut svg,
                number,
                &[(x, y - 5.0), (x + 27.0, y - 5.0), (x + 54.0, y - 5.0)],
            );
            text(&mut svg, x + 68.0, y, 14.0, "start", "400", name);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn tick_text(tick: f64, step: f64) -> String {
    if step < 1.0 {
        format!("{tick:.1}")
    } else {
        format!("{tick:.0}")
    }
}

fn text(svg: &mut String, x: f64, y: f64, size: f64, anchor: &str, weight: &str, text: &str) {
    let _ = writeln!(
        svg,
        r##"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222222">{text}</text>"##
    );
}

fn line(svg: &mut String, (x, y): (f64, f64), (to_x, to_y): (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        r#"<path d="M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}" stroke="{colour}"/>"#
    );
}

/// A line through `points` with a mark on each.
fn curve(svg: &mut String, number: usize, points: &[(f64, f64)]) {
    let colour = COLOURS
        .get(number % COLOURS.len())
        .copied()
        .unwrap_or_default();
    let dash = DASHES
        .get(number % DASHES.len())
        .copied()
        .unwrap_or_default();
    let path: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let _ = writeln!(
        svg,
        r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dash}"/>"#,
        path.join(" ")
    );
    for (x, y) in points {
        let _ = match number % 4 {
            0 => writeln!(
                svg,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="4.5" fill="{colour}"/>"#
            ),
            1 => writeln!(
                svg,
                r#"<path d="M{x:.1} {y:.1}m-4 -4h8v8h-8z" fill="{colour}"/>"#
            ),
            2 => writeln!(
                svg,
                r#"<path d="M{x:.1} {y:.1}m0 -5.5l5 9h-10z" fill="{colour}"/>"#
            ),
            _ => writeln!(
                svg,
                r#"<path d="M{x:.1} {y:.1}m0 -6l6 6l-6 6l-6 -6z" fill="{colour}"/>"#
            ),
        };
    }
}
