//! Ranges of NVTX, NVIDIA's tools extension, version 3: Nsight Systems and other tools show them.
//!
//! NVTX has no library of its own. A tool that watches a process names *its* library by `NVTX_INJECTION64_PATH`; a program that has ranges loads
//! it and calls its `InitializeInjectionNvtx2` with a function by which the tool finds the program's tables, and writes its own functions into
//! them. This is the program's side of it, by NVIDIA's public headers (`nvtxTypes.h`, `nvToolsExt.h`), for ranges in a domain.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use crate::settings;

/// All of this crate's ranges are of one domain, which a tool can show or hide as a whole.
const DOMAIN: &CStr = c"warpsmith";
/// `NVTX_VERSION`
const VERSION: u16 = 3;

/// `NvtxExportTableID`
const CALLBACKS: u32 = 1;
const VERSION_INFO: u32 = 3;

/// `NvtxCallbackModule`
const CORE: c_int = 1;
const CORE2: c_int = 5;

/// `NVTX_CBID_CORE_SIZE`, `NVTX_CBID_CORE2_SIZE`
const FUNCTIONS: usize = 16;

/// `NvtxCallbackIdCore2`
const RANGE_PUSH: usize = 4;
const RANGE_POP: usize = 5;
const DOMAIN_CREATE: usize = 12;

/// `nvtxDomainCreateA`
type DomainCreate = unsafe extern "C" fn(*const c_char) -> *mut c_void;
/// `nvtxDomainRangePushEx`
type RangePush = unsafe extern "C" fn(*mut c_void, *const EventAttributes) -> c_int;
/// `nvtxDomainRangePop`
type RangePop = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `nvtxEventAttributes_v2`
#[repr(C)]
struct EventAttributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

const _: () = assert!(size_of::<EventAttributes>() == 48);

/// `NVTX_PAYLOAD_TYPE_UNSIGNED_INT64`, `NVTX_MESSAGE_TYPE_ASCII`
const PAYLOAD_U64: i32 = 1;
const MESSAGE_ASCII: i32 = 1;

