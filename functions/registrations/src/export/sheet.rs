//! A workbook of Excel 2007 and later, as other spreadsheet programs open it, too.

use common::ApiError;
use domain::registration::HeadingLanguage;
use jiff::civil::{Date, DateTime, Time, date};
use rust_xlsxwriter::{
    Format, FormatAlign, IgnoreError, IntoExcelDateTime, Workbook, XlsxError, cell_autofit_width,
};

use super::words::LONG;

/// Excel counts 29 February 1900, which never was, so that programs show earlier dates differently.
const FIRST_DATE: Date = date(1900, 3, 1);
/// Digits of a number that Excel keeps.
const DIGITS: usize = 15;
/// The formats of dates and times, which also are the widest texts that they show.
const DATE: &str = "dd/mm/yyyy";
const TIME: &str = "hh:mm";
const MOMENT: &str = "dd/mm/yyyy hh:mm";

/// The width of a digit, in pixels.
const DIGIT: u32 = 7;
/// The narrowest and the widest column in pixels: 6 and 50 digits, and 5 pixels of padding.
const NARROWEST: u32 = 6 * DIGIT + 5;
const WIDEST: u32 = 50 * DIGIT + 5;
/// A heading alone makes a column as wide as this at most, 20 digits, unless it has more than four lines then.
const HEADING: u32 = 145;
/// The button of the filter, and what bold letters are wider.
const BUTTON: u32 = 20;
/// Letters on a line of the widest column.
const LETTERS: usize = 50;

const PAPER_A4: u8 = 9;
const LEFT_TO_RIGHT: u8 = 1;
const RIGHT_TO_LEFT: u8 = 2;
const LINE_HEIGHT: f64 = 15.0;
const PALE_YELLOW: u32 = 0xFFF9D6;
const PALE_GREY: u32 = 0xE7E6E6;

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    /// The digits of a JSON number.
    Number(String),
    Date(Date),
    Time(Time),
    /// Local.
    Moment(DateTime),
}

/// What becomes of the texts of a row that have many lines. They are written in small letters on yellow, which marks that
/// more may follow than is seen, and their row gets a fixed height: Excel cuts rows at 409 points without a mark
/// (<https://support.microsoft.com/en-us/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3>),
/// and LibreOffice would continue them on the next page. In small letters 4,000 of them are seen.
struct Fit {
    /// Most lines of 50 letters in letters of the usual size.
    lines: usize,
    /// The height of a row with a longer text, in points.
    height: f64,
}

const HEADING_FIT: Fit = Fit { lines: 4, height: 90.0 };
/// Lines of Arabic are higher: twenty take up to 409 points.
const ROW_FIT: Fit = Fit { lines: 20, height: 409.0 };
/// The size of letters in long texts, in points.
const SMALL: f64 = 6.0;

/// A sheet that is written row by row: rows do not stay in memory.
pub(super) struct Sheet {
    workbook: Workbook,
    language: HeadingLanguage,
    row: u32,
    /// Those of the columns, in pixels.
    widths: Vec<u32>,
    /// The last row with a long text.
    long_row: Option<u32>,
}

impl Sheet {
    /// A sheet called `name` with `title` in its first row and `headings` in its second, from right to left for Arabic.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be written, or Excel does not allow `name`.
    pub(super) fn new(
        language: HeadingLanguage,
        name: &str,
        title: &str,
        headings: &[String],
    ) -> Result<Self, ApiError> {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet
            .set_name(name)?
            .set_right_to_left(language == HeadingLanguage::Arabic)
            .set_freeze_panes(2, 0)?
            .set_paper_size(PAPER_A4)
            .set_landscape()
            .set_print_fit_to_pages(1, 0)
            .set_repeat_rows(0, 1)?
            .set_print_gridlines(true)
            .set_margins(0.4, 0.4, 0.4, 0.6, 0.3, 0.3);
        let widths = headings.iter().map(|heading| heading_width(heading)).collect();
        let mut new = Self { workbook, language, row: 1, widths, long_row: None };
        new.write_title(title)?;
        for (column, heading) in (0..).zip(headings) {
            let format = Format::new().set_bold().set_background_color(PALE_GREY);
            new.write_text(column, heading, format, &HEADING_FIT)?;
        }
        Ok(new)
    }

    /// One cell across all columns, as high as its lines.
    fn write_title(&mut self, title: &str) -> Result<(), XlsxError> {
        let direction =
            if self.language == HeadingLanguage::Arabic { RIGHT_TO_LEFT } else { LEFT_TO_RIGHT };
        let format = Format::new().set_bold().set_text_wrap().set_reading_direction(direction);
        let format = format.set_align(FormatAlign::VerticalCenter);
        let letters = self.widths.iter().sum::<u32>() / DIGIT;
        let count = u32::try_from(title.chars().count()).unwrap_or(u32::MAX).div_ceil(letters);
        let last = self.last_column();
        let sheet = self.workbook.worksheet_from_index(0)?;
        sheet.set_row_height(0, LINE_HEIGHT * (f64::from(count) + 0.5))?;
        sheet.merge_range(0, 0, 0, last, title, &format)?;
        Ok(())
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
        match cell {
            Cell::Empty => Ok(()),
            Cell::Text(text) => self.write_row_text(column, &text),
            Cell::Number(digits) => match number(&digits) {
                Some(number) => self.write_number(column, number),
                None => self.write_row_text(column, &digits),
            },
            Cell::Date(day) if day < FIRST_DATE => {
                self.write_row_text(column, &day.strftime("%d/%m/%Y").to_string())
            }
            Cell::Date(day) => self.write_time(column, day, DATE),
            Cell::Time(time) => self.write_time(column, time, TIME),
            Cell::Moment(at) => self.write_time(column, at, MOMENT),
        }
    }

