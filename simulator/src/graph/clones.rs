//! Which node of a clone stands for which node of the original.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::template::Graph;
use crate::sync::lock;

/// For each cloned graph, by handle: original node to its copy.
static CLONES: Mutex<Option<HashMap<usize, HashMap<usize, usize>>>> = Mutex::new(None);

/// `cuGraphClone`
pub(crate) fn clone_graph(original: &Graph) -> Arc<Graph> {
    let (copy, nodes) = original.duplicate(false);
    lock(&CLONES)
        .get_or_insert_default()
        .insert(copy.handle, nodes);
    copy
}

/// The node of a clone that stands for an original.
pub(crate) fn find_in_clone(clone: &Graph, original: usize) -> Option<usize> {
    lock(&CLONES)
        .as_ref()?
        .get(&clone.handle)?
        .get(&original)
        .copied()
}

/// A graph is destroyed, which may be a clone.
pub(crate) fn forget_clone(graph: &Graph) {
    if let Some(clones) = lock(&CLONES).as_mut() {
        clones.remove(&graph.handle);
    }
}
