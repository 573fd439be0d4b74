//! Each public entry point that can fail and takes anything but `self` has rows, or stands below with the reason why it has none.

use std::collections::BTreeSet;

use crate::rows;
use crate::sources::entry_points;

const ANY_VALUE: &str = "each value of the argument's type is right";
const A_QUESTION: &str = "what is not there is an answer, no error";
const A_CLOSURE: &str = "a function is all that it takes; what goes wrong inside is the function's";
const OF_VULKAN: &str = "no GPU imports semaphores from here: `streams/external_semaphores.rs`";
const OF_THE_SYSTEM: &str = "the operating system answers";
const OF_A_TEAM: &str =
    "it takes several devices of the simulator: `tests/tests/guide/multicast.rs`";
const AS_FOREIGN_WORK: &str = "what is wrong with the memory is refused as by `ForeignWork`";
const A_PANIC: &str = "a part that is not there panics, as for slices";

const WITHOUT_ROWS: &[(&str, &str)] = &[
    ("ForeignCall::enqueue", AS_FOREIGN_WORK),
    ("Gpu::attribute_if_known", A_QUESTION),
    ("Gpu::can_access_peer", A_QUESTION),
    ("Gpu::device_with_uuid", A_QUESTION),
    ("Gpu::flag", ANY_VALUE),
    ("Gpu::keep_freed_memory", ANY_VALUE),
    ("Gpu::limit", ANY_VALUE),
    ("Gpu::observe", ANY_VALUE),
    ("Gpu::pointer_attributes", A_QUESTION),
    ("Gpu::set_synchronization_policy", ANY_VALUE),
    ("Gpu::stream_with", ANY_VALUE),
    ("Gpu::while_current", A_CLOSURE),
    ("GraphBuilder::condition", ANY_VALUE),
    ("MemoryPool::set_release_threshold", ANY_VALUE),
    ("MemoryPool::set_reuse_policy", ANY_VALUE),
    ("MemoryPool::trim_to", ANY_VALUE),
    ("MulticastBuffer::download", OF_A_TEAM),
    ("MulticastBuffer::on", OF_A_TEAM),
    ("MulticastBuffer::upload", OF_A_TEAM),
    ("MulticastBuffer::zeroed", OF_A_TEAM),
    ("Stream::set_mem_sync_domain", ANY_VALUE),
    ("Stream::set_synchronization_policy", ANY_VALUE),
    ("Stream::signal_semaphores", OF_VULKAN),
    ("Stream::wait_semaphores", OF_VULKAN),
    ("UnifiedBuffer::hints", A_PANIC),
    ("interprocess::receive_descriptor", OF_THE_SYSTEM),
    ("interprocess::send_descriptor", OF_THE_SYSTEM),
    ("kernel::set_cluster_sizes", ANY_VALUE),
];

#[test]
fn each_entry_point_has_rows_or_a_reason() {
    let topics = rows::of_one_device()
        .into_iter()
        .chain(rows::of_two_devices());
    let rows: Vec<_> = topics.flat_map(|topic| topic.rows).collect();
    let mut titles = BTreeSet::new();
    for row in &rows {
        let is_new = titles.insert((row.function, row.case));
        assert!(is_new, "twice: {}: {}", row.function, row.case);
    }
    let with_rows: BTreeSet<&str> = rows.iter().map(|row| row.function).collect();
    let without: BTreeSet<&str> = WITHOUT_ROWS.iter().map(|(name, _)| *name).collect();
    let both: Vec<_> = with_rows.intersection(&without).collect();
    assert!(both.is_empty(), "rows, and a reason for none: {both:#?}");

    let entry_points = entry_points();
    let missing: Vec<_> = entry_points
        .iter()
        .filter(|(_, at)| at.takes_arguments)
        .filter(|(name, _)| !with_rows.contains(name.as_str()) && !without.contains(name.as_str()))
        .map(|(name, at)| format!("{name} ({})", at.file))
        .collect();
    assert!(missing.is_empty(), "no rows, and no reason: {missing:#?}");
    let gone: Vec<_> = with_rows
        .union(&without)
        .filter(|name| !entry_points.contains_key(**name))
        .collect();
    assert!(gone.is_empty(), "no entry points: {gone:#?}");
}
