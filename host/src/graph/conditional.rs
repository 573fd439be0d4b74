//! Loops and branches that the device decides about.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use warpsmith_device::launch::{ConditionHandle, Value};

use super::builder::{GraphBuilder, INCOMPLETE};
use super::contents::Contents;
use super::edge::EdgeKind;
use crate::driver_call::call;
use crate::error::{Code, Error, LimitError, Node, Result};
use crate::gpu::Gpu;
use crate::gpu::info::CudaVersion;
use crate::launch::{Argument, Packer};
use warpsmith_driver::raw::{self, CUgraphConditionalNodeType as Type};

const CALL: &str = "cuGraphAddNode";

/// The most bodies of a choice. Driver 580.159.04 makes so many in 0.03 s and a million in 0.6 s; of sixteen million it did not come back.
const MOST_BODIES: u32 = 1 << 16;

// What is wrong with a node whose closure has failed.
const UNFINISHED_LOOP: &str = "it is a loop whose body is not whole: its closure failed or panicked, or passed the condition to no kernel";
const UNFINISHED_BRANCH: &str =
    "it is a branch whose body is not whole: its closure failed or panicked";
const UNFINISHED_CHOICE: &str =
    "it is a choice whose bodies are not whole: their closure failed or panicked";

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
        packer.condition_as_number(&self.handle);
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
        self.contents.conditions.add(handle);
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
    ///
    /// # Errors
    ///
    /// The condition is another graph's or body's, or decides about a node already: then nothing is added. The closure's error; no kernel in the body,
    /// or in the bodies inside of it, is passed the condition, so that nothing could end the loop. After either the node is there without a whole
    /// body, and the graph cannot be made ready nor copied any more ([`Graph::instantiate`](crate::Graph::instantiate) names the node): build it anew.
    // covers: COND-04, COND-06
    pub fn while_loop(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.try_while_loop(condition, body)
    }

    /// As [`while_loop`](Self::while_loop), of a closure with an error of the program's own. Where nothing else says which, the closure does:
    /// `|body| -> anyhow::Result<()> { .. }`.
    ///
    /// # Errors
    ///
    /// Those of [`while_loop`](Self::while_loop).
    pub fn try_while_loop<E: From<Error>>(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<(), E>,
    ) -> Result<Node, E> {
        let mut body = Some(body);
        let handle = condition.handle;
        self.conditional(
            condition,
            (Type::CU_GRAPH_COND_TYPE_WHILE, UNFINISHED_LOOP, 1),
            |_, builder| {
                body.take().map_or(Ok(()), |body| body(builder))?;
                match builder.contents.passed_conditions.contains(&handle) {
                    true => Ok(()),
                    false => Err(never_ends().into()),
                }
            },
        )
    }

    /// Adds a branch: the body runs once if the condition is not 0.
    ///
    /// # Errors
    ///
    /// The condition is another graph's or body's, or decides about a node already; the closure's, after which the graph cannot be made ready, as for
    /// [`while_loop`](Self::while_loop).
    // covers: COND-05
    pub fn if_then(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.try_if_then(condition, body)
    }

    /// As [`if_then`](Self::if_then), of a closure with an error of the program's own.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// /// The program's own error.
    /// #[derive(Debug)]
    /// enum Failure {
    ///     Device(Error),
    ///     Plan(&'static str),
    /// }
    ///
    /// impl From<Error> for Failure {
    ///     fn from(error: Error) -> Failure {
    ///         Failure::Device(error)
    ///     }
    /// }
    ///
    /// fn step(planned: Option<u32>) -> Result<Graph, Failure> {
    ///     # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    ///     # let mut word = gpu.stream()?.zeroed::<u32>(1)?;
    ///     let mut graph = gpu.graph()?;
    ///     let condition = graph.condition(1)?;
    ///     graph.try_if_then(condition, |body| -> Result<(), Failure> {
    ///         body.fill(&mut word, planned.ok_or(Failure::Plan("nothing is planned"))?)?;
    ///         Ok(())
    ///     })?;
    ///     Ok(graph)
    /// }
    /// # assert!(step(Some(1)).is_ok());
    /// # assert!(matches!(step(None), Err(Failure::Plan(_))));
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`if_then`](Self::if_then).
    pub fn try_if_then<E: From<Error>>(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnOnce(&mut GraphBuilder<'body>) -> Result<(), E>,
    ) -> Result<Node, E> {
        let mut body = Some(body);
        self.conditional(
            condition,
            (Type::CU_GRAPH_COND_TYPE_IF, UNFINISHED_BRANCH, 1),
            |_, builder| body.take().map_or(Ok(()), |body| body(builder)),
        )
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
    /// [`Error::Unsupported`] by drivers before CUDA 12.8 ([`Gpu::driver_version`](crate::Gpu::driver_version)); those of [`if_then`](Self::if_then).
    // covers: COND-10
    pub fn if_else(
        &mut self,
        condition: Condition,
        body: impl for<'body> FnMut(bool, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.try_if_else(condition, body)
    }

    /// As [`if_else`](Self::if_else), of a closure with an error of the program's own: see [`try_if_then`](Self::try_if_then).
    ///
    /// # Errors
    ///
    /// Those of [`if_else`](Self::if_else).
    pub fn try_if_else<E: From<Error>>(
        &mut self,
        condition: Condition,
        mut body: impl for<'body> FnMut(bool, &mut GraphBuilder<'body>) -> Result<(), E>,
    ) -> Result<Node, E> {
        self.require_several_bodies("a branch of two ways (`if_else`)")?;
        self.conditional(
            condition,
            (Type::CU_GRAPH_COND_TYPE_IF, UNFINISHED_BRANCH, 2),
            |index, builder| body(index == 0, builder),
        )
    }

    /// Adds a choice: of `bodies` bodies, which `body` is called for one after the other with their numbers from 0 on, that one runs whose
    /// number is the condition's value; none, if there is no such one.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] by drivers before CUDA 12.8 ([`Gpu::driver_version`](crate::Gpu::driver_version)); there are to be no bodies, or more than 65536; those
    /// of [`if_then`](Self::if_then).
    // covers: COND-10
    pub fn switch(
        &mut self,
        condition: Condition,
        bodies: u32,
        body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<()>,
    ) -> Result<Node> {
        self.try_switch(condition, bodies, body)
    }

    /// As [`switch`](Self::switch), of a closure with an error of the program's own: see [`try_if_then`](Self::try_if_then).
    ///
    /// # Errors
    ///
    /// Those of [`switch`](Self::switch).
    pub fn try_switch<E: From<Error>>(
        &mut self,
        condition: Condition,
        bodies: u32,
        body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<(), E>,
    ) -> Result<Node, E> {
        self.require_several_bodies("a choice between bodies (`switch`)")?;
        if bodies == 0 {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "a choice between no bodies",
                "give the number of bodies, at least 1",
            )
            .into());
        }
        if bodies > MOST_BODIES {
            return Err(Error::Limit(Box::new(LimitError {
                call: CALL,
                code: Code::INVALID_VALUE,
                subject: "a choice between bodies (`switch`)".into(),
                what: "the number of bodies",
                value: bodies.into(),
                limit: MOST_BODIES.into(),
                hint: "make choices within the bodies of one: each body is a graph, whether it has nodes or not".into(),
            }))
            .into());
        }
        self.conditional(
            condition,
            (Type::CU_GRAPH_COND_TYPE_SWITCH, UNFINISHED_CHOICE, bodies),
            body,
        )
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

    fn conditional<E: From<Error>>(
        &mut self,
        condition: Condition,
        (body_type, unfinished, bodies): (Type, &'static str, u32),
        mut body: impl for<'body> FnMut(u32, &mut GraphBuilder<'body>) -> Result<(), E>,
    ) -> Result<Node, E> {
        let (node, graphs) = self.add_conditional(condition, body_type, bodies)?;
        for (number, inner) in (0..).zip(graphs) {
            let mut builder = self.body(inner);
            let outcome = catch_unwind(AssertUnwindSafe(|| body(number, &mut builder)));
            // Whatever the closure did: nodes that were added are in the graph, and use what they use.
            let mut contents = std::mem::take(&mut builder.contents);
            contents.inner.push(builder.number);
            self.broken = self.broken.or(builder.broken);
            let noted = self.add_contents(node, &contents);
            match outcome {
                Ok(Ok(())) => noted?,
                Ok(Err(error)) => {
                    self.break_at(node, unfinished);
                    return Err(error);
                }
                Err(panic) => {
                    self.break_at(node, unfinished);
                    resume_unwind(panic)
                }
            }
        }
        Ok(node)
    }

    /// Adds a conditional node with empty bodies, and gives the graphs of these, which live as long as the node.
    fn add_conditional(
        &mut self,
        condition: Condition,
        body_type: Type,
        bodies: u32,
    ) -> Result<(Node, Vec<raw::CUgraph>)> {
        if condition.graph != self.number {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the condition belongs to another graph or body",
                "make it by `condition` of the builder that the node is added to",
            ));
        }
        if !self.contents.conditions.is_unused(condition.handle) {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the condition already decides about another node",
                "make one for each node",
            ));
        }
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
        self.contents.conditions.give_to_node(condition.handle);
        // SAFETY: the call above succeeded, so the driver wrote the address of an array of `size` (`bodies`) graphs, which lives as long as the node.
        let graphs = unsafe {
            let graphs = parameters.__bindgen_anon_1.conditional.phGraph_out;
            std::slice::from_raw_parts(graphs, bodies as usize)
        };
        Ok((node, graphs.to_vec()))
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
                    .inspect_err(|_| self.break_at(node, INCOMPLETE))?;
            }
        }
        Ok(())
    }
}

fn never_ends() -> Error {
    Error::misuse(
        CALL,
        Code::INVALID_VALUE,
        "the loop would never end: no kernel in its body is passed its condition, so that nothing there could set it",
        "pass the condition to a kernel of the body, which sets it to 0 (`graph::Condition::set` of the device library) when the loop is to end",
    )
}
