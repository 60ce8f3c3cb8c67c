//! The texts of mails about registrations, in each language: one field each, so that none lacks in a language.

use domain::{Instant, Line, Zone, committee::Committee, course, dates};

/// The texts of one language, and how it writes times and quotations.
pub(super) struct Texts {
    /// Of the `lang` attribute (BCP 47).
    pub(super) code: &'static str,
    /// Of the `dir` attribute.
    pub(super) direction: &'static str,
    /// Between a name and its value.
    pub(super) colon: &'static str,
    moment: fn(Instant, &Zone) -> String,
    /// The hour and the minute of a time of day.
    time: fn(i8, i8) -> String,
    pub(super) hello: &'static str,
    /// After the name in a greeting.
    pub(super) comma: &'static str,
    pub(super) closing: &'static str,
    pub(super) button_fails: &'static str,

    pub(super) confirmed: MailOpening,
    pub(super) received: MailOpening,
    pub(super) waitlisted: MailOpening,
    pub(super) accepted: MailOpening,
    pub(super) accepted_and_waitlisted: MailOpening,
    pub(super) promoted: MailOpening,
    pub(super) rejected: MailOpening,
    pub(super) cancelled_by_person: MailOpening,
    pub(super) cancelled_by_committee: MailOpening,
    pub(super) course_cancelled: MailOpening,
    pub(super) expired_undecided: MailOpening,
    pub(super) expired_waiting: MailOpening,
    pub(super) requests: MailOpening,
    pub(super) reminder: MailOpening,
    pub(super) course_changed: MailOpening,
    pub(super) certificate_issued: MailOpening,
    pub(super) certificate_revoked: MailOpening,

    pub(super) course: &'static str,
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    pub(super) place: &'static str,
    pub(super) committee: &'static str,
    pub(super) contact: &'static str,
    pub(super) position: &'static str,
    pub(super) reason: &'static str,
    pub(super) join_info: &'static str,
    pub(super) waiting: &'static str,
    pub(super) session: &'static str,
    pub(super) ticket: &'static str,
    pub(super) before: &'static str,
    pub(super) now: &'static str,
    /// Beside a session that does not take place.
    pub(super) cancelled: &'static str,
    pub(super) join_info_before: &'static str,
    /// In place of a text that there is not.
    pub(super) none: &'static str,

    pub(super) event_attached: &'static str,
    pub(super) cancelled_event_attached: &'static str,
    pub(super) changed_event_attached: &'static str,
    pub(super) page: &'static str,
    pub(super) page_button: &'static str,
    pub(super) certificate_page: &'static str,
    pub(super) certificate_button: &'static str,
}

/// How a mail begins.
pub(super) struct MailOpening {
    /// The subject, which the title of the course follows.
    pub(super) subject: &'static str,
    /// The first paragraph.
    pub(super) what: &'static str,
}

