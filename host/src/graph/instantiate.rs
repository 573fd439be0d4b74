//! Making graphs ready to launch.

use std::sync::{Arc, Weak};

use warpsmith_driver::raw;

use super::builder::{Broken, Instance};
use super::contents::{RecordedHost, RecordedKernel};
use super::description::Graph;
use super::exec::{GraphExec, HostCall, Whole, find_owners};
use super::panic_sources::PanicSources;
use super::template::TemplateTurn;
use crate::driver_call::call;
use crate::error::{Busy, Code, Error, Node, Result};
use crate::stream::host_function::{Repeated, run_repeated};
use crate::sync::lock;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`
const USE_NODE_PRIORITY: u64 = 8;

impl Graph {
    /// Makes the graph ready to launch: a snapshot, which later changes of the graph do not touch.
    ///
    /// Where a kernel was given a priority ([`LaunchOptions::priority`](crate::LaunchOptions::priority)), all kernels of the graph run by their nodes'
    /// priorities: captured ones without a priority of their own by that of the stream that was captured, others by 0. Else they run by
    /// that of the stream in which the graph is launched.
    ///
    /// # Errors
    ///
    /// The driver cannot make it ready; the error says why (a condition that no node uses, for example). Of a graph that allocates
    /// memory there is one executable graph at a time.
    // covers: GRAPH-23, COND-01
    pub fn instantiate(&self) -> Result<GraphExec> {
        let gpu = &self.gpu;
        gpu.bind()?;
        self.refuse_broken("cuGraphInstantiate")?;
        let allocates = self.contents.allocates();
        if allocates {
            self.free_memory()?;
            self.refuse_second_instance()?;
        }
        let has_priority = |kernel: &RecordedKernel| kernel.launch.has_priority();
        let flags = match self.contents.launches.iter().any(has_priority) {
            true => USE_NODE_PRIORITY,
            false => 0,
        };
        self.make_exec(flags, PanicSources::default())
    }

    /// As [`instantiate`](Self::instantiate), of a graph that allocates no memory or has no other executable graph, with the driver's flags. Where
    /// it tells of panics can be there already.
    pub(super) fn make_exec(&self, flags: u64, mut panics: PanicSources) -> Result<GraphExec> {
        let turn = self.template.turn();
        let mut functions = self.report_to(&turn, &mut panics)?;
        find_owners(&mut functions, &self.parts);
        let mut parameters = raw::CUDA_GRAPH_INSTANTIATE_PARAMS {
            flags,
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the driver writes to `handle` and `parameters`, which outlive the call; `self` owns the graph.
        let result = unsafe {
            call!(cuGraphInstantiateWithParams(
                &mut handle,
                self.raw,
                &mut parameters
            ))
        };
        if let Err(error) = result {
            let reason = match parameters.result_out.0 {
                2 => "the graph's structure is invalid",
                3 => "a node cannot be part of such a graph",
                4 => "nodes belong to different devices",
                5 => "a condition is not used by any node",
                _ => "the driver gives no reason",
            };
            let node = parameters.hErrNode_out;
            let node = (!node.is_null()).then(|| Node::new(node, self.number));
            return Err(error.while_doing(|| match node {
                Some(node) => format!("{reason}: {node:?}"),
                None => reason.into(),
            }));
        }
        let instance = Arc::new(Instance);
        *lock(&self.instance) = Arc::downgrade(&instance);
        Ok(GraphExec {
            gpu: self.gpu.clone(),
            raw: handle,
            instance,
            contents: self.contents.clone(),
            template: self.template.clone(),
            template_number: self.number,
            parts: Some(self.parts.clone()),
            captured_memory: self.captured_memory.clone(),
            panics,
            functions,
            whole: Whole::of(self),
            is_changed: false,
            switched_off: Vec::new(),
            last_stream: Weak::new(),
        })
    }

    /// # Errors
    ///
    /// An earlier error has left a node without an edge that it needs, or a body unfinished.
    pub(super) fn refuse_broken(&self, call: &'static str) -> Result<()> {
        let Some(Broken { node, what }) = self.broken else {
            return Ok(());
        };
        Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            format!("nothing can be made of the graph because of {node:?}: {what}"),
            "build the graph anew, and look at that call's error",
        ))
    }

    /// Two executable graphs with the same memory could run at the same time.
    fn refuse_second_instance(&self) -> Result<()> {
        let exists = || lock(&self.instance).strong_count() > 0;
        if exists() {
            // One that was dropped may still have to be destroyed.
            self.gpu.reclaim();
        }
        if exists() {
            return Err(Error::Busy(Box::new(Busy {
                call: "cuGraphInstantiate",
                reason: "the graph allocates memory, and an executable graph of it exists".into(),
                hint: "drop that one, and wait for its launches: `gpu.synchronize()`",
            })));
        }
        Ok(())
    }

    /// Has the nodes tell of panics where an executable graph does, which may still have to be made; gives what the host nodes point to
    /// from here on.
    pub(super) fn report_to(
        &self,
        _turn: &TemplateTurn<'_>,
        panics: &mut PanicSources,
    ) -> Result<Vec<HostCall>> {
        let contents = &self.contents;
        let kernels = contents.launches.iter();
        let kernels = kernels.filter(|kernel| kernel.launch.can_panic());
        for kernel in kernels {
            if let Some(node) = kernel.node {
                let source = panics.of(kernel.launch.panics())?;
                // SAFETY: the node is of this graph, and no method removes nodes; it is the one of the launch, which can panic. `_turn` keeps other
                // threads away.
                unsafe { kernel.launch.set_panic_log(node.raw(), source.address()) }?;
            }
        }
        if contents.host_functions.is_empty() {
            return Ok(Vec::new());
        }
        let source = panics.of(self.gpu.panics())?;
        let host_functions = self.gpu.panics().host_functions();
        let set = |host: &RecordedHost| {
            let function = Arc::new(Repeated::new(host_functions, source, &host.function));
            let parameters = raw::CUDA_HOST_NODE_PARAMS {
                fn_: Some(run_repeated),
                userData: Arc::as_ptr(&function).cast_mut().cast(),
            };
            // SAFETY: the node is of this graph, and no method removes nodes. The driver copies `parameters`; `userData` is the `Repeated`
            // that `run_repeated` asks for, which the executable graph keeps until its launches are done. The graph itself does not run.
            unsafe { call!(cuGraphHostNodeSetParams(host.node.raw(), &parameters)) }?;
            Ok(HostCall {
                node: host.node,
                owner: None,
                function,
            })
        };
        contents.host_functions.iter().map(set).collect()
    }
}
