//! What somebody knows of a thing that only he writes.

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was told that it was done.
    Acknowledged,
    /// It was told that it was not, or it never left.
    Refused,
    /// Nobody was told.
    Unknown,
}

/// The values that a thing may have: the last one that was acknowledged, and those since of which nobody knows.
#[derive(Debug, Clone)]
pub(crate) struct Known<T>(Vec<T>);

impl<T: Clone + PartialEq> Known<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(vec![value])
    }

    /// `value` was written, with this `outcome`.
    pub(crate) fn write(&mut self, outcome: Outcome, value: T) {
        match outcome {
            Outcome::Acknowledged => self.0 = vec![value],
            Outcome::Refused => {}
            Outcome::Unknown => self.0.push(value),
        }
    }

    pub(crate) fn may_be(&self, value: &T) -> bool {
        self.0.contains(value)
    }

    /// The value, if there is no doubt.
    pub(crate) fn surely(&self) -> Option<&T> {
        self.0
            .first()
            .filter(|first| self.0.iter().all(|other| other == *first))
    }

    pub(crate) fn is_surely(&self, value: &T) -> bool {
        self.surely() == Some(value)
    }

    /// All that it may be, the last that was acknowledged first.
    pub(crate) fn all(&self) -> &[T] {
        &self.0
    }
}