    fn write_row_text(&mut self, column: u16, text: &str) -> Result<(), XlsxError> {
        let width = text.lines().map(cell_autofit_width).max();
        self.widen(column, width.unwrap_or_default());
        self.write_text(column, text, Format::new(), &ROW_FIT)
    }

    fn write_text(
        &mut self,
        column: u16,
        text: &str,
        format: Format,
        fit: &Fit,
    ) -> Result<(), XlsxError> {
        let format = format.set_text_wrap().set_align(FormatAlign::Top);
        let mut format = format.set_reading_direction(reading_direction(text));
        let sheet = self.workbook.worksheet_from_index(0)?;
        let line_count = |line: &str| line.chars().count().div_ceil(LETTERS).max(1);
        if text.lines().map(line_count).sum::<usize>() > fit.lines {
            format = format.set_font_size(SMALL).set_background_color(PALE_YELLOW);
            sheet.set_row_height(self.row, fit.height)?;
            self.long_row = Some(self.row);
        }
        sheet.write_string_with_format(self.row, column, text, &format)?;
        Ok(())
    }

    /// Shows all digits; without a format, Excel shows twelve digits as a power of ten.
    fn write_number(&mut self, column: u16, number: f64) -> Result<(), XlsxError> {
        let digits = number.to_string();
        self.widen(column, cell_autofit_width(&digits));
        let format = match digits.split_once('.') {
            None => "0".to_owned(),
            Some((_, decimals)) => format!("0.{}", "0".repeat(decimals.len())),
        };
        let format = Format::new().set_num_format(format).set_align(FormatAlign::Top);
        let sheet = self.workbook.worksheet_from_index(0)?;
        sheet.write_number_with_format(self.row, column, number, &format)?;
        Ok(())
    }

    fn write_time(
        &mut self,
        column: u16,
        time: impl IntoExcelDateTime,
        format: &str,
    ) -> Result<(), XlsxError> {
        self.widen(column, cell_autofit_width(format));
        let format = Format::new().set_num_format(format).set_align(FormatAlign::Top);
        let sheet = self.workbook.worksheet_from_index(0)?;
        sheet.write_datetime_with_format(self.row, column, time, &format)?;
        Ok(())
    }

    /// Makes the column at least `width` pixels wide, unless it is the widest already.
    fn widen(&mut self, column: u16, width: u32) {
        if let Some(widest) = self.widths.get_mut(usize::from(column)) {
            *widest = width.min(WIDEST).max(*widest);
        }
    }

    /// The content of the file.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be read.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, ApiError> {
        let last = self.last_column();
        let sheet = self.workbook.worksheet_from_index(0)?;
        for (column, width) in (0..).zip(self.widths) {
            sheet.set_column_width_pixels(column, width)?;
        }
        if self.long_row == Some(self.row) {
            // Ends the last row, which the library would write twice because it has a height.
            sheet.write_blank(self.row + 1, 0, &Format::new())?;
        }
        let legend = self.long_row.map_or("", |_| LONG.written_in(self.language));
        sheet
            .autofilter(1, 0, self.row, last)?
            .ignore_error_range(0, 0, self.row, last, IgnoreError::NumberStoredAsText)?
            .set_footer(format!("&L{legend}&R&P / &N"));
        Ok(self.workbook.save_to_buffer()?)
    }

    fn last_column(&self) -> u16 {
        u16::try_from(self.widths.len()).map_or(u16::MAX, |count| count.saturating_sub(1))
    }
}

fn heading_width(heading: &str) -> u32 {
    let width = heading.lines().map(cell_autofit_width).max().unwrap_or_default() + BUTTON;
    width.min(HEADING.max(width / 4)).clamp(NARROWEST, WIDEST)
}

/// The number, if it has no more digits than Excel keeps.
fn number(digits: &str) -> Option<f64> {
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    digits.parse().ok().filter(|_| count <= DIGITS)
}

/// That of the first letter; a text without letters, such as a phone number, is read from left to right.
fn reading_direction(text: &str) -> u8 {
    let is_arabic_or_hebrew = |letter| matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}');
    let first = text.chars().find(|letter| letter.is_alphabetic());
    if first.is_some_and(is_arabic_or_hebrew) { RIGHT_TO_LEFT } else { LEFT_TO_RIGHT }
}
