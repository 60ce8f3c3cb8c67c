//! A list to sign, on paper: a worksheet for each local day with sessions. It lies open, so it has neither addresses nor
//! phones.

use common::ApiError;
use domain::{
    CourseId, Instant, Line, UserId, Zone,
    attendance::CourseSession,
    committee::Committee,
    course::CourseSummary,
    folded,
    registration::{HeadingLanguage, Registrant, RegistrationState},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::civil::DateTime;
use rust_xlsxwriter::{Format, FormatAlign, FormatBorder, Workbook, Worksheet, XlsxError};
use store::{FullCourse, StoreError};

use super::{
    AT_ONCE, BATCH,
    sheet::{PALE_GREY, add_worksheet, end_row, line_format, lines_of, reading_direction},
    shown,
    words::{HEADINGS, NAME, PRINTED, SIGNATURE, SIGNATURES, TRAINER},
};
use crate::Registrations;

/// Lines for people who are not registered.
const EMPTY_LINES: usize = 5;
/// Rows before the people: three lines, and the headings.
const HEAD: u32 = 4;
/// The height of the headings and the rows below, in points and in pixels.
const HEIGHT: u32 = 26;
const PIXELS: u32 = 35;
/// Sizes of letters in points, with the heights of their lines in pixels.
const LETTERS: [(u32, u32); 3] = [(11, 20), (9, 16), (6, 11)];
/// The widths of numbers and names, in pixels.
const NUMBER_WIDTH: u32 = 75;
const NAME_WIDTH: u32 = 315;
/// What an indented cell has less.
const INDENT: u32 = 12;
/// What the paper has left for signatures, and their narrowest and widest column.
const LEFT: u32 = 640;
const NARROWEST: u32 = 110;
const WIDEST: u32 = 320;

/// What the worksheets have in common.
struct List<'a> {
    course: &'a CourseSummary,
    committee: Option<Committee>,
    language: HeadingLanguage,
    zone: &'a Zone,
    printed_at: Instant,
    /// Numbers and names, in their order.
    people: Vec<(u64, String)>,
}

impl Registrations {
    /// The number of people on the list of `course`, and its file. It has the sessions that are not cancelled.
    pub(super) async fn signatures(
        &self,
        course: &FullCourse,
        language: HeadingLanguage,
        now: Instant,
    ) -> Result<(usize, Vec<u8>), ApiError> {
        let summary = &course.course.summary;
        let list = List {
            course: summary,
            committee: self.store.committee(summary.committee_id).await?,
            language,
            zone: &self.zone,
            printed_at: now,
            people: self.confirmed(summary.course_id).await?,
        };
        let date = |session: &CourseSession| self.zone.local(session.start_at).date();
        let sessions: Vec<&CourseSession> = course.sessions.sessions.held().collect();
        let mut workbook = Workbook::new();
        for day in sessions.chunk_by(|one, next| date(one) == date(next)) {
            list.add(&mut workbook, day)?;
            // Lets the limit of time end a long list.
            tokio::task::yield_now().await;
        }
        Ok((list.people.len(), workbook.save_to_buffer()?))
    }

