//! The figures as a picture: read units and times by the number of courses.

use bench::{
    grouped,
    load::milliseconds,
    plot::{Panel, Picture, Scale},
};

use crate::{
    FULL,
    requests::{Figure, Row},
};

/// The picture of `rows` at `sizes`.
pub(crate) fn svg(sizes: &[u64], rows: &[Row]) -> String {
    let about = format!(
        "Two diagrams over the number of courses in the store, from {} to {}: read units per request, and its median time. \
         Units do not grow once pages are full.",
        grouped(sizes.first().copied().unwrap_or_default()),
        grouped(sizes.last().copied().unwrap_or_default()),
    );
    let panel = |title, label, value: fn(&Figure) -> f64| Panel {
        title,
        label,
        across: "courses in the store (logarithmic)",
        scale: Scale::Logarithmic,
        ticks: sizes,
        note: Some((FULL, "from here on pages are full")),
        curves: rows
            .iter()
            .map(|row| {
                row.figures
                    .iter()
                    .map(|(size, figure)| (*size as f64, value(figure)))
                    .collect()
            })
            .enumerate()
            .collect(),
    };
    let legend = |row: &Row| {
        format!(
            "{} – {:.1} units",
            row.name,
            row.figures.last().map_or(0.0, |(_, figure)| figure.reads)
        )
    };
    Picture {
        title: "What a request costs does not depend on how many courses there are",
        about: &about,
        panels: [
            panel("Read units per request", "read units", |figure| {
                figure.reads
            }),
            panel(
                "Median time, embedded store on one machine",
                "milliseconds",
                |figure| milliseconds(figure.median),
            ),
        ],
        legend: rows.iter().map(legend).collect(),
    }
    .svg()
}
