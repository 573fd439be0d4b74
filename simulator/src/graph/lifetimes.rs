//! Which allocations of graphs each step of a plan may use: those whose allocation comes before it, and whose free after it, by the edges.
//!
//! Lifetimes are compared, not addresses: two allocations may have the same one, and a step that comes after the free of the first but not
//! after the second may use neither.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::plan::{Action, Plan};
use crate::memory::graph_memory::{GraphAllocation, NodeScope};
use crate::streams::Operation;

/// From where to where an allocation lives, as seen by the steps of one plan.
#[derive(Clone)]
struct Lifetime {
    address: usize,
    /// The path of steps to the allocation: a step of this plan, then one of the child graph there, and so on. Empty: before the plan.
    made: Vec<usize>,
    /// The same for the free. Empty: after the plan.
    freed: Vec<usize>,
}

/// Gives each step its scope, if the plan has memory nodes.
pub(super) fn set_scopes(plan: &mut Plan) {
    let mut nodes = Vec::new();
    find_nodes(plan, &mut Vec::new(), &mut nodes);
    if nodes.is_empty() {
        return;
    }
    let of_graph = Arc::new(nodes.iter().map(|node| node.allocation.address()).collect());
    let mut lifetimes: Vec<(Arc<GraphAllocation>, Lifetime)> = Vec::new();
    for node in nodes {
        let known = lifetimes
            .iter()
            .position(|(allocation, _)| Arc::ptr_eq(allocation, &node.allocation));
        let index = known.unwrap_or_else(|| {
            let lifetime = Lifetime {
                address: node.allocation.address(),
                made: Vec::new(),
                freed: Vec::new(),
            };
            lifetimes.push((node.allocation, lifetime));
            lifetimes.len() - 1
        });
        let lifetime = &mut lifetimes[index].1;
        match node.frees {
            true => lifetime.freed = node.path,
            false => lifetime.made = node.path,
        }
    }
    let lifetimes: Vec<_> = lifetimes
        .into_iter()
        .map(|(_, lifetime)| lifetime)
        .collect();
    set(plan, &lifetimes, &of_graph);
}

/// A node that allocates or frees.
struct MemoryNode {
    allocation: Arc<GraphAllocation>,
    frees: bool,
    path: Vec<usize>,
}

fn find_nodes(plan: &Plan, path: &mut Vec<usize>, found: &mut Vec<MemoryNode>) {
    for (number, step) in plan.nodes.iter().enumerate() {
        path.push(number);
        let mut add = |allocation: &Arc<GraphAllocation>, frees| {
            found.push(MemoryNode {
                allocation: Arc::clone(allocation),
                frees,
                path: path.clone(),
            });
        };
        match &step.action {
            Action::Single(Operation::GraphAllocate(allocation)) => add(allocation, false),
            Action::Single(Operation::GraphFree(allocation, _)) => add(allocation, true),
            Action::Child(child) => find_nodes(child, path, found),
            _ => {}
        }
        path.pop();
    }
}

/// Sets the scopes of a plan's steps, and of those inside of them.
fn set(plan: &mut Plan, lifetimes: &[Lifetime], of_graph: &Arc<BTreeSet<usize>>) {
    let before = all_before(plan);
    for (number, step) in plan.nodes.iter_mut().enumerate() {
        // Inside of the step that allocates or frees, its own steps tell.
        let inside = |lifetime: &Lifetime| {
            let made = match lifetime.made.split_first() {
                Some((&made, rest)) if made == number => rest.to_vec(),
                Some((made, _)) if !before[number].contains(made) => return None,
                _ => Vec::new(),
            };
            let freed = match lifetime.freed.split_first() {
                Some((&freed, rest)) if freed == number => rest.to_vec(),
                Some((&freed, _)) if !before[freed].contains(&number) => return None,
                _ => Vec::new(),
            };
            Some(Lifetime {
                address: lifetime.address,
                made,
                freed,
            })
        };
        let inside: Vec<Lifetime> = lifetimes.iter().filter_map(inside).collect();
        match &mut step.action {
            Action::Single(_) => {}
            Action::Child(child) => set(Arc::make_mut(child), &inside, of_graph),
            Action::Conditional { bodies, .. } => {
                for body in bodies {
                    set(Arc::make_mut(body), &inside, of_graph);
                }
            }
        }
        step.scope = Some(Arc::new(NodeScope {
            of_graph: Arc::clone(of_graph),
            usable: inside.iter().map(|lifetime| lifetime.address).collect(),
        }));
    }
}

/// For each step, all that come before it.
fn all_before(plan: &Plan) -> Vec<BTreeSet<usize>> {
    let from = |number: usize| {
        let mut before = BTreeSet::new();
        let mut open = vec![number];
        while let Some(step) = open.pop() {
            for &earlier in &plan.nodes[step].after {
                if before.insert(earlier) {
                    open.push(earlier);
                }
            }
        }
        before
    };
    (0..plan.nodes.len()).map(from).collect()
}
