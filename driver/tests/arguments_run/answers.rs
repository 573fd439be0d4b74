//! What the driver answers to a wrong argument.

use crate::table::Call;
use crate::wrong::Kind;

const INVALID_VALUE: u32 = 1;
const INVALID_DEVICE: u32 = 101;
const INVALID_CONTEXT: u32 = 201;
const INVALID_HANDLE: u32 = 400;

/// Where the answer is another than the one that follows from the type: function, parameter (`*` for each), what is wrong, answer. A
/// function's name that ends with `*` stands for all that begin so.
const PARTICULAR: &[(&str, &str, Kind, u32)] = &[];

/// What the simulator does not have, whatever the arguments.
const MISSING: &[&str] = &[
    "cuCtxGetExecAffinity",
    "cuCtxRecordEvent",
    "cuCtxWaitEvent",
    "cuDeviceGetExecAffinitySupport",
    "cuDeviceGetProperties",
    "cuLaunchCooperativeKernelMultiDevice",
];

/// Rows in which a real driver follows an argument without a look at it.
const ENDS_A_REAL_PROCESS: &[&str] = &[];

/// Whether a row cannot be asked of a real driver.
pub fn ends_a_real_process(row: &str) -> bool {
    ENDS_A_REAL_PROCESS.contains(&row)
}

/// The answer to a call with this argument wrong.
pub fn expected(call: &Call, parameter: &str, of: &str, kind: Kind) -> u32 {
    let found = PARTICULAR.iter().find(|(name, place, wrong, _)| {
        let is_named = match name.strip_suffix('*') {
            Some(prefix) => call.name.starts_with(prefix),
            None => call.name == *name,
        };
        is_named && matches!(*place, place if place == "*" || place == parameter) && *wrong == kind
    });
    match found {
        Some((.., answer)) => *answer,
        None => usual(of, kind, call.answer),
    }
}

fn usual(of: &str, kind: Kind, right: u32) -> u32 {
    match (of, kind) {
        // The call is for no context in particular.
        (_, Kind::OtherContext | Kind::OtherDevice) => right,
        ("CUcontext", _) => INVALID_CONTEXT,
        ("CUgraph" | "CUgraphNode" | "CUgraphExec", Kind::Null) => INVALID_VALUE,
        ("CUdeviceptr", _) => INVALID_VALUE,
        ("CUdevice", _) => INVALID_DEVICE,
        (pointer, Kind::Null)
            if pointer.starts_with('*')
                || pointer == "CUhostFn"
                || pointer == "CUstreamCallback" =>
        {
            INVALID_VALUE
        }
        (_, Kind::Null | Kind::Ended | Kind::Alien) => INVALID_HANDLE,
        _ => INVALID_VALUE,
    }
}