pub(super) static FRENCH: Texts = Texts {
    code: "fr",
    direction: "ltr",
    colon: "\u{a0}: ",
    moment: |at, zone| {
        let at = zone.local(at);
        let (date, city) = (dates::french(at.date()), of_city(zone));
        format!("le {date} à {}\u{a0}h\u{a0}{:02} (heure {city})", at.hour(), at.minute())
    },
    time: |hour, minute| format!("{hour}\u{a0}h\u{a0}{minute:02}"),
    hello: "Bonjour",
    comma: ",",
    closing: "Bien cordialement,\nL’équipe Halqa",
    button_fails: "Si le bouton ne fonctionne pas, ouvrez cette adresse\u{a0}:",
    confirmed: MailOpening {
        subject: "Votre inscription est confirmée",
        what: "Votre inscription est confirmée.",
    },
    received: MailOpening {
        subject: "Nous avons reçu votre demande",
        what: "Votre demande d’inscription a été transmise au comité, qui vous répondra.",
    },
    waitlisted: MailOpening {
        subject: "Vous êtes sur la liste d’attente",
        what: "Le cours est complet. Vous êtes sur la liste d’attente\u{a0}: dès qu’une place se libérera pour vous, nous vous \
               écrirons.",
    },
    accepted: MailOpening {
        subject: "Votre demande d’inscription est acceptée",
        what: "Le comité a accepté votre demande\u{a0}: votre inscription est confirmée.",
    },
    accepted_and_waitlisted: MailOpening {
        subject: "Votre demande d’inscription est acceptée",
        what: "Le comité a accepté votre demande d’inscription. Le cours est complet\u{a0}: vous êtes sur la liste d’attente. Dès \
               qu’une place se libérera pour vous, nous vous écrirons.",
    },
    promoted: MailOpening {
        subject: "Une place s’est libérée pour vous",
        what: "Une place s’est libérée\u{a0}: votre inscription est maintenant confirmée.",
    },
    rejected: MailOpening {
        subject: "Votre demande d’inscription est refusée",
        what: "Le comité n’a pas pu accepter votre demande d’inscription.",
    },
    cancelled_by_person: MailOpening {
        subject: "Vous avez annulé votre inscription",
        what: "Vous avez annulé votre inscription. Si ce n’est pas vous, prévenez le comité qui organise le cours.",
    },
    cancelled_by_committee: MailOpening {
        subject: "Le comité a annulé votre inscription",
        what: "Le comité a annulé votre inscription.",
    },
    course_cancelled: MailOpening {
        subject: "Votre cours est annulé",
        what: "Le cours est annulé, et votre inscription avec lui.",
    },
    expired_undecided: MailOpening {
        subject: "Votre demande d’inscription a pris fin",
        what: "Le cours a commencé, et le comité n’a pas décidé de votre demande d’inscription.",
    },
    expired_waiting: MailOpening {
        subject: "Aucune place ne s’est libérée",
        what: "Le cours a commencé, aucune place ne s’est libérée.",
    },
    requests: MailOpening {
        subject: "Des demandes d’inscription vous attendent",
        what: "Des demandes d’inscription à ce cours attendent votre décision.",
    },
    reminder: MailOpening {
        subject: "Rappel de votre cours",
        what: "Votre cours a bientôt lieu. Si vous ne pouvez pas venir, annulez votre inscription\u{a0}: une autre personne \
               attend peut-être une place.",
    },
    course_changed: MailOpening {
        subject: "Votre cours a changé",
        what: "Le comité a changé des informations sur votre cours. Votre inscription reste confirmée.",
    },
    certificate_issued: MailOpening {
        subject: "Votre attestation",
        what: "Le comité vous a délivré une attestation. Vous pouvez la télécharger, l’imprimer, et donner son adresse à qui veut \
               la vérifier. Si votre nom n’y est pas exact, corrigez votre compte, puis adressez-vous au comité.",
    },
    certificate_revoked: MailOpening {
        subject: "Votre attestation est révoquée",
        what: "Le comité a révoqué votre attestation. Elle n’est plus valable, et qui la vérifie l’apprend.",
    },
    course: "Cours",
    start: "Début",
    end: "Fin",
    place: "Lieu",
    committee: "Comité",
    contact: "Contact",
    position: "Votre place sur la liste",
    reason: "Motif",
    join_info: "Pour participer",
    waiting: "Demandes en attente",
    session: "Séance",
    ticket: "Votre billet",
    before: "Avant",
    now: "Maintenant",
    cancelled: "annulée",
    join_info_before: "Pour participer, avant",
    none: "–",
    event_attached: "Le cours est joint à ce message\u{a0}: ouvrez le fichier pour l’ajouter à votre agenda.",
    cancelled_event_attached: "L’annulation est jointe à ce message\u{a0}: ouvrez le fichier pour mettre à jour votre agenda.",
    changed_event_attached: "Le cours est joint à ce message avec ses nouvelles dates\u{a0}: ouvrez le fichier pour mettre à jour \
                             votre agenda.",
    page: "Toutes les informations sont sur la page du cours\u{a0}:",
    page_button: "Voir le cours",
    certificate_page: "L’attestation peut être vérifiée à cette adresse\u{a0}:",
    certificate_button: "Voir l’attestation",
};

