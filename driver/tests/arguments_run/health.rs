//! What must hold after each call, refused or not.

use crate::common::*;
use crate::world::World;

/// What a refused call must leave as it is.
#[derive(PartialEq, Debug)]
pub struct State {
    memory: usize,
    /// How many nodes and edges graphs have.
    sizes: [usize; 5],
}

impl State {
    pub fn of(w: &World) -> Self {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        let nodes = |graph| {
            let mut count = 0;
            ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
            count
        };
        let mut edges = 0;
        ok!(cuGraphGetEdges(w.graph, null_mut(), null_mut(), &mut edges));
        Self {
            memory: free,
            sizes: [
                nodes(w.graph),
                edges,
                nodes(w.small),
                nodes(w.clone),
                nodes(w.shared.graph),
            ],
        }
    }
}

/// What a call did.
pub struct Answer {
    pub code: u32,
    /// What is not as it must be afterwards; empty if all is well.
    pub remark: String,
    /// Whether the world is another than before.
    pub changed: bool,
}

impl Answer {
    /// The answer `code` of a call after which the world lives on; ends what the call left.
    pub fn of(code: u32, w: &World, before: &State) -> Self {
        w.tidy();
        let mut remark = problem(w).unwrap_or_default();
        let after = State::of(w);
        if remark.is_empty()
            && code != 0
            && after != *before
            && warpsmith_driver::backend() == Some(Backend::Simulator)
        {
            remark = format!("{before:?} became {after:?}");
        }
        Self {
            code,
            remark,
            changed: after.sizes != before.sizes,
        }
    }
}

/// Whether everything that lives still works, else what does not.
fn problem(w: &World) -> Option<String> {
    macro_rules! works {
        ($function:ident($($argument:expr),* $(,)?)) => {{
            // SAFETY: the objects live, and the pointers are valid during the call.
            let answer = unsafe { $function($($argument),*) };
            if answer.0 != 0 {
                return Some(format!("{} answers {} afterwards", stringify!($function), answer.0));
            }
        }};
    }
    let mut current = null_mut();
    works!(cuCtxGetCurrent(&mut current));
    if current != w.own.context {
        return Some("another context is current".into());
    }
    // What the call has enqueued there may still be writing to the memory.
    works!(cuStreamSynchronize(w.other.stream));
    works!(cuEventSynchronize(w.other.event));
    if let Some(far) = &w.far {
        works!(cuStreamSynchronize(far.stream));
        works!(cuEventSynchronize(far.event));
    }
    works!(cuMemsetD32Async(w.own.memory, 0, 1, w.own.stream));
    let mut parameters = [(&raw const w.own.memory).cast_mut().cast()];
    works!(cuLaunchKernel(
        w.own.function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        w.own.stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
    works!(cuEventRecord(w.own.event, w.own.stream));
    works!(cuEventSynchronize(w.own.event));
    let mut value = 0u32;
    works!(cuMemcpyDtoH_v2((&raw mut value).cast(), w.own.memory, 4));
    if value != 7 {
        return Some(format!("the kernel leaves {value}"));
    }
    works!(cuGraphLaunch(w.exec, w.own.stream));
    works!(cuStreamSynchronize(w.own.stream));
    None
}
