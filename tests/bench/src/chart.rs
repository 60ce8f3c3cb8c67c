//! Draws charts as SVG.

use plotters::{
    coord::Shift,
    prelude::{
        ChartBuilder, Color, DrawingArea, DrawingAreaErrorKind, EmptyElement, IntoDrawingArea,
        IntoSegmentedCoord, LineSeries, Palette, Palette99, PathElement, Rectangle, SVGBackend,
        SegmentValue, SeriesLabelPosition, Text,
    },
    style::{BLACK, IntoFont, WHITE},
};

use crate::{Result, error};

const WIDTH: u32 = 1120;
const FONT: &str = "sans-serif";

/// One diagram of a chart of lines.
pub struct Panel<'a> {
    /// The title above it.
    pub title: &'a str,
    /// The label of the horizontal axis.
    pub x: &'a str,
    /// Formats a number on the horizontal axis.
    pub x_label: fn(&f64) -> String,
    /// The label of the vertical axis.
    pub y: &'a str,
    /// The name and the points of each line.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// A chart of `panels` side by side.
pub fn lines(title: &str, panels: &[Panel<'_>]) -> Result<String> {
    draw(title, 560, panels.len(), |areas| {
        for (panel, area) in panels.iter().zip(areas) {
            let points = || panel.lines.iter().flat_map(|(_, points)| points);
            let least = points().map(|point| point.0).fold(f64::MAX, f64::min);
            let most = points().map(|point| point.0).fold(f64::MIN, f64::max);
            let highest = points().map(|point| point.1).fold(0.0, f64::max) * 1.1;
            let mut chart = ChartBuilder::on(area)
                .caption(panel.title, (FONT, 17))
                .margin(12)
                .x_label_area_size(45)
                .y_label_area_size(60)
                .build_cartesian_2d(least..most, 0.0..highest)?;
            let mut mesh = chart.configure_mesh();
            mesh.x_desc(panel.x).y_desc(panel.y).x_label_formatter(&panel.x_label).draw()?;
            for (number, (name, points)) in panel.lines.iter().enumerate() {
                let style = Palette99::pick(number).stroke_width(2);
                let line = LineSeries::new(points.iter().copied(), style).point_size(3);
                chart.draw_series(line)?.label(name).legend(move |(x, y)| {
                    PathElement::new(vec![(x, y), (x + 18, y)], Palette99::pick(number))
                });
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .background_style(WHITE.mix(0.7))
                .draw()?;
        }
        Ok(())
    })
}

/// A chart with one panel of horizontal bars for each of `panels`: a title and one value per name.
pub fn bars(title: &str, names: &[String], panels: &[(&str, Vec<f64>)]) -> Result<String> {
    let height = 130 + 34 * u32::try_from(names.len()).unwrap_or(0);
    draw(title, height, panels.len(), |areas| {
        for ((title, values), area) in panels.iter().zip(areas) {
            let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max) * 1.25;
            let mut chart = ChartBuilder::on(area)
                .caption(title, (FONT, 15))
                .margin(8)
                .x_label_area_size(28)
                .y_label_area_size(170)
                .build_cartesian_2d(0.0..most, (0..names.len()).into_segmented())?;
            let name = |segment: &SegmentValue<usize>| match segment {
                SegmentValue::CenterOf(at) => names.get(*at).cloned().unwrap_or_default(),
                SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
            };
            let mut mesh = chart.configure_mesh();
            mesh.y_labels(names.len()).y_label_formatter(&name).draw()?;
            chart.draw_series(values.iter().enumerate().map(|(at, value)| {
                let low = SegmentValue::Exact(at);
                let corners = [(0.0, low), (*value, SegmentValue::Exact(at + 1))];
                let mut bar = Rectangle::new(corners, Palette99::pick(at.min(1)).filled());
                bar.set_margin(4, 4, 0, 0);
                bar
            }))?;
            chart.draw_series(values.iter().enumerate().map(|(at, value)| {
                let label = Text::new(format!("{value:.2}"), (4, -6), (FONT, 12).into_font());
                EmptyElement::at((*value, SegmentValue::CenterOf(at))) + label
            }))?;
        }
        Ok(())
    })
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a> = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw(
    title: &str,
    height: u32,
    panels: usize,
    content: impl Fn(&[Area<'_>]) -> Drawn<'static>,
) -> Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE).map_err(error)?;
        let below = root.titled(title, (FONT, 21).into_font().color(&BLACK));
        let areas = below.map_err(error)?.split_evenly((1, panels));
        content(&areas).map_err(error)?;
        root.present().map_err(error)?;
    }
    Ok(svg + "\n")
}
