//! A workbook of Excel 2007 and later, as other spreadsheet programs open it, too.

use common::ApiError;
use domain::registration::HeadingLanguage;
use jiff::civil::{Date, DateTime, date};
use rust_xlsxwriter::{Format, Workbook, XlsxError};

/// Excel counts 29 February 1900, which never was, so that programs show earlier dates differently.
const FIRST_DATE: Date = date(1900, 3, 1);
/// Digits of a number that Excel keeps.
const DIGITS: usize = 15;
const WIDTH: f64 = 24.0;

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    /// The digits of a JSON number.
    Number(String),
    Date(Date),
    /// Local.
    Time(DateTime),
}

/// A sheet that is written row by row: rows do not stay in memory.
pub(super) struct Sheet {
    workbook: Workbook,
    row: u32,
    date: Format,
    time: Format,
}

impl Sheet {
    /// A sheet with `headings` in its first row, from right to left for Arabic.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be written.
    pub(super) fn new(language: HeadingLanguage, headings: &[String]) -> Result<Self, ApiError> {
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
        let date = Format::new().set_num_format("yyyy-mm-dd");
        let time = Format::new().set_num_format("yyyy-mm-dd hh:mm");
        Ok(Self { workbook, row: 0, date, time })
    }

    /// Adds a row. Every text is a text, never a formula.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be written.
    pub(super) fn add(&mut self, cells: impl Iterator<Item = Cell>) -> Result<(), ApiError> {
        self.row += 1;
        for (column, cell) in (0..).zip(cells) {
            self.write(column, cell)?;
        }
        Ok(())
    }

    fn write(&mut self, column: u16, cell: Cell) -> Result<(), XlsxError> {
        let (sheet, row) = (self.workbook.worksheet_from_index(0)?, self.row);
        match cell {
            Cell::Empty => return Ok(()),
            Cell::Text(text) => sheet.write_string(row, column, text)?,
            Cell::Number(digits) => match number(&digits) {
                Some(number) => sheet.write_number(row, column, number)?,
                None => sheet.write_string(row, column, digits)?,
            },
            Cell::Date(day) if day < FIRST_DATE => {
                sheet.write_string(row, column, day.to_string())?
            }
            Cell::Date(day) => sheet.write_datetime_with_format(row, column, day, &self.date)?,
            Cell::Time(at) => sheet.write_datetime_with_format(row, column, at, &self.time)?,
        };
        Ok(())
    }

    /// The content of the file.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be read.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, ApiError> {
        Ok(self.workbook.save_to_buffer()?)
    }
}

/// The number, if it has no more digits than Excel keeps.
fn number(digits: &str) -> Option<f64> {
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    digits.parse().ok().filter(|_| count <= DIGITS)
}
