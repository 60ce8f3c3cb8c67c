//! Sheets that spreadsheet programs open: XLSX, and CSV in the form that Excel reads without an import.

use common::ApiError;
use domain::registration::{ExportFormat, HeadingLanguage};
use jiff::civil::{Date, DateTime, date};
use rust_xlsxwriter::{Format, Workbook, XlsxError};

/// Excel counts 29 February 1900, which never was, so that programs show earlier dates differently.
const FIRST_DATE: Date = date(1900, 3, 1);
/// Digits of a number that Excel keeps.
const DIGITS: usize = 15;
/// What makes a spreadsheet program take a text for a formula, with the full-width forms that some programs take for the
/// same (<https://owasp.org/www-community/attacks/CSV_Injection>).
const FORMULA_STARTS: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];
const WIDTH: f64 = 24.0;

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    /// In international form, such as `+21698000123`.
    Phone(String),
    /// The digits of a JSON number.
    Number(String),
    Date(Date),
    /// Local.
    Time(DateTime),
}

/// A sheet that is written row by row: rows do not stay in memory.
pub(super) enum Sheet {
    Xlsx { workbook: Box<Workbook>, row: u32, date: Format, time: Format },
    Csv(csv::Writer<Vec<u8>>),
}

impl Sheet {
    /// A sheet with `headings` in its first row, from right to left for Arabic.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be written.
    pub(super) fn new(
        format: ExportFormat,
        language: HeadingLanguage,
        headings: &[String],
    ) -> Result<Self, ApiError> {
        if format == ExportFormat::Csv {
            // Without the byte order mark Excel does not take the text for UTF-8.
            let mut csv = csv::WriterBuilder::new()
                .delimiter(b';')
                .terminator(csv::Terminator::CRLF)
                .quote_style(csv::QuoteStyle::Always)
                .from_writer("\u{feff}".into());
            csv.write_record(headings.iter().map(|heading| in_csv(heading)))?;
            return Ok(Self::Csv(csv));
        }
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name("Inscriptions")?;
        sheet.set_right_to_left(language == HeadingLanguage::Arabic);
        sheet.set_freeze_panes(1, 0)?;
        let bold = Format::new().set_bold();
        for (column, heading) in (0..).zip(headings) {
            sheet.set_column_width(column, WIDTH)?;
            sheet.write_string_with_format(0, column, heading, &bold)?;
        }
        let (date, time) = (Format::new(), Format::new());
        let (date, time) =
            (date.set_num_format("yyyy-mm-dd"), time.set_num_format("yyyy-mm-dd hh:mm"));
        Ok(Self::Xlsx { workbook: Box::new(workbook), row: 0, date, time })
    }

    /// Adds a row. Every text is a text, never a formula.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be written.
    pub(super) fn add(&mut self, cells: impl Iterator<Item = Cell>) -> Result<(), ApiError> {
        match self {
            Self::Csv(csv) => csv.write_record(cells.map(Cell::in_csv))?,
            Self::Xlsx { workbook, row, date, time } => {
                *row += 1;
                for (column, cell) in (0..).zip(cells) {
                    cell.write(workbook, (*row, column), (date, time))?;
                }
            }
        }
        Ok(())
    }

    /// The content of the file.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be read.
    pub(super) fn finish(self) -> Result<Vec<u8>, ApiError> {
        match self {
            Self::Csv(csv) => Ok(csv.into_inner()?),
            Self::Xlsx { mut workbook, .. } => Ok(workbook.save_to_buffer()?),
        }
    }
}

impl Cell {
    fn write(
        self,
        workbook: &mut Workbook,
        (row, column): (u32, u16),
        (date, time): (&Format, &Format),
    ) -> Result<(), XlsxError> {
        let sheet = workbook.worksheet_from_index(0)?;
        match self {
            Self::Empty => return Ok(()),
            Self::Text(text) | Self::Phone(text) => sheet.write_string(row, column, text)?,
            Self::Number(digits) => match number(&digits) {
                Some(number) => sheet.write_number(row, column, number)?,
                None => sheet.write_string(row, column, digits)?,
            },
            Self::Date(day) if day < FIRST_DATE => {
                sheet.write_string(row, column, day.to_string())?
            }
            Self::Date(day) => sheet.write_datetime_with_format(row, column, day, date)?,
            Self::Time(at) => sheet.write_datetime_with_format(row, column, at, time)?,
        };
        Ok(())
    }

    fn in_csv(self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => in_csv(&text),
            Self::Phone(text) | Self::Number(text) => text,
            Self::Date(day) => day.to_string(),
            Self::Time(at) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        }
    }
}

/// The number, if it has no more digits than Excel keeps.
fn number(digits: &str) -> Option<f64> {
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    digits.parse().ok().filter(|_| count <= DIGITS)
}

/// The text of a cell in CSV, on one line, with an apostrophe before what would be a formula.
fn in_csv(text: &str) -> String {
    let line = text.replace("\r\n", " ").replace(['\r', '\n'], " ");
    if text.starts_with(FORMULA_STARTS) { format!("'{line}") } else { line }
}
