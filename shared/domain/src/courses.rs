//! Courses and their questionnaires.

pub mod catalogue;
pub mod course;
pub mod placed_question;
pub mod question;
