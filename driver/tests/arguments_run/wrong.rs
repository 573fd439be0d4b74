//! What can be wrong with an argument, by the type and the name of its parameter.

use crate::world::World;

/// What is wrong with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A null pointer, or a null handle.
    Null,
    /// A handle of what was destroyed, memory that was freed.
    Ended,
    /// A handle of an object of another kind.
    Alien,
    /// A handle of an object of another context of the same device.
    OtherContext,
    /// A handle of an object, or memory, of another device.
    OtherDevice,
    /// A node of a graph that has nothing to do with the others of the call.
    OtherGraph,
    /// A node of another type than the call is for.
    OtherType,
    /// A flag or a value of an enumeration that does not exist.
    Unknown,
    Negative,
    TooLarge,
    Zero,
    Misaligned,
    /// No context is current.
    NoContext,
    /// The current context was destroyed.
    EndedContext,
}

/// What can be wrong with a call whatever its arguments.
pub const OF_CALLS: &[Kind] = &[Kind::NoContext, Kind::EndedContext];

impl Kind {
    /// Whether a real driver would follow the argument without a look at it.
    pub fn is_for_simulator_alone(self) -> bool {
        matches!(self, Kind::Ended | Kind::Alien)
    }
}

const ENUMERATIONS: &[&str] = &[
    "CUdevice_P2PAttribute",
    "CUdevice_attribute",
    "CUexecAffinityType",
    "CUfunc_cache",
    "CUfunction_attribute",
    "CUgraphMem_attribute",
    "CUjitInputType",
    "CUkernelNodeAttrID",
    "CUlimit",
    "CUresult",
    "CUsharedconfig",
    "CUstreamAttrID",
    "CUstreamCaptureMode",
];

/// Everything that can be wrong with the argument of a parameter.
pub fn kinds(parameter: &str, kind: &str) -> &'static [Kind] {
    use Kind::*;
    match kind {
        "CUstream" => &[Ended, Alien, OtherContext, OtherDevice],
        "CUevent" | "CUmodule" | "CUfunction" => &[Null, Ended, Alien, OtherContext, OtherDevice],
        "CUcontext"
        | "CUlibrary"
        | "CUkernel"
        | "CUlinkState"
        | "CUuserObject"
        | "CUexternalSemaphore"
        | "CUgraph"
        | "CUgraphExec" => &[Null, Ended, Alien],
        "CUgraphNode" => &[Null, Ended, Alien, OtherGraph, OtherType],
        "CUdeviceptr" => &[Null, Ended, Misaligned],
        "CUdevice" => &[Negative, TooLarge],
        "CUhostFn" | "CUstreamCallback" => &[Null],
        pointer if pointer.starts_with('*') => &[Null],
        enumeration if ENUMERATIONS.contains(&enumeration) => &[Unknown],
        _ => match parameter {
            "flags" | "Flags" => &[Unknown],
            "ordinal" | "priority" | "val" => &[Negative, TooLarge],
            "cudaVersion" | "paramIndex" | "sharedMemBytes" | "dynamicSMemSize" => &[TooLarge],
            "value" if kind == "c_int" => &[Negative, TooLarge],
            "value" if kind == "usize" => &[TooLarge],
            "gridDimX" | "gridDimY" | "gridDimZ" | "blockDimX" | "blockDimY" | "blockDimZ"
            | "initialRefcount" | "count" => &[Zero, TooLarge],
            "len" | "blockSize" | "numBlocks" => &[Zero, Negative],
            "blockSizeLimit" => &[Negative],
            "size" | "numExtSems" => &[Zero],
            _ => &[],
        },
    }
}

/// Parameters whose every value is right, or whose other values an array would have to match.
pub fn has_no_wrong(parameter: &str, kind: &str) -> bool {
    const FREE: &[&str] = &[
        // As many as an array has, which a larger number would leave.
        "bufferSize",
        "numDependencies",
        "numDevices",
        "numFunctions",
        "numJitOptions",
        "numKernels",
        "numLibraryOptions",
        "numOptions",
        "numParams",
        // What a word is compared with, or becomes; a truth; a value of the program's.
        "defaultLaunchValue",
        "isEnabled",
        "value",
        // A handle's bytes, by value: see `particular`.
        "handle",
        // None is right.
        "blockSizeToDynamicSMemSize",
    ];
    kinds(parameter, kind).is_empty() && FREE.contains(&parameter)
}

/// The bits of a wrong argument; none where the world has nothing that could be so.
pub fn bits(kind: Kind, of: &str, parameter: &str, right: &str, w: &World) -> Option<u64> {
    use Kind::*;
    Some(match kind {
        Null | Zero => 0,
        Negative => u64::MAX,
        Unknown if of == "CUresult" => 5000,
        // No function has this flag.
        Unknown => 0x2000_0000,
        TooLarge if of == "CUdevice" || parameter == "ordinal" => 16,
        TooLarge if of == "usize" => u64::MAX,
        TooLarge if matches!(of, "c_int") => i32::MAX as u64,
        TooLarge => 0x8000_0000,
        Misaligned => w.own.memory + 2,
        Ended => match of {
            "CUcontext" => w.gone.context as u64,
            "CUstream" => w.gone.stream as u64,
            "CUevent" => w.gone.event as u64,
            "CUmodule" => w.gone.module as u64,
            "CUfunction" => w.gone.function as u64,
            "CUlibrary" => w.gone_shared.library as u64,
            "CUkernel" => w.gone_shared.kernel as u64,
            "CUlinkState" => w.gone_shared.link as u64,
            "CUuserObject" => w.gone_shared.object as u64,
            "CUexternalSemaphore" => w.gone_shared.semaphore as u64,
            "CUgraph" => w.gone_shared.graph as u64,
            "CUgraphExec" => w.gone_shared.exec as u64,
            "CUgraphNode" => w.gone_shared.node as u64,
            "CUdeviceptr" => w.gone.memory,
            _ => panic!("no {of} ends"),
        },
        Alien if of == "CUstream" => w.own.event as u64,
        Alien => w.own.stream as u64,
        OtherContext | OtherDevice => {
            let objects = match kind {
                OtherContext => &w.other,
                _ => w.far.as_ref()?,
            };
            match of {
                "CUstream" => objects.stream as u64,
                "CUevent" => objects.event as u64,
                "CUmodule" => objects.module as u64,
                "CUfunction" => objects.function as u64,
                _ => panic!("no {of} has a context"),
            }
        }
        NoContext | EndedContext => panic!("not of an argument"),
        OtherGraph => w.shared.node as u64,
        OtherType if right.contains("Empty") => w.nodes.kernel as u64,
        OtherType => w.nodes.empty as u64,
    })
}
