//! Calls that take something over, and give it back where they fail.

use std::fmt::{self, Debug, Display};

use super::Error;

/// An error, with what the call was to take over.
///
/// `?` turns it into an [`Error`] and drops the rest.
pub struct Refused<V> {
    /// Why.
    pub error: Error,
    /// What was given to the call, as it was.
    pub value: V,
}

impl<V> Refused<V> {
    pub(crate) fn new(error: Error, value: V) -> Refused<V> {
        Refused { error, value }
    }
}

impl<V> From<Refused<V>> for Error {
    fn from(refused: Refused<V>) -> Error {
        refused.error
    }
}

impl<V> Display for Refused<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.error, f)
    }
}

impl<V> Debug for Refused<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.error, f)
    }
}

impl<V> std::error::Error for Refused<V> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}
