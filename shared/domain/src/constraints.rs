//! The constraints of the types of this crate.

use crate::{
    CommitteeId, Constrained, Constraint, CourseSessionId, E164, Email, Instant, Line, Price,
    Prose, ShortCode, UserId,
    code::{SendMethod, TypedCode},
    constraint::{Hint, Unit},
    course::{Currency, Language},
    email,
    file::FileName,
    price,
    sms::{self, SenderId},
    subdomain::{self, Label, RootDomain},
};

macro_rules! constrained {
    ($($type:ty => $constraint:expr;)*) => {$(
        impl Constrained for $type {
            fn constraint() -> Constraint {
                $constraint
            }
        }
    )*};
}

constrained! {
    CommitteeId => Constraint::format("uuid");
    CourseSessionId => Constraint::format("uuid");
    UserId => Constraint::format("uuid");
    Currency => Constraint::format("currency");
    E164 => Constraint::format("e164");
    Email => Constraint {
        max: Some(email::MAX_BYTES as f64),
        unit: Unit::Bytes,
        ..Constraint::format("email")
    };
    FileName => Constraint { hint: Some(Hint::FileName), ..Line::<255>::constraint() };
    Instant => Constraint::format("date-time");
    Label => Constraint::length(1, subdomain::MAX_LABEL, Unit::Characters);
    Language => Constraint::format("language");
    Price => Constraint {
        decimals: Some(price::DECIMALS),
        ..Constraint::range(0.0, price::MAX as f64 / 1000.0)
    };
    RootDomain => Constraint {
        min: Some(1.0),
        max: Some(subdomain::MAX_NAME as f64),
        unit: Unit::Characters,
        ..Constraint::format("domain")
    };
    SendMethod => Constraint::allowed(["email", "sms"]);
    SenderId => Line::<11>::constraint();
    ShortCode => Line::<10>::constraint();
    TypedCode => Line::<128>::constraint();
    bool => Constraint::allowed([true, false]);
    sms::Text => Constraint::length(1, sms::MAX_LENGTH, Unit::Characters);
}

impl<const MAX: usize> Constrained for Line<MAX> {
    fn constraint() -> Constraint {
        Constraint::length(1, MAX, Unit::Characters)
    }
}

impl<const MAX: usize> Constrained for Prose<MAX> {
    fn constraint() -> Constraint {
        Constraint::length(1, MAX, Unit::Characters)
    }
}
