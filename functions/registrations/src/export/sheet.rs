//! A workbook of Excel 2007 and later, as other spreadsheet programs open it, too.

use common::ApiError;
use domain::registration::HeadingLanguage;
use jiff::civil::{Date, DateTime, Time, date};
use rust_xlsxwriter::{
    Format, FormatAlign, IgnoreError, IntoExcelDateTime, Workbook, Worksheet, XlsxError,
    cell_autofit_width,
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
/// A heading makes a column as wide as 14 digits, as its longest word, or as a third of its text, whatever is most.
const HEADING: u32 = 14 * DIGIT + 5;
/// The button of the filter, and what bold letters are wider.
const BUTTON: u32 = 20;

/// Sizes of letters, in points.
const USUAL: u32 = 11;
const SMALL: u32 = 6;
/// The heights of their lines, in pixels.
const LINE: u32 = 20;
const SMALL_LINE: u32 = 11;

const PAPER_A4: u8 = 9;
const LEFT_TO_RIGHT: u8 = 1;
const RIGHT_TO_LEFT: u8 = 2;
const PALE_YELLOW: u32 = 0xFFF9D6;
pub(super) const PALE_GREY: u32 = 0xE7E6E6;

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    /// The digits of a JSON number.
    Number(String),
    /// Shown with two decimals.
    Hours(f64),
    Date(Date),
    Time(Time),
    /// Local.
    Moment(DateTime),
}

/// The space of a text. Heights are written, because LibreOffice does not fit rows to texts that it opens. A text of more
/// lines than usual is in small letters; one that is still too high gets a yellow cell, as a mark that it continues. Excel
/// shows no higher row than 409 points
/// (<https://support.microsoft.com/en-us/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3>), and
/// LibreOffice continues higher ones on another page. In small letters 4,000 of them fit.
struct Space {
    /// In pixels.
    width: u32,
    /// Most lines in letters of the usual size.
    lines: u32,
    /// In pixels.
    height: u32,
}

const ROW: Space = Space { width: WIDEST, lines: 20, height: 545 };

/// A sheet that is written row by row: rows do not stay in memory.
pub(super) struct Sheet {
    workbook: Workbook,
    language: HeadingLanguage,
    row: u32,
    /// The height of the row, in pixels; 0 if nothing has more than one line.
    height: u32,
    /// The widths of the columns, in pixels.
    widths: Vec<u32>,
    /// Whether a text is higher than its cell.
    has_long_texts: bool,
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
        add_worksheet(&mut workbook, language, name, 2)?
            .set_print_gridlines(true)
            .set_margins(0.4, 0.4, 0.4, 0.6, 0.3, 0.3);
        let widths = headings.iter().map(|heading| heading_width(heading)).collect();
        let mut new = Self { workbook, language, row: 1, height: 0, widths, has_long_texts: false };
        new.write_title(title)?;
        for (column, heading) in (0..).zip(headings) {
            let space = Space { width: heading_width(heading), lines: 6, height: 6 * LINE };
            let format = Format::new().set_bold().set_background_color(PALE_GREY);
            new.write_text(column, heading, format, &space)?;
            new.heighten(LINE * heading_lines(heading).min(space.lines))?;
        }
        Ok(new)
    }

    /// One cell across all columns, as high as its lines.
    fn write_title(&mut self, title: &str) -> Result<(), XlsxError> {
        let format = line_format(self.language).set_bold();
        let letters = self.widths.iter().sum::<u32>() / DIGIT;
        let count = u32::try_from(title.chars().count()).unwrap_or(u32::MAX).div_ceil(letters);
        let last = self.last_column();
        let sheet = self.workbook.worksheet_from_index(0)?;
        sheet.set_row_height_pixels(0, LINE * count + LINE / 2)?;
        sheet.merge_range(0, 0, 0, last, title, &format)?;
        Ok(())
    }

    /// Adds a row. Every text is a text, never a formula.
    ///
    /// # Errors
    /// 500 when the temporary file cannot be written.
    pub(super) fn add(&mut self, cells: impl Iterator<Item = Cell>) -> Result<(), ApiError> {
        self.row += 1;
        self.height = 0;
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
                Some(number) => self.write_number(column, number, &number.to_string()),
                None => self.write_row_text(column, &digits),
            },
            Cell::Hours(hours) => self.write_number(column, hours, &format!("{hours:.2}")),
            Cell::Date(day) if day < FIRST_DATE => {
                self.widen(column, cell_autofit_width(DATE));
                let format = Format::new().set_align(FormatAlign::Right);
                self.write_text(column, &day.strftime("%d/%m/%Y").to_string(), format, &ROW)
            }
            Cell::Date(day) => self.write_time(column, day, DATE),
            Cell::Time(time) => self.write_time(column, time, TIME),
            Cell::Moment(at) => self.write_time(column, at, MOMENT),
        }
    }

    fn write_row_text(&mut self, column: u16, text: &str) -> Result<(), XlsxError> {
        self.widen(column, line_widths(text).max().unwrap_or_default());
        self.write_text(column, text, Format::new(), &ROW)
    }

    fn write_text(
        &mut self,
        column: u16,
        text: &str,
        format: Format,
        space: &Space,
    ) -> Result<(), XlsxError> {
        let format = format.set_text_wrap().set_align(FormatAlign::Top);
        let mut format = format.set_reading_direction(reading_direction(text));
        let lines = lines_of(text, USUAL, space.width);
        let mut height = lines * LINE;
        if lines > space.lines {
            format = format.set_font_size(SMALL);
            height = lines_of(text, SMALL, space.width) * SMALL_LINE;
        }
        if height > space.height {
            format = format.set_background_color(PALE_YELLOW);
            height = space.height;
            self.has_long_texts = true;
        }
        self.heighten(height)?;
        let sheet = self.workbook.worksheet_from_index(0)?;
        sheet.write_string_with_format(self.row, column, text, &format)?;
        Ok(())
    }

    /// Makes the row at least `height` pixels high.
    fn heighten(&mut self, height: u32) -> Result<(), XlsxError> {
        if height > LINE.max(self.height) {
            self.height = height;
            let sheet = self.workbook.worksheet_from_index(0)?;
            sheet.set_row_height_pixels(self.row, height)?;
        }
        Ok(())
    }

    /// Shows all `digits`; without a format, Excel shows twelve digits as a power of ten.
    fn write_number(&mut self, column: u16, number: f64, digits: &str) -> Result<(), XlsxError> {
        self.widen(column, cell_autofit_width(digits));
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
        if self.height > 0 {
            end_row(sheet, self.row)?;
        }
        let legend = if self.has_long_texts { LONG.written_in(self.language) } else { "" };
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

/// Adds a worksheet called `name`, from right to left for Arabic. Its first `head` rows stay in view and are repeated on each
/// page: A4, landscape, with all columns.
pub(super) fn add_worksheet<'a>(
    workbook: &'a mut Workbook,
    language: HeadingLanguage,
    name: &str,
    head: u32,
) -> Result<&'a mut Worksheet, XlsxError> {
    let sheet = workbook.add_worksheet_with_constant_memory()?;
    sheet
        .set_name(name)?
        .set_right_to_left(language == HeadingLanguage::Arabic)
        .set_freeze_panes(head, 0)?
        .set_paper_size(PAPER_A4)
        .set_landscape()
        .set_print_fit_to_pages(1, 0)
        .set_repeat_rows(0, head - 1)
}

