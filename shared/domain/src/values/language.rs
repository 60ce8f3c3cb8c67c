//! The language of texts for people.

/// A language in which the service writes mails, text messages and the texts of its responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// French.
    #[default]
    French,
}
