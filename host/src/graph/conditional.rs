//! Loops and branches that the device decides about.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use warpsmith_device::launch::Value;

use super::builder::{BuilderPosition, GraphBuilder};
use super::contents::null_node;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::Gpu;
use crate::gpu::info::CudaVersion;
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
    /// A condition, to be used by one [`while_loop`](Self::while_loop), [`if_then`](Self::if_then), [`if_else`](Self::if_else) or
    /// [`switch`](Self::switch) of this same graph or body.
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
        self.one_body(
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
        self.one_body(
            condition,
            raw::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            body,
        )
    }

    /// Adds a branch of two ways. The closure is called for each of the two bodies: with `true` for the one that runs if the condition is not
    /// 0, and with `false` for the other. (Two closures could not both borrow what both bodies write.)
    ///
    /// # Errors
    ///
    /// The driver is older than CUDA 12.8; those of the closure.
    // covers: COND-10
    pub fn if_else(
        &mut self,
        condition: Condition,
        mut body: impl for<'body> FnMut(bool, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.needs_cuda_12_8("a branch with a second body")?;
        let kind = raw::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
        self.conditional(condition, kind, 2, |number, builder| {
            body(number == 0, builder)
        })
    }

    /// Adds a choice of `count` bodies: the one runs whose number the condition is, from 0, and none if it is `count` or more. The closure is
    /// called for each body.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut word = stream.zeroed::<u32>(1)?;
    /// let mut graph = gpu.graph()?;
    /// let which = graph.condition(2)?;                // a kernel before the node may set another one
    /// graph.switch(which, 3, |number, body| body.fill(&mut word, 10 + number).map(drop))?;
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(stream.download(&word)?, [12]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver is older than CUDA 12.8; there are no bodies; those of the closure.
    // covers: COND-10
    pub fn switch(
        &mut self,
        condition: Condition,
        count: u32,
        body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.needs_cuda_12_8("a choice of bodies")?;
        if count == 0 {
            return Err(Error::misuse(
                "cuGraphAddNode",
                Code::INVALID_VALUE,
                "a choice of 0 bodies",
                "give it one at least",
            ));
        }
        let kind = raw::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH;
        self.conditional(condition, kind, count, body)
    }

    fn needs_cuda_12_8(&self, what: &'static str) -> Result<()> {
        let first = CudaVersion {
            major: 12,
            minor: 8,
        };
        match Gpu::from(&self.gpu).driver_version() >= first {
            true => Ok(()),
            false => Err(Error::unsupported(what, "a driver of CUDA 12.8 or newer")),
        }
    }

    fn one_body(
        &mut self,
        condition: Condition,
        kind: raw::CUgraphConditionalNodeType,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        let mut body = Some(body);
        self.conditional(condition, kind, 1, |_, builder| {
            body.take().map_or(Ok(()), |body| body(builder))
        })
    }

    /// Adds a node with so many bodies, for each of which the closure is called.
    fn conditional(
        &mut self,
        condition: Condition,
        kind: raw::CUgraphConditionalNodeType,
        count: u32,
        mut body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<()>,
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
            type_: kind,
            size: count,
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
        // SAFETY: the call above succeeded, so the driver wrote the address of an array of `count` graphs, which lives as long as the
        // node.
        let bodies = unsafe {
            let first = parameters.__bindgen_anon_1.conditional.phGraph_out;
            std::slice::from_raw_parts(first, count as usize)
        };
        // The nodes that it follows.
        let mut followed = self.before_all.clone();
        for (number, &inner) in (0..count).zip(bodies) {
            self.fill_body(node, inner, &mut followed, |builder| body(number, builder))?;
        }
        Ok(node)
    }

    /// Fills a body of a conditional node, which counts as a use of all that the body uses.
    fn fill_body(
        &mut self,
        node: Node,
        inner: raw::CUgraph,
        followed: &mut Vec<Node>,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<()> {
        let mut builder = GraphBuilder::new(&self.gpu, inner);
        builder.set_position(BuilderPosition::Body);
        builder.memory_of = self.memory_of;
        let result = catch_unwind(AssertUnwindSafe(|| body(&mut builder)));
        // Whatever the closure did: nodes that were added will run, and use what they use.
        let contents = std::mem::take(&mut builder.contents);
        self.contents.absorb(contents.clone());
        let ordered = contents.memory.iter().try_for_each(|used| {
            self.note_use(node, used)
                .into_iter()
                .try_for_each(|before| {
                    if followed.contains(&before) {
                        return Ok(());
                    }
                    followed.push(before);
                    self.add_edge(before, node)
                })
        });
        let result = result.unwrap_or_else(|panic| resume_unwind(panic));
        ordered.and(result)
    }
}
