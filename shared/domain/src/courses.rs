//! Courses and their questionnaires.

pub mod course;
pub mod question;
