//! Queues: order of items and points, room, and items that panic.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;

#[test]
fn items_complete_in_order_and_after_the_points_they_wait_for() {
    let (send, receive) = mpsc::channel();
    let gate = CompletionPoint::pending();
    let (first, second) = (WorkQueue::new(), WorkQueue::new());
    let note = |text: &'static str| -> Work {
        let send = send.clone();
        Box::new(move || send.send(text).unwrap())
    };
    first.submit(vec![gate.clone()], note("first queue"));
    let end = second.submit(vec![first.end()], note("second queue"));
    assert!(!end.is_reached());
    assert!(!first.is_idle());
    gate.complete();
    end.wait();
    second.run(Vec::new(), note("on the calling thread"));
    let order: Vec<_> = receive.try_iter().collect();
    assert_eq!(
        order,
        ["first queue", "second queue", "on the calling thread"]
    );
    assert!(first.is_idle() && second.is_idle());
}

/// Submits three times as many items as there is room for, behind `gate`; gives how many waited at most when an item was executed.
fn most_waiting(gate: &CompletionPoint, patience: Duration) -> Arc<AtomicUsize> {
    let most = Arc::new(AtomicUsize::new(0));
    let queue = WorkQueue::new();
    queue.submit(vec![gate.clone()], Box::new(|| ()));
    for _ in 0..3 * ROOM {
        let (watched, most) = (Arc::clone(&queue), Arc::clone(&most));
        let Room(()) = queue.room_within(patience);
        queue.submit(
            Vec::new(),
            Box::new(move || {
                most.fetch_max(lock(&watched.state).pending.len(), Ordering::Relaxed);
            }),
        );
    }
    queue.end().wait();
    most
}

#[test]
fn who_submits_to_a_full_queue_waits() {
    let gate = CompletionPoint::pending();
    let submitter = {
        let gate = gate.clone();
        std::thread::spawn(move || most_waiting(&gate, Duration::MAX))
    };
    // Time enough to submit everything, if nothing makes the thread wait.
    std::thread::sleep(Duration::from_millis(100));
    gate.complete();
    let most = submitter.join().unwrap().load(Ordering::Relaxed);
    assert!(most <= ROOM, "{most} items waited");
}

#[test]
fn a_stalled_queue_takes_more() {
    let gate = CompletionPoint::pending();
    let queue = WorkQueue::new();
    queue.submit(vec![gate.clone()], Box::new(|| ()));
    for _ in 0..3 * ROOM {
        // Nobody else could let the queue go on.
        let Room(()) = queue.room_within(Duration::from_millis(1));
        queue.submit(Vec::new(), Box::new(|| ()));
    }
    gate.complete();
    queue.end().wait();
    assert_eq!(lock(&queue.state).extra_room, 0);
}

#[test]
fn a_point_is_after_what_its_queue_was_told_to_wait_for() {
    let [first, second, third] = [(); 3].map(|()| WorkQueue::new());
    let nothing = || -> Work { Box::new(|| ()) };
    let early = first.submit(Vec::new(), nothing());
    let late = first.submit(Vec::new(), nothing());
    let middle = second.submit(vec![early.clone()], nothing());
    third.run(vec![middle.clone()], nothing());
    let end = third.end();
    assert!(late.is_after(&early) && !early.is_after(&late));
    assert!(middle.is_after(&early) && end.is_after(&early) && end.is_after(&middle));
    assert!(!end.is_after(&late) && !early.is_after(&end));
    for queue in [first, second, third] {
        queue.end().wait();
    }
}

#[test]
fn an_item_follows_a_point_directly_or_not_at_all() {
    let [queue, other] = [(); 2].map(|()| WorkQueue::new());
    let nothing = || -> Work { Box::new(|| ()) };
    let first = queue.submit(Vec::new(), nothing());
    let second = queue.submit_directly_after(&first, Vec::new(), nothing());
    assert!(second.is_some_and(|second| second.is_after(&first)));
    let late = queue.submit_directly_after(&first, Vec::new(), nothing());
    assert!(late.is_none(), "another item came between");
    let elsewhere = other.submit_directly_after(&first, Vec::new(), nothing());
    assert!(elsewhere.is_none(), "it is a point of another queue");
    assert_eq!(lock(&queue.state).submitted, 2);
    queue.end().wait();
}

#[test]
fn waits_for_an_item_that_panics_end() {
    let queue = WorkQueue::new();
    let failed = queue.submit(Vec::new(), Box::new(|| panic!("a panic on purpose")));
    let next = queue.submit(Vec::new(), Box::new(|| ()));
    failed.wait();
    next.wait();
    queue.run(
        Vec::new(),
        Box::new(|| panic!("and one on the caller's thread")),
    );
    assert!(queue.is_idle());
}
