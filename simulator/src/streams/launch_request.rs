//! What a program asks of a launch besides its parameters.

use super::attributes::{Attribute, Hints, StreamAttributes};
use super::launch::LaunchShape;
use super::programmatic::Signals;
use crate::error::{Result, code};

/// What a program asks of a launch besides its parameters.
#[derive(Clone, Default)]
pub(crate) struct LaunchRequest {
    pub(crate) shape: LaunchShape,
    pub(crate) hints: Hints,
    pub(crate) signals: Signals,
}

impl LaunchRequest {
    /// A launch of this shape, which takes the rest from its stream.
    pub(crate) fn of_stream(shape: LaunchShape, stream: &StreamAttributes) -> Self {
        let shape = LaunchShape {
            priority: Some(stream.priority),
            ..shape
        };
        Self {
            shape,
            hints: stream.hints,
            signals: Signals::default(),
        }
    }

    /// Sets one attribute.
    pub(crate) fn set(&mut self, attribute: Attribute, device: usize) -> Result {
        let Some(other) = self.hints.take(attribute.check(device)?) else {
            return Ok(());
        };
        match other {
            Attribute::Cooperative(cooperative) => self.shape.cooperative = cooperative,
            Attribute::Cluster(size) => self.shape.cluster = size,
            Attribute::Priority(priority) => self.shape.priority = Some(priority),
            Attribute::EarlyStart(allowed) => self.signals.early = allowed,
            Attribute::ProgrammaticEvent {
                event,
                at_block_start,
            } => self.signals.programmatic = Some((event, at_block_start)),
            Attribute::CompletionEvent(event) => self.signals.started = Some(event),
            // The simulator has no L1 cache.
            Attribute::Carveout(_) | Attribute::Ignored => {}
            _ => return Err(code::INVALID_VALUE),
        }
        Ok(())
    }
}
