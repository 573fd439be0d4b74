//! Values that the graph of a capture owns.

use std::sync::{Arc, Mutex};

use super::capture::Capture;
use crate::sync::lock;

impl Capture<'_, '_> {
    /// Has the graph own a value, as [`GraphBuilder::keep`](crate::GraphBuilder::keep) does: what code that is captured makes for its own work, and
    /// what would be dropped by an event or a [`host_fn`](crate::Stream::host_fn) in a stream. It is dropped once, when the graph, its copies and
    /// the executable graphs made of them are gone and their launches have ended.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let mut stream = gpu.stream()?;
    /// let mut words = stream.zeroed::<u32>(4)?;
    /// let plan = Arc::new("the plan of a transform");
    /// let graph = stream.capture(|capture| {
    ///     capture.keep(plan.clone());
    ///     capture.fill(&mut words, 7)
    /// })?;
    /// let mut ready = graph.instantiate()?;
    /// drop(graph);
    /// ready.launch(&stream)?;
    /// assert_eq!(Arc::strong_count(&plan), 2);
    /// drop(ready);
    /// gpu.synchronize()?;
    /// assert_eq!(Arc::strong_count(&plan), 1);
    /// # Ok(())
    /// # }
    /// ```
    // covers: GRAPH-41
    pub fn keep(&self, value: impl Send + 'static) {
        // Nobody takes the value's lock: it makes it `Sync`.
        lock(&self.state.recorded)
            .contents
            .kept
            .push(Arc::new(Mutex::new(value)));
    }
}
