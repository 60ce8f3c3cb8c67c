//! The figures as a picture: bars of the floor and ours, in SVG.

use std::fmt::Write;

use crate::{
    measure::{Case, Figures, Whose},
    table::{median, ms},
};

const WIDTH: f64 = 1120.0;
const PANEL: f64 = 320.0;
const BAR: f64 = 22.0;
const TOP: f64 = 90.0;
const LEFT: f64 = 290.0;

/// What a panel is called, and what it shows of the figures.
type Panel = (&'static str, fn(&Figures) -> f64);
const PANELS: [Panel; 3] = [
    ("CPU of the start, ms", |figures| ms(median(&figures.init))),
    ("CPU of one call, ms", |figures| ms(median(&figures.cpu))),
    ("most memory, MB", |figures| figures.memory),
];

/// The picture of what is asked with a whole CPU and a quick store.
pub(crate) fn svg(measured: &[(Case, Figures)]) -> String {
    let is_shown = |case: &Case| {
        case.event.is_some() && case.store_answers_in.is_none() && !case.name.ends_with("/login")
    };
    let rows: Vec<_> = measured.iter().filter(|(case, _)| is_shown(case)).collect();
    let height = TOP + (BAR + 8.0) * rows.len() as f64 + 30.0;
    let title = "Our functions beside one that does nothing";
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="13" role="img" aria-labelledby="title about">
<title id="title">{title}</title>
<desc id="about">Bars of the CPU of a start, the CPU of one call and the most memory of each function.</desc>
<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>
<text x="{:.0}" y="36" font-size="20" text-anchor="middle" font-weight="600" fill="#222222">{title}</text>
"##,
        WIDTH / 2.0
    );
    for (number, (case, _)) in rows.iter().enumerate() {
        let name = case.name.replace('`', "");
        let y = TOP + (BAR + 8.0) * number as f64 + BAR * 0.7;
        let _ = writeln!(
            svg,
            r##"<text x="{:.0}" y="{y:.0}" text-anchor="end" fill="#222222">{name}</text>"##,
            LEFT - 10.0
        );
    }
    let width = (WIDTH - LEFT) / PANELS.len() as f64;
    for (panel, (label, value)) in PANELS.iter().enumerate() {
        let left = LEFT + width * panel as f64;
        let most = rows
            .iter()
            .map(|(_, figures)| value(figures))
            .fold(f64::MIN_POSITIVE, f64::max);
        let _ = writeln!(
            svg,
            r##"<text x="{left:.0}" y="{:.0}" font-weight="600" fill="#222222">{label}</text>"##,
            TOP - 16.0
        );
        for (number, (case, figures)) in rows.iter().enumerate() {
            let (value, y) = (value(figures), TOP + (BAR + 8.0) * number as f64);
            let colour = match case.whose {
                Whose::Floor => "#999999",
                Whose::Ours => "#0072b2",
            };
            let long = (value / most * (width.min(PANEL) - 70.0)).max(1.0);
            let _ = writeln!(
                svg,
                r#"<rect x="{left:.1}" y="{y:.1}" width="{long:.1}" height="{BAR}" fill="{colour}"/>"#
            );
            let _ = writeln!(
                svg,
                r##"<text x="{:.1}" y="{:.1}" fill="#222222">{value:.2}</text>"##,
                left + long + 5.0,
                y + BAR * 0.7
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}
