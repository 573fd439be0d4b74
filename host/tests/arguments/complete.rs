//! Each entry point of the source files that the table is of has rows, if it can fail and takes anything but `self`.

use std::collections::BTreeSet;

use crate::rows;
use crate::sources::entry_points;

/// What the table is of: files below `src`.
const FILES: &[&str] = &[
    "memory/access_policy.rs",
    "memory/any_buffer.rs",
    "memory/arena.rs",
    "memory/array/compressed.rs",
    "memory/array/copies.rs",
    "memory/array/filled.rs",
    "memory/array/linear.rs",
    "memory/array/mipmapped.rs",
    "memory/array/objects.rs",
    "memory/array/views.rs",
    "memory/copy.rs",
    "memory/copy_2d.rs",
    "memory/copy_batch.rs",
    "memory/copy_batch_boxes.rs",
    "memory/matrix.rs",
    "memory/peer.rs",
    "memory/pinned.rs",
    "memory/pitched.rs",
    "memory/pitched_volume.rs",
    "memory/pool/allocator.rs",
    "memory/pool/mod.rs",
    "memory/prefetch_batch.rs",
    "memory/shared_atomics.rs",
    "memory/unified.rs",
    "memory/virtual_memory/growable.rs",
    "memory/virtual_memory/physical.rs",
    "memory/volume.rs",
    "memory/whole_buffer.rs",
    "memory/write_combined.rs",
];

#[test]
fn each_entry_point_of_these_files_has_rows() {
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
    let entry_points = entry_points();
    let missing: Vec<_> = entry_points
        .iter()
        .filter(|(_, at)| at.takes_arguments && FILES.contains(&at.file.as_str()))
        .filter(|(name, _)| !with_rows.contains(name.as_str()))
        .map(|(name, at)| format!("{name} ({})", at.file))
        .collect();
    assert!(missing.is_empty(), "no rows: {missing:#?}");
    for file in FILES {
        let is_known = entry_points.values().any(|at| at.file == *file);
        assert!(is_known, "no entry points in {file}");
    }
    let gone: Vec<_> = with_rows
        .iter()
        .filter(|name| !entry_points.contains_key(**name))
        .collect();
    assert!(gone.is_empty(), "no entry points: {gone:#?}");
}