/// `NvtxExportTableCallbacks`
#[repr(C)]
struct Callbacks {
    size: usize,
    module_functions: unsafe extern "C" fn(c_int, *mut *const Slot, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`
#[repr(C)]
struct VersionInfo {
    size: usize,
    version: u32,
    reserved: u32,
    set_tool_version: extern "C" fn(u32),
}

/// Where a tool writes one of its functions; null for none.
type Function = AtomicPtr<c_void>;
/// What a tool reads from a table: the function's place.
#[repr(transparent)]
struct Slot(*const Function);

// SAFETY: the address of a `static`, or null.
unsafe impl Sync for Slot {}

/// The functions of one module; a tool finds their places by `slots`, behind which stands a null.
struct Functions([Function; FUNCTIONS]);

impl Functions {
    const fn none() -> Functions {
        Functions([const { AtomicPtr::new(null_mut()) }; FUNCTIONS])
    }

    /// The places as a table. There is no function of the number 0.
    const fn slots(functions: &'static Functions) -> [Slot; FUNCTIONS + 1] {
        let mut slots = [const { Slot(null()) }; FUNCTIONS + 1];
        let mut number = 1;
        while number < FUNCTIONS {
            slots[number] = Slot(&functions.0[number]);
            number += 1;
        }
        slots
    }
}

/// Tools ask for these, too, and may refuse a program that has them not; nothing here calls them.
static CORE_FUNCTIONS: Functions = Functions::none();
static CORE_SLOTS: [Slot; FUNCTIONS + 1] = Functions::slots(&CORE_FUNCTIONS);
static CORE2_FUNCTIONS: Functions = Functions::none();
static CORE2_SLOTS: [Slot; FUNCTIONS + 1] = Functions::slots(&CORE2_FUNCTIONS);

static CALLBACKS_TABLE: Callbacks = Callbacks {
    size: size_of::<Callbacks>(),
    module_functions,
};
static VERSION_TABLE: VersionInfo = VersionInfo {
    size: size_of::<VersionInfo>(),
    version: VERSION as u32,
    reserved: 0,
    set_tool_version,
};

/// # Safety
///
/// Each pointer is null, or may be written through.
unsafe extern "C" fn module_functions(
    module: c_int,
    table: *mut *const Slot,
    count: *mut c_uint,
) -> c_int {
    let slots = match module {
        CORE => &CORE_SLOTS,
        CORE2 => &CORE2_SLOTS,
        _ => return 0,
    };
    // SAFETY: by the caller's contract.
    unsafe {
        if !table.is_null() {
            table.write(slots.as_ptr());
        }
        if !count.is_null() {
            count.write(FUNCTIONS as c_uint);
        }
    }
    1
}

extern "C" fn set_tool_version(_version: u32) {}

extern "C" fn export_table(table: u32) -> *const c_void {
    match table {
        CALLBACKS => (&raw const CALLBACKS_TABLE).cast(),
        VERSION_INFO => (&raw const VERSION_TABLE).cast(),
        _ => null(),
    }
}

/// The tool that listens.
struct Tool {
    push: RangePush,
    pop: RangePop,
    /// What the tool made of [`DOMAIN`]: a number of its own, or an address that only it follows.
    domain: AtomicPtr<c_void>,
}

/// Whether a tool listens. The first call of the process loads its library.
#[inline(always)]
pub(super) fn is_loaded() -> bool {
    tool().is_some()
}

#[inline(always)]
fn tool() -> Option<&'static Tool> {
    static TOOL: OnceLock<Option<Tool>> = OnceLock::new();
    TOOL.get_or_init(Tool::load).as_ref()
}

impl Tool {
    /// `None` where none is named; or, with a note on standard error, where it cannot be loaded.
    #[cold]
    fn load() -> Option<Tool> {
        type Initialize = unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;
        const INITIALIZE: &CStr = c"InitializeInjectionNvtx2";
        let path = settings::nvtx_injection()?;
        let ignored = |why: &dyn std::fmt::Display| {
            eprintln!(
                "warpsmith: no NVTX ranges: {why}; NVTX_INJECTION64_PATH names `{}`",
                path.display()
            );
        };
        // SAFETY: whoever sets the variable names a tool's library, whose initialisers expect nothing of the program: that is what the variable
        // is for.
        let library = match unsafe { Library::new(&path) } {
            Ok(library) => library,
            Err(error) => {
                ignored(&error);
                return None;
            }
        };
        // SAFETY: NVTX says that the function of this name has this type.
        let initialized = match unsafe { library.get::<Initialize>(INITIALIZE.to_bytes_with_nul()) }
        {
            // SAFETY: NVTX has it called so, once in a process for these tables.
            Ok(initialize) => unsafe { initialize(export_table) },
            Err(error) => {
                ignored(&error);
                return None;
            }
        };
        // Its functions may be in use from here on.
        std::mem::forget(library);
        if initialized == 0 {
            ignored(&"the library refuses");
            return None;
        }
        let function = |number: usize| {
            let function = CORE2_FUNCTIONS.0[number].load(Ordering::Acquire);
            (!function.is_null()).then_some(function)
        };
        let (push, pop) = (function(RANGE_PUSH)?, function(RANGE_POP)?);
        // SAFETY: NVTX says which type of function a tool writes into the slot of this number.
        let (push, pop) = unsafe {
            (
                std::mem::transmute::<*mut c_void, RangePush>(push),
                std::mem::transmute::<*mut c_void, RangePop>(pop),
            )
        };
        let domain = function(DOMAIN_CREATE).map_or(null_mut(), |create| {
            // SAFETY: NVTX says that the slot of this number has a function of this type; the name outlives the call.
            unsafe {
                let create = std::mem::transmute::<*mut c_void, DomainCreate>(create);
                create(DOMAIN.as_ptr())
            }
        });
        Some(Tool {
            push,
            pop,
            domain: AtomicPtr::new(domain),
        })
    }

    fn domain(&self) -> *mut c_void {
        self.domain.load(Ordering::Relaxed)
    }
}

/// A range that is open on this thread, and ends with this. Those of a thread are a stack: they end in the reverse order of their beginnings.
pub(super) struct Range {
    tool: &'static Tool,
    /// Neither `Send` nor `Sync`: the tool's stack is the thread's.
    _of_this_thread: PhantomData<*mut ()>,
}

impl Range {
    /// `None` where no tool listens.
    pub(super) fn begin(name: &str, bytes: Option<u64>) -> Option<Range> {
        let tool = tool()?;
        // Up to a zero byte, with which C ends it.
        let name = name.split('\0').next().unwrap_or_default();
        let name = CString::new(name).unwrap_or_default();
        let attributes = EventAttributes {
            version: VERSION,
            size: size_of::<EventAttributes>() as u16,
            category: 0,
            color_type: 0,
            color: 0,
            payload_type: if bytes.is_some() { PAYLOAD_U64 } else { 0 },
            reserved: 0,
            payload: bytes.unwrap_or(0),
            message_type: MESSAGE_ASCII,
            message: name.as_ptr(),
        };
        // SAFETY: the tool wrote the function for this; it copies what it keeps of the attributes, which outlive the call.
        unsafe { (tool.push)(tool.domain(), &attributes) };
        Some(Range {
            tool,
            _of_this_thread: PhantomData,
        })
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the tool wrote the function for this; as `self` is not `Send`, `begin` was called on this thread.
        unsafe { (self.tool.pop)(self.tool.domain()) };
    }
}
