//! Loops and branches that the device decides about.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use warpsmith_device::launch::Value;

use super::builder::{BuilderPosition, GraphBuilder};
use super::contents::null_node;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::launch::{Argument, Packer};
use warpsmith_driver::raw;

/// A number on the device that decides whether a body runs. Kernels that take it as a `u64` set it by
/// `cudaGraphSetConditional(handle, value)`; anything but 0 means yes.
// covers: COND-01
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    handle: raw::CUgraphConditionalHandle,
    graph: u64,
}

impl Argument<Value<u64>> for Condition {
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        <u64 as Argument<Value<u64>>>::pack(&self.handle, packer);
    }
}

impl GraphBuilder<'_> {
    /// A condition, to be used by one [`while_loop`](Self::while_loop) or [`if_then`](Self::if_then) of this same graph or body.
    /// Each launch of the whole graph begins with the value `start`; a body that runs again does not. A loop inside of a loop needs a
    /// kernel before it that sets its condition.
    // covers: COND-02
    pub fn condition(&mut self, start: u32) -> Result<Condition> {
        self.gpu.bind()?;
        let mut handle = 0;
        // SAFETY: the driver writes one number to `handle`, which outlives the call; `self` keeps graph and context.
        unsafe {
            call!(cuGraphConditionalHandleCreate(
                &mut handle,
                self.raw,
                self.gpu.context().raw(),
                start,
                raw::CU_GRAPH_COND_ASSIGN_DEFAULT
            ))
        }?;
        self.unused_conditions.push(handle);
        Ok(Condition {
            handle,
            graph: self.number,
        })
    }

    /// Adds a loop: while the condition is not 0, tested before each pass, the body runs. The body needs a kernel that sets the
    /// condition to 0 at some time.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # #[kernel]
    /// # pub fn halve(mut x: PerThread<[f32]>, until: f32, again: u64) {}
    /// # const PTX: &str = "";
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open_default()?;
    /// # let (stream, kernel) = (gpu.stream()?, gpu.load(PTX)?.kernel(halve)?);
    /// # let mut x = stream.upload(&[8.0_f32])?;
    /// let mut graph = gpu.graph()?;
    /// let again = graph.condition(1)?;
    /// graph.while_loop(again, |body| {
    ///     body.kernel(&kernel, Grid::new(1, 1), (&mut x, 1.0, again))?;
    ///     Ok(())
    /// })?;
    /// graph.instantiate()?.launch(&stream)?;
    /// # Ok(())
    /// # }
    /// ```
    // covers: COND-04, COND-06
    pub fn while_loop(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.conditional(
            condition,
            raw::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
            body,
        )
    }

    /// Adds a branch: the body runs once if the condition is not 0.
    // covers: COND-05
    pub fn if_then(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.conditional(
            condition,
            raw::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            body,
        )
    }

    fn conditional(
        &mut self,
        condition: Condition,
        body_type: raw::CUgraphConditionalNodeType,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        const CALL: &str = "cuGraphAddNode";
        if condition.graph != self.number {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the condition belongs to another graph or body",
                "make it by `condition` of the builder that the node is added to",
            ));
        }
        let Some(index) = self
            .unused_conditions
            .iter()
            .position(|&handle| handle == condition.handle)
        else {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the condition already decides about another node",
                "make one for each node",
            ));
        };
        self.gpu.bind()?;
        let mut parameters = raw::CUgraphNodeParams {
            type_: raw::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..Default::default()
        };
        parameters.__bindgen_anon_1.conditional = raw::CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.handle,
            type_: body_type,
            size: 1,
            phGraph_out: std::ptr::null_mut(),
            ctx: self.gpu.context().raw(),
        };
        let mut node = null_node();
        let before: Vec<raw::CUgraphNode> = self.before_all.iter().map(|node| node.raw()).collect();
        // SAFETY: the driver writes to `node` and `parameters` and reads `before.len()` nodes; all outlive the call.
        unsafe {
            call!(cuGraphAddNode_v2(
                &mut node,
                self.raw,
                before.as_ptr(),
                std::ptr::null(),
                before.len(),
                &mut parameters
            ))
        }?;
        self.unused_conditions.swap_remove(index);
        let node = Node::new(node, self.number);
        // SAFETY: the call above succeeded, so the driver wrote the address of an array of `size` (1) graphs, which lives as long as
        // the node.
        let inner = unsafe { *parameters.__bindgen_anon_1.conditional.phGraph_out };
        let mut builder = GraphBuilder::new(&self.gpu, inner);
        builder.set_position(BuilderPosition::Body);
        builder.memory_of = self.memory_of;
        let result = catch_unwind(AssertUnwindSafe(|| body(&mut builder)));
        // Whatever the closure did: nodes that were added will run, and use what they use.
        let contents = std::mem::take(&mut builder.contents);
        self.contents.absorb(contents.clone());
        let ordered = contents.memory.iter().try_for_each(|used| {
            let earlier = self.note_use(node, used);
            earlier
                .into_iter()
                .try_for_each(|before| self.add_edge(before, node))
        });
        let result = result.unwrap_or_else(|panic| resume_unwind(panic));
        ordered.and(result)?;
        Ok(node)
    }
}