    /// Numbers and names of those who are confirmed for the course `id`, by last name and name, without erased accounts.
    async fn confirmed(&self, id: CourseId) -> Result<Vec<(u64, String)>, StoreError> {
        let cards = self.cards(id, &[RegistrationState::Confirmed]).await?;
        let users: Vec<UserId> = cards.iter().map(|card| card.user_id).collect();
        let batches: Vec<Vec<UserId>> = users.chunks(BATCH).map(<[UserId]>::to_vec).collect();
        let batches = batches
            .into_iter()
            .map(|users| async move { self.store.registrants(id, &users).await });
        let found: Vec<_> = stream::iter(batches).buffered(AT_ONCE).try_collect().await?;
        // The list may be a little older.
        let is_confirmed = |state| state == RegistrationState::Confirmed;
        let found = found.into_iter().flatten().filter(|(one, _)| is_confirmed(one.card.state));
        let named = found.map(|(one, user)| {
            let Registrant { name, last_name, .. } = one.card.registrant(&user);
            let order = [&last_name, &name].map(|name| folded(name.as_str()));
            (order, one.card.number, format!("{last_name} {name}"))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        Ok(named.into_iter().map(|(_, number, name)| (number, name)).collect())
    }
}

impl List<'_> {
    /// Adds the worksheet of the `day` with these sessions.
    fn add(&self, workbook: &mut Workbook, day: &[&CourseSession]) -> Result<(), XlsxError> {
        let half_days: Vec<(DateTime, DateTime)> =
            day.iter().flat_map(|session| session.half_days(self.zone)).collect();
        let ([(start, _), ..], [.., (_, end)]) = (&half_days[..], &half_days[..]) else {
            return Ok(());
        };
        let lines = self.lines(day, *start, *end);
        let signature = SIGNATURE.written_in(self.language);
        // Start and end stay on one line.
        let hours = |(start, end)| hours(start, end).replace(' ', "\u{a0}");
        let signatures = half_days.iter().map(|one| signature.replace("{hours}", &hours(*one)));
        let [number, ..] = HEADINGS;
        let fixed = [number, NAME].map(|heading| heading.written_in(self.language).to_owned());
        let headings: Vec<String> = fixed.into_iter().chain(signatures).collect();

        let sheet = add_worksheet(workbook, self.language, &start.date().to_string(), HEAD)?;
        sheet.set_margins(0.4, 0.4, 0.3, 0.4, 0.2, 0.2).set_footer("&R&P / &N");
        let last = self.write_head(sheet, lines, headings)?;
        let mut row = HEAD;
        for (number, name) in &self.people {
            self.write_row(sheet, row, last, name)?;
            sheet.write_with_format(row, 0, *number, &centred(framed()))?;
            row += 1;
        }
        for _ in 0..EMPTY_LINES {
            self.write_row(sheet, row, last, "")?;
            row += 1;
        }
        let trainer = TRAINER.written_in(self.language);
        for name in distinct(day.iter().flat_map(|session| &session.trainers)) {
            self.write_row(sheet, row, last, name.as_str())?;
            sheet.write_with_format(row, 0, trainer, &centred(fitted(trainer, NUMBER_WIDTH)))?;
            row += 1;
        }
        end_row(sheet, row - 1)
    }

    /// The lines above the headings, on the `day` with these sessions.
    fn lines(&self, day: &[&CourseSession], start: DateTime, end: DateTime) -> [String; 3] {
        let committee =
            self.committee.as_ref().map(|one| format!("{} — {}", one.name_latin, one.name_arabe));
        let course_place = self.course.place();
        let place = |session: &&CourseSession| {
            session.location.as_ref().map(Line::to_string).or_else(|| course_place.clone())
        };
        let (date, hours) = (start.strftime("%d/%m/%Y"), hours(start, end));
        let mut last = vec![format!("{date} {hours} ({})", self.zone.name())];
        last.extend(distinct(day.iter().filter_map(place)));
        let printed = PRINTED.written_in(self.language);
        last.push(printed.replace("{at}", &shown(self.zone, self.printed_at)));
        [
            format!("{} – {}", self.course.course_title, SIGNATURES.written_in(self.language)),
            committee.unwrap_or_default(),
            last.join(" — "),
        ]
    }

    /// Writes the `lines`, each as high as its text, and the `headings`. Returns the last column.
    fn write_head(
        &self,
        sheet: &mut Worksheet,
        lines: [String; 3],
        headings: Vec<String>,
    ) -> Result<u16, XlsxError> {
        let last = u16::try_from(headings.len() - 1).unwrap_or(u16::MAX);
        let signature = (LEFT / u32::from(last - 1)).clamp(NARROWEST, WIDEST);
        let width = |column| [NUMBER_WIDTH, NAME_WIDTH].get(column).copied().unwrap_or(signature);
        let widths: Vec<u32> = (0..headings.len()).map(width).collect();
        let [usual, lower, _] = LETTERS;
        for (row, (line, (size, height))) in (0..).zip(lines.iter().zip([usual, lower, lower])) {
            let height = lines_of(line, size, widths.iter().sum()) * (height + 2);
            sheet.set_row_height_pixels(row, height)?;
            let format = line_format(self.language).set_font_size(size);
            let format = if row == 0 { format.set_bold() } else { format };
            sheet.merge_range(row, 0, row, last, line, &format)?;
        }
        sheet.set_row_height(HEAD - 1, HEIGHT)?;
        for (column, (heading, width)) in (0..).zip(headings.into_iter().zip(widths)) {
            // Bold letters are wider.
            let format = centred(fitted(&heading, width * 9 / 10)).set_bold();
            let format = format.set_background_color(PALE_GREY);
            sheet.set_column_width_pixels(column, width)?;
            sheet.write_with_format(HEAD - 1, column, heading, &format)?;
        }
        Ok(last)
    }

    /// Writes `name` and the cells to sign, up to the column `last`, into `row`.
    fn write_row(
        &self,
        sheet: &mut Worksheet,
        row: u32,
        last: u16,
        name: &str,
    ) -> Result<(), XlsxError> {
        sheet.set_row_height(row, HEIGHT)?;
        for column in 0..=last {
            sheet.write_blank(row, column, &framed())?;
        }
        // Names in both scripts begin beside the numbers.
        let side = match self.language {
            HeadingLanguage::Arabic => FormatAlign::Right,
            HeadingLanguage::French | HeadingLanguage::English => FormatAlign::Left,
        };
        let format = fitted(name, NAME_WIDTH - INDENT).set_align(side).set_indent(1);
        sheet.write_with_format(row, 1, name, &format)?;
        Ok(())
    }
}

/// The format of `text` in the largest letters in which it fits into a row of a column of `width` pixels.
fn fitted(text: &str, width: u32) -> Format {
    let [.., smallest] = LETTERS;
    let fits = |(size, line): &(u32, u32)| lines_of(text, *size, width) * line <= PIXELS;
    let (size, _) = LETTERS.into_iter().find(fits).unwrap_or(smallest);
    let format = framed().set_font_size(size).set_text_wrap();
    format.set_reading_direction(reading_direction(text))
}

fn framed() -> Format {
    Format::new().set_border(FormatBorder::Thin).set_align(FormatAlign::VerticalCenter)
}

fn centred(format: Format) -> Format {
    format.set_align(FormatAlign::Center)
}

/// Local hours, such as `09:00 – 12:30`.
fn hours(start: DateTime, end: DateTime) -> String {
    format!("{} – {}", start.strftime("%H:%M"), end.strftime("%H:%M"))
}

/// Each of `all` once, in their order.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut distinct, one| {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
        distinct
    })
}
