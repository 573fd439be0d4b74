//! Copies and memsets of managed memory, on a device that shares it with the host while it works, and on one that cannot.

use crate::common::*;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

const WORDS: usize = 16;
const BYTES: usize = 64;

/// Whose the memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attached {
    /// From its allocation on, to all streams.
    Global,
    /// To all streams again, after it was the host's.
    GlobalAgain,
    /// From its allocation on, to the host.
    FromTheStart,
    Host,
    ThisStream,
    OtherStream,
    /// To a stream that has ended.
    EndedStream,
}

const ALL: [Attached; 7] = [
    Attached::Global,
    Attached::GlobalAgain,
    Attached::FromTheStart,
    Attached::Host,
    Attached::ThisStream,
    Attached::OtherStream,
    Attached::EndedStream,
];

impl Attached {
    /// Whether the device may use it in this stream.
    fn is_for_this_stream(self) -> bool {
        use Attached::{EndedStream, Global, GlobalAgain, ThisStream};
        matches!(self, Global | GlobalAgain | ThisStream | EndedStream)
    }

    fn memory(self, stream: CUstream) -> CUdeviceptr {
        const GLOBAL: c_uint = 1;
        const HOST: c_uint = 2;
        const SINGLE: c_uint = 4;
        let flags = if self == Attached::FromTheStart {
            HOST
        } else {
            GLOBAL
        };
        let memory: CUdeviceptr = get!(cuMemAllocManaged(BYTES, flags));
        let attach = |stream, flags| {
            ok!(cuStreamAttachMemAsync(stream, memory, 0, flags));
            ok!(cuStreamSynchronize(stream));
        };
        match self {
            Attached::Global | Attached::FromTheStart => {}
            Attached::GlobalAgain => {
                attach(stream, HOST);
                attach(stream, GLOBAL);
            }
            Attached::Host => attach(stream, HOST),
            Attached::ThisStream => attach(stream, SINGLE),
            Attached::OtherStream => attach(crate::common::stream(), SINGLE),
            Attached::EndedStream => {
                let ended = crate::common::stream();
                attach(ended, SINGLE);
                ok!(cuStreamDestroy_v2(ended));
            }
        }
        memory
    }
}

/// As what kind of operand the memory is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    /// The source or the destination on the device.
    DeviceSource,
    DeviceTarget,
    /// The source or the destination on the host.
    HostSource,
    HostTarget,
    /// Either, of a copy that goes by the addresses.
    AnySource,
    AnyTarget,
    Memset,
}

impl Operand {
    const ALL: [Operand; 7] = [
        Operand::DeviceSource,
        Operand::DeviceTarget,
        Operand::HostSource,
        Operand::HostTarget,
        Operand::AnySource,
        Operand::AnyTarget,
        Operand::Memset,
    ];

    /// Whether it is always the device that accesses it.
    fn is_the_devices(self) -> bool {
        use Operand::{DeviceSource, DeviceTarget, Memset};
        matches!(self, DeviceSource | DeviceTarget | Memset)
    }

    /// Does it; `other` is device memory.
    fn perform(self, memory: CUdeviceptr, other: CUdeviceptr, stream: CUstream) -> CUresult {
        let host = memory as *mut c_void;
        // SAFETY: both are allocations of `BYTES` bytes that live for the test.
        unsafe {
            match self {
                Operand::DeviceSource => cuMemcpyDtoDAsync_v2(other, memory, BYTES, stream),
                Operand::DeviceTarget => cuMemcpyDtoDAsync_v2(memory, other, BYTES, stream),
                Operand::HostSource => cuMemcpyHtoDAsync_v2(other, host, BYTES, stream),
                Operand::HostTarget => cuMemcpyDtoHAsync_v2(host, other, BYTES, stream),
                Operand::AnySource => cuMemcpyAsync(other, memory, BYTES, stream),
                Operand::AnyTarget => cuMemcpyAsync(memory, other, BYTES, stream),
                Operand::Memset => cuMemsetD32Async(memory, 9, WORDS, stream),
            }
        }
    }

    fn writes(self) -> bool {
        use Operand::{AnyTarget, DeviceTarget, HostTarget, Memset};
        matches!(self, DeviceTarget | HostTarget | AnyTarget | Memset)
    }
}

#[test]
fn the_device_copies_only_what_is_for_its_stream() {
    // covers: UM-41, UM-42
    if !is_child() {
        for attribute in ["89=0", "89=1"] {
            let variables = [
                ("WARPSMITH_SIMULATOR_ATTRIBUTES", attribute),
                ("WARPSMITH_REPORT", "0"),
            ];
            run_in_child(&calling_test(), &variables);
        }
        return;
    }
    let _turn = turn();
    gpu();
    let concurrent = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    let shares: c_int = get!(cuDeviceGetAttribute(concurrent, 0));
    let stream = stream();
    let other = upload(&[9u32; WORDS]);
    for attached in ALL {
        for operand in Operand::ALL {
            let memory = attached.memory(stream);
            let answer = operand.perform(memory, other, stream);
            let allowed = shares != 0 || attached.is_for_this_stream() || !operand.is_the_devices();
            let expected = if allowed { 0 } else { 1 };
            assert_eq!(answer.0, expected, "{operand:?} of {attached:?}");
            ok!(cuStreamSynchronize(stream));
            if operand.writes() {
                // SAFETY: managed memory of this size, which no work uses any more.
                let word = unsafe { (memory as *const u32).add(WORDS - 1).read_volatile() };
                assert_eq!(
                    word,
                    if allowed { 9 } else { 0 },
                    "{operand:?} of {attached:?}"
                );
            }
            ok!(cuMemFree_v2(memory));
            ok!(cuMemcpyHtoD_v2(other, [9u32; WORDS].as_ptr().cast(), BYTES));
            ok!(cuStreamSynchronize(null_mut()));
        }
    }
}
