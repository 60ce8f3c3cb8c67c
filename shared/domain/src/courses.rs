//! Courses and their questionnaires.

pub mod course;
pub mod placed_question;
pub mod question;
