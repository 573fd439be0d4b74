//! Semaphores of other program interfaces, which no GPU knows that a test can make.

use crate::common::*;
use crate::table::calls;
use crate::world::*;

fn before(w: &World) -> *const CUgraphNode {
    given(w.small_node)
}

/// A semaphore for one call, which is signalled.
fn signalled(w: &World) -> *const CUexternalSemaphore {
    let semaphore = slot(semaphore());
    ok!(cuSignalExternalSemaphoresAsync(
        semaphore,
        signal(),
        1,
        w.own.stream
    ));
    semaphore
}

fn signal() -> *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
    given(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::default())
}

fn wait() -> *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
    given(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::default())
}

calls! { w:
    cuImportExternalSemaphore(out(), given(semaphore_description())) 0;
    cuDestroyExternalSemaphore(semaphore()) 0;
    cuSignalExternalSemaphoresAsync(given(semaphore()), signal(), 1, w.own.stream) 0;
    cuWaitExternalSemaphoresAsync(signalled(w), wait(), 1, w.own.stream) 0;
    cuGraphAddExternalSemaphoresSignalNode(out(), w.small, before(w), 1, signal_parameters(w.shared.semaphore)) 0;
    cuGraphAddExternalSemaphoresWaitNode(out(), w.small, before(w), 1, wait_parameters(w.shared.semaphore)) 0;
    cuGraphExternalSemaphoresSignalNodeGetParams(w.signal, out()) 0;
    cuGraphExternalSemaphoresSignalNodeSetParams(w.signal, signal_parameters(w.shared.semaphore)) 0;
    cuGraphExternalSemaphoresWaitNodeGetParams(w.await_signal, out()) 0;
    cuGraphExternalSemaphoresWaitNodeSetParams(w.await_signal, wait_parameters(w.shared.semaphore)) 0;
    cuGraphExecExternalSemaphoresSignalNodeSetParams(
        w.semaphore_exec, w.signal, signal_parameters(w.shared.semaphore)
    ) 0;
    cuGraphExecExternalSemaphoresWaitNodeSetParams(
        w.semaphore_exec, w.await_signal, wait_parameters(w.shared.semaphore)
    ) 0;
}