pub(super) static ARABIC: Texts = Texts {
    code: "ar",
    direction: "rtl",
    colon: ": ",
    moment: |at, zone| {
        let at = zone.local(at);
        let city = match city(zone) {
            Some("Tunis") => "تونس".to_owned(),
            city => isolated(&city.unwrap_or(zone.name()).replace('_', " ")),
        };
        let date = dates::arabic(at.date());
        format!("يوم {date} على الساعة {:02}:{:02} (توقيت {city})", at.hour(), at.minute())
    },
    time: |hour, minute| format!("{hour:02}:{minute:02}"),
    hello: "مرحبًا",
    comma: "،",
    closing: "مع أطيب التحيات،\nفريق حلقة",
    button_fails: "إذا لم يعمل الزر، افتحوا هذا العنوان:",
    confirmed: MailOpening {
        subject: "تم تأكيد تسجيلكم",
        what: "تم تأكيد تسجيلكم في هذه الدورة التكوينية.",
    },
    received: MailOpening {
        subject: "تلقّينا طلب تسجيلكم",
        what: "أُحيل طلب تسجيلكم إلى الهيئة، وستجيبكم في أقرب الآجال.",
    },
    waitlisted: MailOpening {
        subject: "أنتم على قائمة الانتظار",
        what: "اكتملت المقاعد في هذه الدورة التكوينية. أنتم على قائمة الانتظار، وسنراسلكم حال شغور مقعد لفائدتكم.",
    },
    accepted: MailOpening {
        subject: "تم قبول طلب تسجيلكم",
        what: "قبلت الهيئة طلبكم، وتم تأكيد تسجيلكم.",
    },
    accepted_and_waitlisted: MailOpening {
        subject: "تم قبول طلب تسجيلكم",
        what: "قبلت الهيئة طلب تسجيلكم. اكتملت المقاعد في هذه الدورة التكوينية، وأنتم على قائمة الانتظار. سنراسلكم حال شغور مقعد \
               لفائدتكم.",
    },
    promoted: MailOpening {
        subject: "شغر مقعد لفائدتكم",
        what: "شغر مقعد، وتم الآن تأكيد تسجيلكم.",
    },
    rejected: MailOpening {
        subject: "لم يُقبل طلب تسجيلكم",
        what: "تعذّر على الهيئة قبول طلب تسجيلكم.",
    },
    cancelled_by_person: MailOpening {
        subject: "لقد ألغيتم تسجيلكم",
        what: "لقد ألغيتم تسجيلكم. إن لم تكونوا أنتم من ألغاه، فالرجاء إعلام الهيئة المنظمة للدورة.",
    },
    cancelled_by_committee: MailOpening {
        subject: "ألغت الهيئة تسجيلكم",
        what: "ألغت الهيئة تسجيلكم.",
    },
    course_cancelled: MailOpening {
        subject: "تم إلغاء دورتكم التكوينية",
        what: "تم إلغاء الدورة التكوينية، وأُلغي تسجيلكم تبعًا لذلك.",
    },
    expired_undecided: MailOpening {
        subject: "انتهت صلوحية طلب تسجيلكم",
        what: "انطلقت الدورة التكوينية، ولم تبتّ الهيئة في طلب تسجيلكم.",
    },
    expired_waiting: MailOpening {
        subject: "لم يشغر أي مقعد",
        what: "انطلقت الدورة التكوينية، ولم يشغر أي مقعد.",
    },
    requests: MailOpening {
        subject: "طلبات تسجيل في انتظار قراركم",
        what: "توجد طلبات تسجيل في هذه الدورة التكوينية تنتظر قراركم.",
    },
    reminder: MailOpening {
        subject: "تذكير بدورتكم التكوينية",
        what: "تنعقد دورتكم التكوينية قريبًا. إن تعذّر عليكم الحضور، فالرجاء إلغاء تسجيلكم: قد ينتظر شخص آخر مقعدًا.",
    },
    course_changed: MailOpening {
        subject: "تغييرات في دورتكم التكوينية",
        what: "غيّرت الهيئة معلومات تخص دورتكم التكوينية. يبقى تسجيلكم مؤكدًا.",
    },
    certificate_issued: MailOpening {
        subject: "شهادتكم",
        what: "سلّمتكم الهيئة شهادة. يمكنكم تنزيلها وطباعتها، ومدّ من يريد التثبت منها بعنوانها. إن لم يكن اسمكم فيها صحيحًا، \
               فصحّحوه في حسابكم ثم اتصلوا بالهيئة.",
    },
    certificate_revoked: MailOpening {
        subject: "تم سحب شهادتكم",
        what: "سحبت الهيئة شهادتكم. لم تعد صالحة، ويعلم بذلك كل من يتثبت منها.",
    },
    course: "الدورة التكوينية",
    start: "البداية",
    end: "النهاية",
    place: "المكان",
    committee: "الهيئة",
    contact: "للاتصال",
    position: "ترتيبكم في القائمة",
    reason: "السبب",
    join_info: "للمشاركة",
    waiting: "عدد الطلبات",
    session: "الحصة",
    ticket: "تذكرتكم",
    before: "سابقًا",
    now: "الآن",
    cancelled: "ملغاة",
    join_info_before: "للمشاركة، سابقًا",
    none: "–",
    event_attached: "تجدون موعد الدورة مرفقًا بهذه الرسالة: افتحوا الملف لإضافته إلى رزنامتكم.",
    cancelled_event_attached: "تجدون إلغاء الموعد مرفقًا بهذه الرسالة: افتحوا الملف لتحيين رزنامتكم.",
    changed_event_attached: "تجدون الدورة بمواعيدها الجديدة مرفقة بهذه الرسالة: افتحوا الملف لتحيين رزنامتكم.",
    page: "كل المعلومات متوفرة على صفحة الدورة:",
    page_button: "عرض الدورة",
    certificate_page: "يمكن التثبت من الشهادة على هذا العنوان:",
    certificate_button: "عرض الشهادة",
};

