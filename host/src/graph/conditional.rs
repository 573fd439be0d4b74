//! Loops and branches that the device decides about.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use warpsmith_device::launch::{ConditionHandle, Value};

use super::builder::GraphBuilder;
use super::contents::Contents;
use super::edge::EdgeKind;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::Gpu;
use crate::gpu::info::CudaVersion;
use crate::launch::{Argument, Packer};
use warpsmith_driver::raw::{self, CUgraphConditionalNodeType as Type};

const CALL: &str = "cuGraphAddNode";

/// A number on the device that decides whether a body runs: anything but 0 means yes. Kernels of its graph and of the bodies in that set it;
/// they take it as a `graph::Condition` of the device library. Foreign PTX takes the handle, a `u64`.
// covers: COND-01
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    handle: raw::CUgraphConditionalHandle,
    /// The number of the graph or body that it was made in.
    graph: u64,
    /// The number of the whole graph.
    whole: u64,
}

impl Argument<Value<u64>> for Condition {
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        <u64 as Argument<Value<u64>>>::pack(&self.handle, packer);
    }
}

impl Argument<ConditionHandle> for Condition {
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        packer.condition(self.whole, self.handle);
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
        self.contents.has_conditions = true;
        let _turn = self.template.turn();
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
            whole: self.memory_of,
        })
    }

    /// Adds a loop: while the condition is not 0, tested before each pass, the body runs. The body needs a kernel that sets the
    /// condition to 0 at some time.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # #[kernel]
    /// # pub fn halve(mut x: PerThread<[f32]>, until: f32, again: warpsmith_device::graph::Condition) {}
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
        let mut body = Some(body);
        self.conditional(
            condition,
            Type::CU_GRAPH_COND_TYPE_WHILE,
            1,
            |_, builder| body.take().map_or(Ok(()), |body| body(builder)),
        )
    }

    /// Adds a branch: the body runs once if the condition is not 0.
    // covers: COND-05
    pub fn if_then(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        let mut body = Some(body);
        self.conditional(condition, Type::CU_GRAPH_COND_TYPE_IF, 1, |_, builder| {
            body.take().map_or(Ok(()), |body| body(builder))
        })
    }

    /// Adds a branch of two ways. The closure is called for each of the two bodies: with `true` for the one that runs if the condition is not
    /// 0, and with `false` for the other. (Two closures could not both borrow what both bodies write.)
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut word = stream.zeroed::<u32>(1)?;
    /// let mut graph = gpu.graph()?;
    /// let positive = graph.condition(0)?;             // a kernel before the node may set another one
    /// graph.if_else(positive, |is_set, body| {
    ///     body.fill(&mut word, if is_set { 1 } else { 2 }).map(drop)
    /// })?;
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(stream.download(&word)?, [2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] by drivers before CUDA 12.8 ([`Gpu::driver_version`](crate::Gpu::driver_version)); those of the closure.
    // covers: COND-10
    pub fn if_else(
        &mut self,
        condition: Condition,
        mut body: impl for<'body> FnMut(bool, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.require_several_bodies("a branch of two ways (`if_else`)")?;
        self.conditional(
            condition,
            Type::CU_GRAPH_COND_TYPE_IF,
            2,
            |index, builder| body(index == 0, builder),
        )
    }

    /// Adds a choice: of `bodies` bodies, which `body` is called for one after the other with their numbers from 0 on, that one runs whose
    /// number is the condition's value; none, if there is no such one.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] by drivers before CUDA 12.8 ([`Gpu::driver_version`](crate::Gpu::driver_version)); there are to be no bodies; those
    /// of the bodies.
    // covers: COND-10
    pub fn switch(
        &mut self,
        condition: Condition,
        bodies: u32,
        body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.require_several_bodies("a choice between bodies (`switch`)")?;
        if bodies == 0 {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "a choice between no bodies",
                "give the number of bodies, at least 1",
            ));
        }
        self.conditional(condition, Type::CU_GRAPH_COND_TYPE_SWITCH, bodies, body)
    }

    fn require_several_bodies(&self, what: &str) -> Result<()> {
        const SINCE: CudaVersion = CudaVersion {
            major: 12,
            minor: 8,
        };
        let version = Gpu::from(&self.gpu).driver_version();
        if version >= SINCE {
            return Ok(());
        }
        Err(Error::unsupported(
            what,
            format!("a driver for CUDA {SINCE} or newer; this one is for CUDA {version}"),
        ))
    }

    fn conditional(
        &mut self,
        condition: Condition,
        body_type: Type,
        bodies: u32,
        mut body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
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
        let mut parameters = raw::CUgraphNodeParams {
            type_: raw::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..Default::default()
        };
        parameters.__bindgen_anon_1.conditional = raw::CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.handle,
            type_: body_type,
            size: bodies,
            phGraph_out: std::ptr::null_mut(),
            ctx: self.gpu.context().raw(),
        };
        let node = self.add(&[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph; the driver writes to `parameters`, which outlives the call.
            unsafe {
                call!(cuGraphAddNode_v2(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    std::ptr::null(),
                    new.before.len(),
                    &mut parameters
                ))
            }
        })?;
        self.unused_conditions.swap_remove(index);
        let mut outcome = Ok(Ok(()));
        for number in 0..bodies {
            // SAFETY: the call above succeeded, so the driver wrote the address of an array of `size` (`bodies`) graphs, which lives as long as
            // the node.
            let inner = unsafe {
                let graphs = parameters.__bindgen_anon_1.conditional.phGraph_out;
                *graphs.add(number as usize)
            };
            let mut builder = self.body(inner);
            outcome = catch_unwind(AssertUnwindSafe(|| body(number, &mut builder)));
            // Whatever the closure did: nodes that were added will run, and use what they use.
            let contents = std::mem::take(&mut builder.contents);
            self.is_broken |= builder.is_broken;
            let noted = self.add_contents(node, &contents);
            if !matches!(outcome, Ok(Ok(()))) {
                break;
            }
            noted?;
        }
        outcome.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(node)
    }

    /// Notes what is in a body of a node, and puts the node after all that conflicts with that.
    fn add_contents(&mut self, node: Node, contents: &Contents) -> Result<()> {
        let before = self.before(&[], &contents.memory)?;
        self.note_uses(node, &contents.memory);
        self.keep_with(node, |all| all.absorb(contents.clone()));
        for earlier in before {
            let known = self.parts.get(node).is_some_and(|part| {
                let mut edges = part.before.iter();
                edges.any(|edge| edge.node == earlier)
            });
            if earlier != node && !known {
                self.add_edge(earlier, node, EdgeKind::Full)
                    .inspect_err(|_| self.is_broken = true)?;
            }
        }
        Ok(())
    }
}
