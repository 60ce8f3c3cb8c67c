//! The table of figures, in Markdown.

use std::fmt::Write;

use bench::grouped;

use crate::{FULL, requests::Row};

/// Read units of each row at each size, and below them what the sizes differ by in time.
pub(crate) fn markdown(sizes: &[u64], rows: &[Row]) -> String {
    let heads: String = sizes
        .iter()
        .map(|size| format!(" {} |", grouped(*size)))
        .collect();
    let rule = "---:|".repeat(sizes.len());
    let mut text = format!("| request | round trips |{heads} grows by |\n|---|---:|{rule}---:|\n");
    for row in rows {
        let trips = row
            .figures
            .iter()
            .map(|(_, figure)| figure.round_trips)
            .max()
            .unwrap_or_default();
        let cells: String = sizes
            .iter()
            .map(|size| format!(" {} |", units(row, *size)))
            .collect();
        let _ = writeln!(
            text,
            "| {} | {trips} |{cells} {:.1} |",
            row.name,
            row.spread()
        );
    }
    let _ = write!(
        text,
        "\nRead units of one request, and in brackets how many courses it shows, by the number of courses in the store. \
         Three units of each are the session, the user and the committee of the caller. Where a store has less than a page, \
         a page costs less: compare from {} on, where every list is longer than a page and each of the five frequent words \
         has more courses than a search reads; “grows by” is the difference between the highest and the lowest of these. \
         Courses are not equally long, so half a unit may come or go.\n",
        grouped(FULL)
    );
    let _ = write!(
        text,
        "\n| median, 1 at {} |{heads}\n|---|{rule}\n",
        grouped(FULL)
    );
    for row in rows {
        let _ = writeln!(
            text,
            "| {} |{}",
            row.name,
            sizes
                .iter()
                .map(|size| format!(" {} |", ratio(row, *size)))
                .collect::<String>()
        );
    }
    text
}

fn units(row: &Row, size: u64) -> String {
    row.at(size).map_or("–".to_owned(), |figure| {
        format!("{:.1} ({})", figure.reads, figure.courses)
    })
}

fn ratio(row: &Row, size: u64) -> String {
    let median = |size| row.at(size).map(|figure| figure.median.as_secs_f64());
    median(size)
        .zip(median(FULL))
        .map_or("–".to_owned(), |(median, full)| {
            format!("{:.2}", median / full)
        })
}

/// The page that is kept.
pub(crate) fn page(table: &str) -> String {
    format!(
        "# What a request costs does not depend on how many courses there are\n\n\
         Made by `cargo bench-scale million`: one store on a file, loaded with more and more courses, asked through the real edge.\n\n\
         ![Read units and time per request by the number of courses](scale.svg)\n\n{table}\n\
         Read units are what DynamoDB would bill, and the same on every machine. Times are of the embedded store on one \
         machine that had other things to do: read their ratios, not the milliseconds.\n"
    )
}