/// The format of a line across all columns.
pub(super) fn line_format(language: HeadingLanguage) -> Format {
    let direction = if language == HeadingLanguage::Arabic { RIGHT_TO_LEFT } else { LEFT_TO_RIGHT };
    let format = Format::new().set_text_wrap().set_reading_direction(direction);
    format.set_align(FormatAlign::VerticalCenter)
}

/// Ends `row`, the last one of `sheet`; the library would write one with a height twice.
pub(super) fn end_row(sheet: &mut Worksheet, row: u32) -> Result<(), XlsxError> {
    sheet.write_blank(row + 1, 0, &Format::new())?.clear_cell(row + 1, 0);
    Ok(())
}

/// The number of lines of `text` in letters of `size` points, in a cell of `width` pixels.
pub(super) fn lines_of(text: &str, size: u32, width: u32) -> u32 {
    let lines = line_widths(text).map(|line| {
        let line = line * size / USUAL;
        // Words leave a tenth of the lines empty.
        if line <= width { 1 } else { line.div_ceil(width * 9 / 10) }
    });
    lines.sum()
}

/// The widths of the lines of `text`, in pixels.
fn line_widths(text: &str) -> impl Iterator<Item = u32> {
    text.split('\n').map(|line| {
        // In pieces, because no more than 233 letters are measured.
        let letters: Vec<char> = line.chars().collect();
        letters.chunks(200).map(|piece| cell_autofit_width(&String::from_iter(piece))).sum()
    })
}

fn heading_width(heading: &str) -> u32 {
    let word = heading.split_whitespace().map(cell_autofit_width).max().unwrap_or_default();
    let width = line_widths(heading).max().unwrap_or_default();
    (word + BUTTON).max(HEADING.min(width + BUTTON)).max(width / 3).clamp(NARROWEST, WIDEST)
}

/// The number of lines of `heading`, whose words stay whole, beside the button.
fn heading_lines(heading: &str) -> u32 {
    let most = heading_width(heading) - BUTTON;
    let (mut lines, mut width) = (1, 0);
    for word in heading.split_whitespace().map(cell_autofit_width) {
        width += word;
        if width > most {
            lines += 1;
            width = word;
        }
    }
    lines
}

/// The number, if it has no more digits than Excel keeps.
fn number(digits: &str) -> Option<f64> {
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    digits.parse().ok().filter(|_| count <= DIGITS)
}

/// The direction of the first letter; a text without letters, such as a phone number, is read from left to right.
pub(super) fn reading_direction(text: &str) -> u8 {
    let is_arabic_or_hebrew = |letter| matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}');
    let first = text.chars().find(|letter| letter.is_alphabetic());
    if first.is_some_and(is_arabic_or_hebrew) { RIGHT_TO_LEFT } else { LEFT_TO_RIGHT }
}
