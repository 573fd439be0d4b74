//! Nothing waits for work that it has nothing to do with: not what is made, nor what is dropped, nor what is done in another stream while one is
//! held up, whatever else waits for that one.

mod common;

use common::watch::Watch;
use common::{add, add_node, gpu, launch_add, module};
use warpsmith_host::prelude::*;

const LEN: usize = 100;

/// Steps beside a stream that is held up, each of which is named if it waits.
macro_rules! steps {
    ($watch:ident:) => {};
    ($watch:ident: let $name:pat = $step:expr; $($rest:tt)*) => {
        $watch.step(stringify!($step));
        let $name = $step;
        steps! { $watch: $($rest)* }
    };
    ($watch:ident: $step:expr; $($rest:tt)*) => {
        $watch.step(stringify!($step));
        let _ = $step;
        steps! { $watch: $($rest)* }
    };
}

#[test]
fn nothing_waits_for_a_stream_that_is_held_up() -> Result<()> {
    let (gpu, watch) = (gpu(), Watch::new());
    let (held, free) = (gpu.stream()?, gpu.stream()?);
    let module = module(&gpu);
    let (add, counter) = (add(&module), module.global::<u32>("counter")?);
    counter.set(&1)?;
    // Of either kind of free: behind one stream, and behind both.
    let (of_one, of_both) = (held.filled(LEN, 7_u32)?, held.filled(LEN, 7_u32)?);
    let (mut one, mut other) = (gpu.mapped::<u32>(LEN)?, gpu.mapped::<u32>(LEN)?);
    let mut pinned = gpu.pinned::<u32>(LEN)?;
    let mut words = free.zeroed::<u32>(LEN)?;
    launch_add(&free, &add, &mut words, 1);
    // What uses memory of another stream comes after all that is there: so it does before that is held up.
    free.copy(&of_both, &mut other)?;
    gpu.synchronize()?;

    watch.begin("beside a stream that is held up".into());
    watch.hold_up(&held)?;
    held.copy(&of_one, &mut one)?;
    held.copy(&of_both, &mut one)?;
    steps! { watch:
        drop(of_one);
        drop(of_both);
        let mut unified = gpu.unified::<u32>(LEN)?;
        let mut exportable = gpu.exportable::<u32>(LEN)?;
        let mapped = gpu.mapped::<u32>(LEN)?;
        counter.set(&2)?;
        assert_eq!(counter.get()?, 2);
        let mut more = free.zeroed::<u32>(LEN)?;
        launch_add(&free, &add, &mut words, 1);
        free.fill(&mut unified, 3)?;
        free.copy(&words, &mut more)?;
        free.copy(&unified, &mut exportable)?;
        free.copy_to_host(&exportable, &mut pinned)?;
        assert_eq!(free.download(&more)?, [2; LEN]);
        free.synchronize()?;
        assert_eq!(*pinned.host()?, [3; LEN]);
        assert_eq!(*unified.host()?, [3; LEN]);
        let mut graph = gpu.graph()?;
        add_node(&mut graph, &add, &mut more, 1);
        let mut exec = graph.instantiate()?;
        exec.launch(&free)?;
        assert_eq!(free.download(&more)?, [3; LEN]);
        let event = gpu.event()?;
        free.record(&event)?;
        event.synchronize()?;
        // Not awaited: the driver may call back on the thread that the held function keeps.
        drop(event.completion()?);
        drop(free.download_async(&more)?);
        let branch = free.fork()?;
        free.join(&branch)?;
        drop(branch);
        gpu.start_profiler()?.stop()?;
        drop((exec, graph, event));
        drop((pinned, mapped, unified, exportable, more, words));
        drop((add, counter, module));
        let another = gpu.stream()?;
        drop((another, free));
        gpu.memory_info()?;
    }
    watch.let_go();
    gpu.synchronize()?;
    assert_eq!([&*one.host()?, &*other.host()?], [[7; LEN]; 2]);
    let found = watch.take_found();
    assert!(found.is_empty(), "these wait for the work: {found:#?}");
    Ok(())
}
