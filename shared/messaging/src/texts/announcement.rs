//! Mails that remind confirmed people of a course, or tell that it has changed.

use domain::{
    Instant, Line, Prose, Zone,
    attendance::{Announcement, AnnouncementNotice, CourseSessions, Schedule, Slot, Ticket},
    committee::Committee,
    course::Course,
    registration::{CalendarContent, EventStatus, calendar},
};

use super::{
    Part, Words,
    language::{MailOpening, Texts},
    registration::link,
};

/// What such a mail names, as it is when the mail is sent.
#[derive(Debug, Clone)]
pub struct AnnouncementFacts {
    /// The course.
    pub course: Course,
    /// Its sessions.
    pub sessions: CourseSessions,
    /// When and where it takes place.
    pub schedule: Schedule,
    /// The same before the change.
    pub former: Option<Schedule>,
    /// Its committee; `None` if it was deleted.
    pub committee: Option<Committee>,
    /// The ticket of the person.
    pub ticket: Option<Ticket>,
    /// Whether the mailbox is the person's. Another's gets no texts that people wrote.
    pub is_vouched_for: bool,
}

impl AnnouncementFacts {
    /// The title of the course, if it may be shown.
    pub(super) fn title(&self) -> Option<&Line<200>> {
        self.is_vouched_for.then_some(&self.course.summary.course_title)
    }

    /// The events to attach to the mail about a change.
    pub(super) fn calendar(
        &self,
        notice: &AnnouncementNotice,
        public_url: &str,
        now: Instant,
    ) -> Option<String> {
        if !self.is_vouched_for || matches!(notice.announcement, Announcement::Reminder(_)) {
            return None;
        }
        let (course, sessions) = (&self.course, &self.sessions);
        let join_info = self.schedule.join_info.as_ref();
        let content = CalendarContent { course, sessions, join_info };
        calendar(&content, EventStatus::Confirmed, public_url, now)
    }
}

/// The subject without the title of the course, and the parts between greeting and closing.
pub(super) fn announcement_words(
    notice: &AnnouncementNotice,
    facts: Option<&AnnouncementFacts>,
    public_url: &str,
    zone: &Zone,
) -> Words {
    let texts = Texts::of(&notice.language);
    let MailOpening { subject, what } = match notice.announcement {
        Announcement::Reminder(_) => &texts.reminder,
        Announcement::Change(_) => &texts.course_changed,
    };
    let mut parts = vec![Part::Paragraph((*what).to_owned())];
    if let Some(facts) = facts {
        let page = Page { facts, texts, zone };
        parts.push(page.course(notice));
        if let Announcement::Change(changed_at) = notice.announcement {
            parts.extend(page.changes(changed_at));
            if facts.is_vouched_for && facts.course.summary.start_at.is_some() {
                parts.push(Part::Paragraph(texts.changed_event_attached.to_owned()));
            }
        }
        parts.push(link(&facts.course, texts, public_url));
    }
    (subject, parts)
}

/// What the parts of a mail have in common.
struct Page<'a> {
    facts: &'a AnnouncementFacts,
    texts: &'static Texts,
    zone: &'a Zone,
}

impl Page<'_> {
    /// The course, the slots of the day of a reminder, and what a person needs there.
    fn course(&self, notice: &AnnouncementNotice) -> Part {
        let Self { facts, texts, zone } = self;
        let mut named = Vec::new();
        let mut add = |name, text: Option<String>| named.extend(text.map(|text| (name, text)));
        add(texts.course, self.written(Some(facts.course.summary.course_title.as_str())));
        if let Announcement::Reminder(reminder) = notice.announcement {
            let is_that_day = |slot: &&Slot| {
                let day = slot.start.map(|start| zone.day_start(start));
                !slot.cancelled && day == Some(zone.day_start(reminder.start))
            };
            for slot in facts.schedule.slots.iter().filter(is_that_day) {
                add(texts.session, Some(self.slot(slot)));
            }
        }
        let committee = facts.committee.as_ref().map(|committee| texts.name_of(committee).as_str());
        add(texts.committee, self.written(committee));
        add(texts.contact, self.written(facts.course.details.contact().as_deref()));
        // In groups, so that it has no run of six digits, which programs take for a code.
        let ticket = facts.ticket.as_ref().map(Ticket::grouped);
        add(texts.ticket, self.written(ticket.as_deref()));
        add(texts.join_info, self.written(facts.schedule.join_info.as_ref().map(Prose::as_str)));
        Part::Facts(named)
    }

    /// What was and what is, of each slot that changed, and of what people need to join.
    fn changes(&self, changed_at: Instant) -> impl Iterator<Item = Part> {
        let Self { facts, texts, .. } = self;
        let former = facts.former.clone().unwrap_or_default();
        let slot = |slot: Option<&Slot>| {
            slot.map_or_else(|| texts.none.to_owned(), |slot| self.slot(slot))
        };
        let mut parts: Vec<Part> = former
            .changes(&facts.schedule, changed_at)
            .iter()
            .map(|change| {
                let (was, is) = (slot(change.was.as_ref()), slot(change.is.as_ref()));
                Part::Facts(vec![(texts.before, was), (texts.now, is)])
            })
            .collect();
        if former.join_info != facts.schedule.join_info {
            let was = former.join_info.as_ref().map_or(texts.none, Prose::as_str);
            let was = self.written(Some(was));
            parts.extend(was.map(|was| Part::Facts(vec![(texts.join_info_before, was)])));
        }
        parts.into_iter()
    }

    /// When and where a slot is.
    fn slot(&self, slot: &Slot) -> String {
        let Self { texts, zone, .. } = self;
        let span = slot.start.map(|start| texts.span(start, slot.end, zone));
        let cancelled = slot.cancelled.then(|| texts.cancelled.to_owned());
        let parts: Vec<String> =
            [span, self.written(slot.place.as_deref()), cancelled].into_iter().flatten().collect();
        if parts.is_empty() { texts.none.to_owned() } else { parts.join(", ") }
    }

    /// A `text` that people wrote, if the mailbox may get it.
    fn written(&self, text: Option<&str>) -> Option<String> {
        text.filter(|_| self.facts.is_vouched_for).map(str::to_owned)
    }
}