impl Texts {
    /// The texts in the language of a registration or course: Arabic, else French.
    pub(super) fn of(language: &course::Language) -> &'static Self {
        if language.code() == "AR" { &ARABIC } else { &FRENCH }
    }

    /// `at` in `zone`.
    pub(super) fn moment(&self, at: Instant, zone: &Zone) -> String {
        (self.moment)(at, zone)
    }

    /// The day of `start` and the times until `end`, in `zone`.
    pub(super) fn span(&self, start: Instant, end: Option<Instant>, zone: &Zone) -> String {
        let is_same_day = |end: &Instant| zone.day_start(*end) == zone.day_start(start);
        let time = |at: Instant| (self.time)(zone.local(at).hour(), zone.local(at).minute());
        match end {
            None => self.moment(start, zone),
            Some(end) if is_same_day(&end) => {
                format!("{} – {}", self.moment(start, zone), time(end))
            }
            Some(end) => format!("{} – {}", self.moment(start, zone), self.moment(end, zone)),
        }
    }

    /// The name of `committee` in this language.
    pub(super) fn name_of<'a>(&self, committee: &'a Committee) -> &'a Line<200> {
        if self.direction == "rtl" { &committee.name_arabe } else { &committee.name_latin }
    }

    /// `text`, which people wrote: kept apart, if its letters may run against those around it.
    pub(super) fn quoted(&self, text: &str) -> String {
        let is_rtl = |c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
        if self.direction == "rtl" || text.contains(is_rtl) {
            isolated(text)
        } else {
            text.to_owned()
        }
    }
}

/// `text` in a direction of its own, that of its first strong letter, so that neither moves the brackets of the other
/// (<https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates>).
fn isolated(text: &str) -> String {
    format!("\u{2068}{text}\u{2069}")
}

/// The city that `zone` is named after, with « de »; the name of one without a city, such as `UTC`.
fn of_city(zone: &Zone) -> String {
    let Some(city) = city(zone) else {
        return zone.name().to_owned();
    };
    let of = if city.starts_with(['A', 'E', 'I', 'O', 'U']) { "d’" } else { "de " };
    format!("{of}{}", city.replace('_', " "))
}

fn city(zone: &Zone) -> Option<&str> {
    zone.name().rsplit_once('/').map(|(_, city)| city)
}
