//! Signals or waits that a stream or a node performs together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::object::{Issued, SEMAPHORES, Semaphore};
use crate::context::Context;
use crate::error::{Result, code};
use crate::work::{self, host};
use warpsmith_abi::fault::{Fault, FaultKind};
use warpsmith_abi::{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUexternalSemaphore,
};

/// What a program says of one signal or wait.
pub(crate) trait SemaphoreParameters: Copy {
    /// The value of a timeline.
    fn value(&self) -> u64;
    fn flags(&self) -> u32;
}

impl SemaphoreParameters for CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
    fn value(&self) -> u64 {
        self.params.fence.value
    }

    fn flags(&self) -> u32 {
        self.flags
    }
}

impl SemaphoreParameters for CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
    fn value(&self) -> u64 {
        self.params.fence.value
    }

    fn flags(&self) -> u32 {
        self.flags
    }
}

/// Signals or waits, with the parameters of the one or the other.
pub(crate) struct SemaphoreBatch<P> {
    semaphores: Arc<[Arc<Semaphore>]>,
    given: Arc<Given<P>>,
    /// Of one that a stream holds.
    issued: Option<Arc<Issued>>,
}

/// What the program gave.
struct Given<P> {
    handles: Box<[CUexternalSemaphore]>,
    parameters: Box<[P]>,
}

// SAFETY: the driver never looks through the pointers in it; handles are numbers, and the parameters' pointers are of other libraries.
unsafe impl<P> Send for Given<P> {}
// SAFETY: a shared reference gives numbers: handles, and pointers through which nothing here looks.
unsafe impl<P> Sync for Given<P> {}

impl<P> Clone for SemaphoreBatch<P> {
    fn clone(&self) -> Self {
        Self {
            semaphores: Arc::clone(&self.semaphores),
            given: Arc::clone(&self.given),
            issued: self.issued.clone(),
        }
    }
}

impl<P> SemaphoreBatch<P> {
    /// The handles as the program gave them. They stay where they are as long as a clone of the batch lives.
    pub(crate) fn handles(&self) -> &[CUexternalSemaphore] {
        &self.given.handles
    }

    /// The parameters as the program gave them. They stay where they are as long as a clone of the batch lives.
    pub(crate) fn parameters(&self) -> &[P] {
        &self.given.parameters
    }

    /// Something is issued with it that is no stream's signal or wait, as the launch of a graph: the semaphores are in use until the result
    /// is dropped.
    pub(crate) fn in_use(&self) -> Issued {
        self.issue(|_| None)
    }

    fn issue(&self, waits_for: impl Fn(usize) -> Option<u64>) -> Issued {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        for (index, semaphore) in self.semaphores.iter().enumerate() {
            semaphore.issue(number, waits_for(index));
        }
        Issued {
            number,
            semaphores: self.semaphores.to_vec(),
        }
    }

    fn number(&self) -> Option<u64> {
        self.issued.as_ref().map(|issued| issued.number)
    }
}

impl<P: SemaphoreParameters> SemaphoreBatch<P> {
    /// # Errors
    ///
    /// Invalid value without a semaphore, with more of the one than of the other, or with flags, which are for semaphores of another library;
    /// invalid handle if a semaphore does not exist.
    pub(crate) fn new(handles: &[CUexternalSemaphore], parameters: &[P]) -> Result<Self> {
        let has_flags = parameters.iter().any(|given| given.flags() != 0);
        if handles.is_empty() || handles.len() != parameters.len() || has_flags {
            return Err(code::INVALID_VALUE);
        }
        let semaphores = handles.iter().map(|&handle| SEMAPHORES.get(handle));
        Ok(Self {
            semaphores: semaphores.collect::<Result<_>>()?,
            given: Arc::new(Given {
                handles: handles.into(),
                parameters: parameters.into(),
            }),
            issued: None,
        })
    }

    /// Whether an executable graph may have `other` instead: as many semaphores.
    pub(crate) fn may_become(&self, other: &Self) -> bool {
        self.semaphores.len() == other.semaphores.len()
    }

    fn each(&self) -> impl Iterator<Item = (&Semaphore, u64)> {
        let values = self.parameters().iter().map(P::value);
        self.semaphores
            .iter()
            .map(|semaphore| &**semaphore)
            .zip(values)
    }
}

impl SemaphoreBatch<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> {
    /// The signals as a stream holds them.
    pub(in crate::streams) fn issued_in_stream(self) -> Self {
        let issued = self.issue(|_| None);
        Self {
            issued: Some(Arc::new(issued)),
            ..self
        }
    }

    /// Signals all.
    pub(in crate::streams) fn signal(&self, context: &Context) {
        // What came before is seen by whoever sees the signal, and may be known to anybody from now on.
        fence(Ordering::SeqCst);
        if let Some(place) = work::place() {
            host::learn(|clock| place.enter(clock));
        }
        for (semaphore, value) in self.each() {
            if let Err(text) = semaphore.signal(value, self.number()) {
                fail(context, text);
            }
        }
    }
}

impl SemaphoreBatch<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> {
    /// The waits as a stream holds them.
    pub(in crate::streams) fn issued_in_stream(self) -> Self {
        let issued = self.issue(|index| Some(self.parameters()[index].value()));
        Self {
            issued: Some(Arc::new(issued)),
            ..self
        }
    }

    /// Waits for all, unless the context ends meanwhile.
    pub(in crate::streams) fn wait(&self, context: &Context) {
        for (semaphore, value) in self.each() {
            match semaphore.wait(value, self.number(), context) {
                Ok(true) => {}
                Ok(false) => return,
                Err(text) => return fail(context, text),
            }
        }
        fence(Ordering::SeqCst);
    }
}

fn fail(context: &Context, text: String) {
    context.fail(Fault::outside_kernels(FaultKind::Other, text));
}
