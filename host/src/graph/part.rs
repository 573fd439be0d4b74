//! The nodes of a graph one by one: what each of them uses, and after which it comes.

use std::sync::Arc;

use super::contents::{Contents, MemoryId};
use super::edge::EdgeKind;
use crate::context::choice::DeviceChoice;
use crate::error::Node;
use crate::launch::{Dim3, Grid};
use crate::order::memory_use::MemoryUse;

/// A node that a method has added to a graph.
#[derive(Clone)]
pub(crate) struct Part {
    pub(super) node: Node,
    pub(super) kind: PartKind,
    /// What it uses, and what the nodes inside it use.
    pub(super) contents: Contents,
    pub(super) before: Vec<Before>,
}

/// A node that comes before another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Before {
    pub(super) node: Node,
    pub(super) edge: EdgeKind,
}

/// What an executable graph has to know of a node to change it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PartKind {
    Kernel(KernelShape),
    Copy(CopyShape),
    Fill(FillShape),
    Host,
    Child,
    EventRecord,
    EventWait,
    Flags,
    /// A node that does nothing, or one that cannot be changed.
    Other,
}

/// What no change of a kernel node changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KernelShape {
    pub(super) cluster: Option<Dim3>,
    /// What the kernel was compiled for ([`Function::compiled_cluster`](crate::launch::Function::compiled_cluster)).
    pub(super) compiled_cluster: [u32; 3],
    pub(super) cooperative: bool,
    /// It may begin before the nodes before it have ended.
    pub(super) early: bool,
}

impl KernelShape {
    pub(super) fn of(grid: &Grid, compiled_cluster: [u32; 3], early: bool) -> KernelShape {
        KernelShape {
            cluster: grid.cluster,
            compiled_cluster,
            cooperative: grid.cooperative,
            early,
        }
    }
}

/// What no change of a copy changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CopyShape {
    pub(super) from_host: bool,
    pub(super) to_host: bool,
    /// One row of bytes. Others cannot be changed at all.
    pub(super) is_linear: bool,
    /// The devices of source and target; `None` for memory of the host.
    pub(super) devices: [Option<DeviceChoice>; 2],
}

/// What no change of a fill changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FillShape {
    /// The memory's device.
    pub(super) device: DeviceChoice,
}

/// The nodes of a graph, the oldest first.
#[derive(Clone, Default)]
pub(crate) struct Parts(Vec<Arc<Part>>);

impl Parts {
    pub(super) fn push(&mut self, part: Part) {
        self.0.push(Arc::new(part));
    }

    pub(super) fn index(&self, node: Node) -> Option<usize> {
        // What is asked for was often added last.
        self.0.iter().rposition(|part| part.node == node)
    }

    pub(super) fn get(&self, node: Node) -> Option<&Part> {
        self.index(node).map(|index| &*self.0[index])
    }

    pub(super) fn get_mut(&mut self, node: Node) -> Option<&mut Part> {
        self.index(node)
            .map(|index| Arc::make_mut(&mut self.0[index]))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().map(|part| &**part)
    }

    /// The same nodes under other names.
    pub(super) fn renamed(
        &self,
        name: impl Fn(&Node) -> Node,
        rename: impl Fn(&mut Contents),
    ) -> Parts {
        let parts = self.iter().map(|part| {
            let mut contents = part.contents.clone();
            rename(&mut contents);
            let before = part.before.iter().map(|before| Before {
                node: name(&before.node),
                edge: before.edge,
            });
            Arc::new(Part {
                node: name(&part.node),
                kind: part.kind,
                contents,
                before: before.collect(),
            })
        });
        Parts(parts.collect())
    }

    /// A node that conflicts with this use by `node` and is in no order with it.
    pub(super) fn unordered(&self, node: Node, used: &MemoryUse) -> Option<Node> {
        let id = MemoryId::of(&*used.memory);
        let conflicts = |other: &MemoryUse| {
            MemoryId::of(&*other.memory) == id && other.access.conflicts(&used.access)
        };
        self.iter()
            .filter(|part| part.node != node && part.contents.memory.iter().any(conflicts))
            .find(|part| !self.is_before(part.node, node) && !self.is_before(node, part.node))
            .map(|part| part.node)
    }

    /// Whether `to` comes after the end of `from`, or its kernel waits for it before it reaches memory.
    fn is_before(&self, from: Node, to: Node) -> bool {
        let mut seen: Vec<Node> = Vec::new();
        let mut open = vec![to];
        while let Some(node) = open.pop() {
            let Some(part) = self.get(node) else {
                continue;
            };
            for before in &part.before {
                // What comes after a node that need not have waited does not come after what is before that: only the last edge may be such.
                let counts = match before.edge {
                    EdgeKind::Full => true,
                    EdgeKind::Programmatic(_) => node == to,
                    EdgeKind::Started => false,
                };
                if !counts {
                    continue;
                }
                if before.node == from {
                    return true;
                }
                if before.edge == EdgeKind::Full && !seen.contains(&before.node) {
                    seen.push(before.node);
                    open.push(before.node);
                }
            }
        }
        false
    }

    /// The nodes of `other`, under the names of these, if both were made alike: the same kinds of nodes and edges in the same order. Then they
    /// are those that an update of the whole pairs.
    pub(super) fn paired_with(&self, other: &Parts) -> Option<Parts> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let pairs = || self.iter().zip(other.iter());
        let alike = pairs().all(|(own, new)| {
            own.kind == new.kind
                && own.before.len() == new.before.len()
                && own.before.iter().zip(&new.before).all(|(one, two)| {
                    one.edge == two.edge && self.index(one.node) == other.index(two.node)
                })
        });
        let renamed = |(own, new): (&Part, &Part)| {
            Arc::new(Part {
                node: own.node,
                kind: own.kind,
                contents: new.contents.clone(),
                before: own.before.clone(),
            })
        };
        alike.then(|| Parts(pairs().map(renamed).collect()))
    }
}
