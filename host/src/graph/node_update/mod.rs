//! Changes of single nodes of an executable graph.
//!
//! A change is made at once and counts from the next launch on: launches that are under way keep what they have, and what they use lives until
//! they are done. Edges do not change. So a node can be given other memory only where the order is there already: each node that conflicts with
//! it on that memory comes before it or after it. Between launches and other work, what is used now is put in order as ever.

mod kernel;
mod memory;
mod signals;

use std::sync::Arc;

use warpsmith_driver::raw;

use super::contents::{Contents, MemoryId, RecordedHost};
use super::description::Graph;
use super::exec::{GraphExec, HostCall};
use super::handle::sealed::kind_name;
use super::handle::{ChildNode, HostNode, NodeHandle, SwitchableNode};
use super::nested::refuse_uncopyable;
use super::part::{Part, PartKind, Parts};
use super::template::turns;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::check_same_device;
use crate::order::memory_use::MemoryUse;
use crate::stream::host_function::{HostFunction, Repeated, run_repeated};

impl GraphExec {
    /// Gives a node of the host another function, from the next launch on. What the old one owns is dropped when no launch calls it any more.
    ///
    /// # Errors
    ///
    /// The node is not one of the graph that this was made of.
    // covers: GRAPH-53
    pub fn set_host(
        &mut self,
        node: HostNode,
        function: impl Fn() + Send + Sync + 'static,
    ) -> Result<()> {
        const CALL: &str = "cuGraphExecHostNodeSetParams";
        self.part(CALL, node)?;
        let function: HostFunction = Arc::new(function);
        let host_functions = self.gpu.panics().host_functions().clone();
        let repeated = Arc::new(Repeated::new(
            &host_functions,
            self.panics.of(self.gpu.panics())?,
            &function,
        ));
        let parameters = raw::CUDA_HOST_NODE_PARAMS {
            fn_: Some(run_repeated),
            userData: Arc::as_ptr(&repeated).cast_mut().cast(),
        };
        let mut contents = Contents::default();
        contents.host_functions.push(RecordedHost {
            node: node.into(),
            function,
        });
        self.change(CALL, node, contents, |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node is a function's. The driver copies `parameters`; `userData` is the
            // `Repeated` that `run_repeated` asks for, which is kept until the launches are done that call it.
            unsafe { call!(cuGraphExecHostNodeSetParams(exec, node, &parameters)) }
        })?;
        self.functions.push(HostCall {
            node: node.into(),
            owner: Some(node.into()),
            function: repeated,
        });
        Ok(())
    }

    /// Gives the nodes of a child graph the parameters of `graph`, which must have the same shape, from the next launch on: as
    /// [`set_kernel`](Self::set_kernel).
    ///
    /// # Errors
    ///
    /// The shapes differ, or a parameter cannot change; and those of [`set_kernel`](Self::set_kernel).
    // covers: GRAPH-53
    pub fn set_child(&mut self, node: ChildNode, graph: &Graph) -> Result<()> {
        const CALL: &str = "cuGraphExecChildGraphNodeSetParams";
        /// Drivers refuse another shape as a failed update (580.159.04) or an invalid value (as their documentation says).
        const SAME_SHAPE: &str =
            "give a graph of the nodes and edges that the child has, or instantiate the whole anew";
        check_same_device(CALL, ("the child", &graph.gpu), ("the graph", &self.gpu))?;
        graph.refuse_broken(CALL)?;
        refuse_uncopyable(CALL, &graph.contents)?;
        self.part(CALL, node)?;
        self.check_order(CALL, node.into(), &graph.contents.memory)?;
        let mut contents = graph.contents.clone();
        contents.inner.push(graph.number);
        let template = self.template.clone();
        let (mut panics, mut functions) = (self.panics.clone(), Vec::new());
        let changed = self.change_in_turn(node.into(), contents, |exec, node| {
            // One turn for both: an executable graph of the other one that is captured meanwhile would have its marks copied (`nested::mark`).
            let (turn, _other) = turns(&template, &graph.template);
            functions = graph.report_to(&turn, &mut panics)?;
            // SAFETY: `change_in_turn` says that both are alive, and that the node is a child graph's; `graph` owns the other graph. The contents
            // keep what its nodes use, and `functions` what they call.
            unsafe { call!(cuGraphExecChildGraphNodeSetParams(exec, node, graph.raw)) }.map_err(
                |error| {
                    let hint = || SAME_SHAPE.to_owned();
                    error
                        .with_hint_for(Code::GRAPH_EXEC_UPDATE_FAILURE, hint)
                        .with_hint_for(Code::INVALID_VALUE, hint)
                },
            )
        });
        self.panics = panics;
        changed?;
        self.functions
            .extend(functions.into_iter().map(|call| HostCall {
                owner: Some(node.into()),
                ..call
            }));
        Ok(())
    }

    /// Switches a kernel, copy or fill off or on, from the next launch on. One that is off does nothing, but what comes after it comes after what
    /// is before it all the same. It keeps its parameters, and changes of them; no update switches it on.
    ///
    /// # Errors
    ///
    /// The node is not one of the graph that this was made of, or is a copy or fill of no memory.
    // covers: GRAPH-57
    pub fn set_enabled(&mut self, node: impl SwitchableNode, enabled: bool) -> Result<()> {
        const CALL: &str = "cuGraphNodeSetEnabled";
        let node = self.switchable(CALL, node.into())?;
        self.gpu.bind()?;
        {
            let _turn = self.template.turn();
            // SAFETY: `self` owns the executable graph; the node is one of its template, which `self` keeps.
            unsafe { call!(cuGraphNodeSetEnabled(self.raw, node.raw(), enabled.into())) }?;
        }
        self.switched_off.retain(|known| *known != node);
        if !enabled {
            self.switched_off.push(node);
        }
        Ok(())
    }

    /// Whether a kernel, copy or fill is on.
    ///
    /// # Errors
    ///
    /// Those of [`set_enabled`](Self::set_enabled).
    pub fn is_enabled(&mut self, node: impl SwitchableNode) -> Result<bool> {
        const CALL: &str = "cuGraphNodeGetEnabled";
        let node = self.switchable(CALL, node.into())?;
        self.gpu.bind()?;
        let mut enabled = 0;
        let _turn = self.template.turn();
        // SAFETY: the driver writes one number to `enabled`, which outlives the call; `self` owns the executable graph, and the node is one of
        // its template, which `self` keeps.
        unsafe { call!(cuGraphNodeGetEnabled(self.raw, node.raw(), &mut enabled)) }?;
        Ok(enabled != 0)
    }

    /// A node that is switched on or off: known by its graph alone, so that it still is after an update of the whole.
    fn switchable(&self, call: &'static str, node: Node) -> Result<Node> {
        self.check_template(call, node)?;
        match self.parts.as_ref().and_then(|parts| parts.get(node)) {
            Some(Part {
                kind: kind @ PartKind::Other,
                ..
            }) => Err(wrong_kind(call, node, kind)),
            _ => Ok(node),
        }
    }

    /// # Errors
    ///
    /// The node is of another graph than the one that this was made of.
    fn check_template(&self, call: &'static str, node: Node) -> Result<()> {
        if node.graph() == self.template_number {
            return Ok(());
        }
        let mut parts = self.parts.iter().flat_map(Parts::iter);
        let is_around = |part: &&Part| part.contents.inner.contains(&node.graph());
        let Some(around) = parts.find(is_around) else {
            return Err(refused(
                call,
                node,
                "belongs to another graph than the one that this executable graph was made of",
                "use the nodes of that graph; of a copy of it, `twin` tells them",
            ));
        };
        // CUDA driver API: a change of a node names one "in the graph from which the executable graph was instantiated".
        match around.kind {
            PartKind::Child => Err(refused(
                call,
                node,
                &format!(
                    "stands in the child graph of {:?}: no driver changes a node in there by itself",
                    around.node
                ),
                "change the child graph as a whole: `set_child` with a graph of the same shape",
            )),
            _ => Err(refused(
                call,
                node,
                &format!(
                    "stands in a body of {:?}, a loop or a branch: no driver changes a node in there by itself",
                    around.node
                ),
                "update the whole: `update` with a graph whose bodies have the change; what changes often can be read from memory",
            )),
        }
    }

    /// What there is to know of a node.
    ///
    /// # Errors
    ///
    /// It is of another graph, or nothing is known of it.
    fn part(&self, call: &'static str, node: impl NodeHandle) -> Result<&Part> {
        let node = node.into();
        self.check_template(call, node)?;
        let Some(parts) = &self.parts else {
            return Err(refused(
                call,
                node,
                "cannot be changed any more by itself: the whole was updated by a graph that was not made in the same way, and so it is not \
                 known which node is which",
                "update the whole again, or instantiate the other graph and use its nodes",
            ));
        };
        parts
            .get(node)
            .ok_or_else(|| wrong_kind(call, node, &PartKind::Other))
    }

    /// # Errors
    ///
    /// The node may not come to use this: it would be in no order with another node.
    fn check_order(&self, call: &'static str, node: Node, uses: &[MemoryUse]) -> Result<()> {
        let Some(parts) = &self.parts else {
            return Ok(());
        };
        let own = parts
            .get(node)
            .map_or(&[][..], |part| &part.contents.memory);
        for used in uses {
            let id = MemoryId::of(&*used.memory);
            let is_known = own.iter().any(|known| {
                MemoryId::of(&*known.memory) == id && known.access.covers(&used.access)
            });
            if is_known {
                // Whatever conflicts with it was put in order with this node before.
                continue;
            }
            if used.memory.graph_memory().is_some() {
                return Err(refused(
                    call,
                    node,
                    "would use memory that a graph allocates, in another way than before",
                    "what nodes use of it is fixed when the graph is made ready",
                ));
            }
            if let Some(other) = parts.unordered(node, used) {
                return Err(refused(
                    call,
                    node,
                    &format!(
                        "would use the same memory as {other:?}, and one of the two writes it, but the graph has no edges by which one comes \
                         after the other"
                    ),
                    "edges do not change: add one to the graph (`depend`) and instantiate it, or update the whole",
                ));
            }
        }
        Ok(())
    }

    /// Changes a node of which `part` knows the kind, to what uses `contents` from now on. `call` is given the executable graph and the node of its
    /// template.
    fn change(
        &mut self,
        name: &'static str,
        node: impl NodeHandle,
        contents: Contents,
        call: impl FnOnce(raw::CUgraphExec, raw::CUgraphNode) -> Result<()>,
    ) -> Result<()> {
        let node = node.into();
        self.check_order(name, node, &contents.memory)?;
        let template = self.template.clone();
        self.change_in_turn(node, contents, |exec, node| {
            let _turn = template.turn();
            call(exec, node)
        })
    }

    /// As [`change`](Self::change), where the order has been checked and `call` takes the template's turn.
    fn change_in_turn(
        &mut self,
        node: Node,
        contents: Contents,
        call: impl FnOnce(raw::CUgraphExec, raw::CUgraphNode) -> Result<()>,
    ) -> Result<()> {
        self.gpu.bind()?;
        for used in &contents.memory {
            used.memory.history().join_graph(&self.gpu.lock_order());
        }
        // A change that the driver refuses leaves the node as it was.
        call(self.raw, node.raw())
            .map_err(|error| error.while_doing(|| format!("{node:?} of an executable graph")))?;
        self.is_changed = true;
        self.panics.separate_next_launch();
        let Some(part) = self.parts.as_mut().and_then(|parts| parts.get_mut(node)) else {
            return Ok(());
        };
        let old = std::mem::replace(&mut part.contents, contents.clone());
        self.contents.remove(&old);
        let memory = contents.memory.clone();
        self.contents.absorb(contents);
        if !is_same_use(&old.memory, &memory) {
            self.sum_up_memory();
        }
        let functions: Vec<_> = self
            .functions
            .extract_if(.., |call| call.owner == Some(node))
            .collect();
        if !functions.is_empty() || !old.kept.is_empty() {
            self.release_later(functions, old.kept);
        }
        Ok(())
    }

    /// Works out anew what launches use, of what the nodes use.
    fn sum_up_memory(&mut self) {
        let mut sum = Contents::default();
        let of_parts = self.parts.iter().flat_map(Parts::iter);
        let of_parts = of_parts.flat_map(|part| &part.contents.memory);
        for used in self.captured_memory.iter().chain(of_parts) {
            sum.add_use(used);
        }
        self.contents.memory = sum.memory;
    }
}

fn is_same_use(one: &[MemoryUse], other: &[MemoryUse]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            MemoryId::of(&*one.memory) == MemoryId::of(&*other.memory) && one.access == other.access
        })
}

fn refused(call: &'static str, node: Node, message: &str, hint: &str) -> Error {
    Error::misuse(
        call,
        Code::INVALID_VALUE,
        format!("{node:?} {message}"),
        hint,
    )
}

/// The error of a node that would come to be of another device.
fn other_device(call: &'static str, node: Node, message: &str) -> Error {
    Error::misuse(
        call,
        Code::INVALID_CONTEXT,
        format!("{node:?} {message}: the device of a node does not change"),
        "give it what is of its own device, or instantiate a graph that has this from the beginning",
    )
}

fn wrong_kind(call: &'static str, node: Node, kind: &PartKind) -> Error {
    let message = format!("is {}", kind_name(kind));
    refused(
        call,
        node,
        &message,
        "such a node cannot be changed or switched: instantiate a graph with another one",
    )
}
