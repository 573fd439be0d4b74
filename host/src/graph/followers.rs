//! The edges of a graph the other way round: what is wrong with an edge by hand, before a driver says no more than "invalid value", or takes it and
//! refuses the whole graph later.

use std::collections::HashMap;

use crate::error::{Code, Error, Node, Result};

const CALL: &str = "cuGraphAddDependencies";

/// For each node, those that have an edge from it.
#[derive(Default)]
pub(super) struct Followers(HashMap<Node, Vec<Node>>);

impl Followers {
    /// Notes an edge.
    pub(super) fn add(&mut self, before: Node, after: Node) {
        self.0.entry(before).or_default().push(after);
    }

    /// The same under other names.
    pub(super) fn renamed(&self, name: impl Fn(&Node) -> Node) -> Followers {
        let all = self.0.iter();
        Followers(
            all.map(|(node, after)| (name(node), after.iter().map(&name).collect()))
                .collect(),
        )
    }

    /// # Errors
    ///
    /// There is an edge between the two already, or this one would close a circle.
    pub(super) fn check_new_edge(&self, before: Node, after: Node) -> Result<()> {
        if self.of(before).contains(&after) {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("there is an edge from {before:?} to {after:?} already"),
                "leave this one out: nodes that use the same memory get their edges by themselves, and `Graph::edges` lists all",
            ));
        }
        let Some(way) = self.way(after, before) else {
            return Ok(());
        };
        let way: Vec<String> = way.iter().map(|node| format!("{node:?}")).collect();
        Err(Error::misuse(
            CALL,
            Code::INVALID_VALUE,
            format!(
                "an edge from {before:?} to {after:?} would close a circle: {} are one after the other already",
                way.join(", ")
            ),
            "nodes that use the same memory come in the order in which they were added: add them in the order that is wanted",
        ))
    }

    fn of(&self, node: Node) -> &[Node] {
        self.0.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The nodes from one to the other, both among them, along edges.
    fn way(&self, from: Node, to: Node) -> Option<Vec<Node>> {
        // For each node that was come to, the one before.
        let mut came_from = HashMap::from([(from, from)]);
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                let mut way = vec![to];
                while let Some(&last) = way.last()
                    && last != from
                {
                    way.push(came_from[&last]);
                }
                way.reverse();
                return Some(way);
            }
            for &after in self.of(node) {
                came_from.entry(after).or_insert_with(|| {
                    open.push(after);
                    node
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: usize) -> Node {
        Node::new(std::ptr::without_provenance_mut(number), 1)
    }

    #[test]
    fn a_circle_is_named_node_by_node() {
        let mut followers = Followers::default();
        for (before, after) in [(1, 2), (2, 3), (3, 4), (2, 5)] {
            followers.check_new_edge(node(before), node(after)).unwrap();
            followers.add(node(before), node(after));
        }
        let text = followers
            .check_new_edge(node(4), node(1))
            .unwrap_err()
            .to_string();
        let circle = "node 0x1, node 0x2, node 0x3, node 0x4 are";
        assert!(text.contains(circle), "{text}");
        let text = followers
            .check_new_edge(node(5), node(5))
            .unwrap_err()
            .to_string();
        assert!(text.contains("circle: node 0x5 are"), "{text}");
        let text = followers
            .check_new_edge(node(2), node(5))
            .unwrap_err()
            .to_string();
        assert!(text.contains("already"), "{text}");
        assert!(followers.check_new_edge(node(5), node(3)).is_ok());
    }
}
