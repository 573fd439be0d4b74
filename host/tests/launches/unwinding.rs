//! What closures that this crate calls may do: panic, and drop anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use crate::common::{add, gpu, in_own_process, launch_add, module};
use warpsmith_host::prelude::*;

/// The node is in the graph, whatever became of the closure: it keeps what its body uses, and what conflicts with that follows it. Nothing is made
/// of such a graph.
#[test]
fn a_body_whose_closure_panics_keeps_its_memory() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut copy = stream.zeroed::<u32>(64)?;
    let mut graph = gpu.graph()?;
    let buffer = stream.filled(64, 7_u32)?;
    let address = buffer.as_device_ptr().address();
    let once = graph.condition(1)?;
    let result = catch_unwind(AssertUnwindSafe(|| {
        graph.if_then(once, |body| {
            body.copy(&buffer, &mut copy)?;
            panic!("in the body")
        })
    }));
    assert!(result.is_err());
    drop(buffer);
    let other = stream.filled(64, 8_u32)?;
    assert_ne!(
        other.as_device_ptr().address(),
        address,
        "the graph's memory was freed"
    );
    graph.fill(&mut copy, 1)?;
    assert_eq!(graph.edges()?.len(), 1, "the fill follows the branch");
    let refused = graph.instantiate().map(drop).unwrap_err().to_string();
    assert!(
        refused.contains("a branch whose body is not whole"),
        "{refused}"
    );
    Ok(())
}

#[test]
fn every_panic_of_a_host_function_is_reported() {
    in_own_process(&[], || {
        let gpu = gpu();
        let stream = gpu.stream().unwrap();
        for i in 1..=2 {
            stream.host_fn(move || panic!("number {i}")).unwrap();
        }
        // The wait covers both.
        let error = stream.synchronize().unwrap_err().to_string();
        for i in 1..=2 {
            assert!(error.contains(&format!("number {i}")), "{error}");
        }
        stream.synchronize().unwrap();
    });
}

/// The driver must not be called inside of a host function; what is dropped there is destroyed elsewhere.
#[test]
fn a_host_function_may_drop_anything() {
    let output = in_own_process(&[], || {
        for round in 0..3 {
            let gpu = Gpu::open_default().unwrap();
            let module = module(&gpu);
            let add = add(&module);
            let stream = gpu.stream().unwrap();
            let own = gpu.stream().unwrap();
            let mut buffer = own.zeroed::<u32>(100).unwrap();
            launch_add(&own, &add, &mut buffer, 1);
            let pinned = gpu.pinned::<u32>(10).unwrap();
            let mapped = gpu.mapped::<u32>(10).unwrap();
            let unified = gpu.unified::<u32>(10).unwrap();
            let event = gpu.event().unwrap();
            own.record(&event).unwrap();
            let mut graph = gpu.graph().unwrap();
            graph.fill(&mut buffer, 3).unwrap();
            graph.host(|| ()).unwrap();
            let mut ready = graph.instantiate().unwrap();
            ready.launch(&own).unwrap();
            let (sender, receiver) = mpsc::channel();
            let last = (round == 0).then(|| gpu.clone());
            stream
                .host_fn(move || {
                    drop((own, buffer, pinned, mapped, unified, event));
                    drop((graph, ready, add, module));
                    sender.send(()).unwrap();
                    drop(gpu);
                })
                .unwrap();
            // Without `last` the function has the device's last owner but for the stream.
            drop(stream);
            receiver.recv().unwrap();
            if let Some(gpu) = last {
                gpu.synchronize().unwrap();
            }
        }
        let gpu = Gpu::open_default().unwrap();
        let stream = gpu.stream().unwrap();
        assert_eq!(stream.download(&stream.upload(&[5]).unwrap()).unwrap(), [5]);
    });
    if let Some(output) = output {
        assert!(!output.contains("while dropping"), "{output}");
    }
}
