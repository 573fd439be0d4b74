//! Graphs whose nodes were not added by methods: captured ones, and copies.

use std::collections::{HashMap, HashSet};

use super::builder::GraphBuilder;
use super::contents::Contents;
use super::edge::EdgeKind;
use crate::error::{Node, Result};

impl GraphBuilder<'_> {
    /// For a graph whose nodes were captured: what is added later comes after them.
    pub(crate) fn follow_captured_nodes(&mut self, contents: Contents) -> Result<()> {
        self.captured_memory.clone_from(&contents.memory);
        self.contents = contents;
        // What comes after the last ones comes after all. After a kernel that begins early it need not come after what is before that.
        let mut followed = HashSet::new();
        for edge in self.raw_edges()? {
            self.followers.add(edge.from, edge.to);
            if edge.kind == EdgeKind::Full {
                followed.insert(edge.from);
            }
        }
        let nodes = self.raw_nodes()?.into_iter();
        let mut last = nodes
            .map(|node| Node::new(node, self.number))
            .collect::<Vec<_>>();
        last.retain(|node| !followed.contains(node));
        self.before_all = last;
        Ok(())
    }

    /// Takes over what is known of the nodes of another graph, of which this is a copy with these nodes; the contents are there already.
    pub(super) fn follow_original(
        &mut self,
        original: &GraphBuilder<'_>,
        twins: HashMap<Node, Node>,
    ) {
        let twin = |node: &Node| twins.get(node).copied().unwrap_or(*node);
        let all = |nodes: &[Node]| nodes.iter().map(twin).collect::<Vec<_>>();
        self.parts = original.parts.renamed(twin, |contents| {
            // The functions' nodes may be inside of others, where only these lists tell.
            for host in &mut contents.host_functions {
                let known = original.contents.host_functions.iter();
                let found = known
                    .zip(&self.contents.host_functions)
                    .find(|(old, _)| old.node == host.node);
                host.node = found.map_or(host.node, |(_, new)| new.node);
            }
        });
        self.uses.clone_from(&original.uses);
        for entries in self.uses.values_mut() {
            entries.replace(|node| Some(twin(node)));
        }
        self.followers = original.followers.renamed(twin);
        self.before_all = all(&original.before_all);
        self.captured_memory.clone_from(&original.captured_memory);
        let early = original.early.iter();
        self.early = early.map(|(node, open)| (twin(node), all(open))).collect();
        let flags = original.flags.iter();
        self.flags = flags.map(|(flag, node)| (*flag, twin(node))).collect();
        self.twins = twins;
    }
}
