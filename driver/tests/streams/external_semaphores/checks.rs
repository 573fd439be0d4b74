//! Uses that the simulator reports.

use super::*;

/// The text of the fault that `body` leaves in a context of its own.
fn fault_of(body: impl FnOnce()) -> String {
    gpu();
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    body();
    fails!(999, cuCtxSynchronize());
    let text = fault(context).expect("a fault").to_string();
    ok!(cuCtxDestroy_v2(context));
    text
}

#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text}");
    }
}

// covers: INTEROP-09
#[test]
fn a_semaphore_that_is_destroyed_while_it_is_in_use_is_reported() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let text = fault_of(|| {
        let semaphore = Binary::new().import();
        let stream = stream();
        wait(semaphore, 0, stream);
        fails!(0, cuDestroyExternalSemaphore(semaphore));
    });
    expect(
        &text,
        &["external binary semaphore", "is destroyed before 1"],
    );
    let text = fault_of(|| {
        let timeline = Timeline::new();
        let semaphore = timeline.import();
        let graph = graph();
        let (mut semaphores, given) = ([semaphore], [signal_to(1)]);
        let parameters = signal_node_parameters(&mut semaphores, &given);
        let _: CUgraphNode = get!(cuGraphAddExternalSemaphoresSignalNode(
            graph,
            core::ptr::null(),
            0,
            &parameters
        ));
        let (exec, stream) = (instantiate(graph), stream());
        launch(exec, stream);
        ok!(cuDestroyExternalSemaphore(semaphore));
        ok!(cuGraphLaunch(exec, stream));
    });
    expect(
        &text,
        &["external timeline semaphore", "was destroyed before"],
    );
}

// covers: INTEROP-10
#[test]
fn a_wait_that_is_issued_before_its_signal_is_reported() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let text = fault_of(|| {
        let semaphore = Binary::new().import();
        let (waiting, signalling) = (stream(), stream());
        wait(semaphore, 0, waiting);
        signal(semaphore, 0, signalling);
    });
    expect(&text, &["was issued before the signal that ends it"]);
    let text = fault_of(|| {
        let semaphore = Timeline::new().import();
        let (waiting, signalling) = (stream(), stream());
        wait(semaphore, 3, waiting);
        signal(semaphore, 2, signalling);
        signal(semaphore, 3, signalling);
    });
    expect(&text, &["was issued before the signal that ends it"]);
}

// covers: INTEROP-10
#[test]
fn a_signal_that_changes_nothing_is_reported() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let text = fault_of(|| {
        let semaphore = Binary::new().import();
        let stream = stream();
        signal(semaphore, 0, stream);
        signal(semaphore, 0, stream);
    });
    expect(&text, &["is signalled again before anybody has waited"]);
    let text = fault_of(|| {
        let semaphore = Timeline::new().import();
        let stream = stream();
        signal(semaphore, 3, stream);
        signal(semaphore, 3, stream);
    });
    expect(&text, &["is signalled to 3, but it is 3 already"]);
}
