//! A graph as a picture: the DOT text of `cuGraphDebugDotPrint`.

use std::fmt::Write;

use super::template::{Graph, Node, NodeOperation};
use crate::streams::Operation;

/// The DOT text: one line a node, one line an edge, child graphs and bodies as clusters.
pub(crate) fn print(graph: &Graph, verbose: bool) -> String {
    let mut text = String::from("digraph dot {\n");
    cluster(&mut text, graph, "graph", verbose);
    text.push_str("}\n");
    text
}

fn cluster(text: &mut String, graph: &Graph, title: &str, verbose: bool) {
    let nodes = graph.nodes();
    let number = |handle: usize| {
        nodes
            .iter()
            .position(|node| node.handle == handle)
            .unwrap_or(usize::MAX)
    };
    let id = graph.handle;
    let _ = writeln!(
        text,
        "subgraph cluster_{id} {{\nlabel=\"{title}_{id}\" graph[style=\"dashed\"];"
    );
    for (index, node) in nodes.iter().enumerate() {
        let _ = writeln!(
            text,
            "\"graph_{id}_node_{index}\"[shape=\"rectangle\" label=\"{index}\\n{}\"];",
            label(node, verbose)
        );
    }
    for edge in graph.edges() {
        let style = if edge.is_plain() {
            ""
        } else {
            " [style=\"dashed\"]"
        };
        let (from, to) = (number(edge.from), number(edge.to));
        let _ = writeln!(
            text,
            "\"graph_{id}_node_{from}\" -> \"graph_{id}_node_{to}\"{style};"
        );
    }
    text.push_str("}\n");
    for node in &nodes {
        for inner in node.operation().inner_graphs() {
            cluster(text, inner, "body", verbose);
        }
    }
}

fn label(node: &Node, verbose: bool) -> String {
    let operation = match node.operation() {
        NodeOperation::Single(operation) => operation,
        NodeOperation::Child(child) => return format!("GRAPH\\n{} nodes", child.nodes().len()),
        NodeOperation::Conditional(conditional) => {
            return format!("CONDITIONAL\\n{:?}", conditional.kind).to_uppercase();
        }
    };
    let name = match &operation {
        Operation::Empty => "EMPTY".to_owned(),
        Operation::Kernel(launch) => launch.function.kernel.name.replace('"', "'"),
        Operation::Copy(copy) => format!("MEMCPY\\n{} bytes", copy.bytes()),
        Operation::StagedCopy(copy, _) => format!("MEMCPY\\n{} bytes", copy.bytes()),
        Operation::Fill(fill) => format!(
            "MEMSET\\n{} x {} elements",
            fill.asked().width,
            fill.asked().height
        ),
        // No capture takes one.
        Operation::Discard(discard) => format!("DISCARD\\n{} bytes", discard.bytes()),
        Operation::Memory(batch) => {
            format!("BATCH_MEM_OP\\n{} operations", batch.parameters().len())
        }
        Operation::SemaphoreSignal(batch) => {
            format!("EXT_SEMAS_SIGNAL\\n{} semaphores", batch.handles().len())
        }
        Operation::SemaphoreWait(batch) => {
            format!("EXT_SEMAS_WAIT\\n{} semaphores", batch.handles().len())
        }
        Operation::Host(_) => "HOST".to_owned(),
        Operation::EventRecord(_) => "EVENT_RECORD".to_owned(),
        Operation::EventWait(_) => "EVENT_WAIT".to_owned(),
        Operation::GraphAllocate(allocation) => {
            format!("MEM_ALLOC\\n{} bytes", allocation.placement.bytes)
        }
        Operation::Free(_) | Operation::GraphFree(..) => "MEM_FREE".to_owned(),
    };
    match &operation {
        Operation::Kernel(launch) if verbose => {
            format!(
                "{name}\\ngrid {:?}\\nblock {:?}\\n{} bytes shared",
                launch.shape.grid, launch.shape.block, launch.shape.dynamic_shared
            )
        }
        Operation::Fill(fill) if verbose => format!(
            "{name}\\naddress {:#x}\\nvalue {}",
            fill.asked().address,
            fill.asked().value
        ),
        Operation::Copy(copy) if verbose => format!(
            "{name}\\n{:#x} from {:#x}",
            copy.to.address(),
            copy.from.address()
        ),
        _ => name,
    }
}
