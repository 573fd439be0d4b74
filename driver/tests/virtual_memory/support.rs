//! Memory, addresses, mappings and kernels in as few words as the tests need.

use crate::common::*;

/// What sizes and addresses are multiples of on an H200.
pub const PIECE: usize = 2 << 20;
pub const READ: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
pub const READ_WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
pub const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
pub const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

pub fn device() -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    }
}

pub fn host_node() -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA,
        ..Default::default()
    }
}

pub fn properties() -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: device(),
        ..Default::default()
    }
}

pub fn create(bytes: usize) -> CUmemGenericAllocationHandle {
    get!(cuMemCreate(bytes, &properties(), 0))
}

pub fn reserve(bytes: usize) -> CUdeviceptr {
    get!(cuMemAddressReserve(bytes, 0, 0, 0))
}

pub fn grant(address: CUdeviceptr, bytes: usize, flags: CUmemAccess_flags) {
    let wish = CUmemAccessDesc {
        location: device(),
        flags,
    };
    ok!(cuMemSetAccess(address, bytes, &wish, 1));
}

/// New memory at an address, for reading and writing.
pub fn map_new(address: CUdeviceptr, bytes: usize) -> CUmemGenericAllocationHandle {
    let handle = create(bytes);
    ok!(cuMemMap(address, bytes, 0, handle, 0));
    grant(address, bytes, READ_WRITE);
    handle
}

pub fn attribute(key: CUpointer_attribute, address: CUdeviceptr) -> u64 {
    let mut value = 0u64;
    ok!(cuPointerGetAttribute((&raw mut value).cast(), key, address));
    value
}

pub fn free_memory() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    free
}

/// Stores one word at an address and adds up two.
pub const PTX: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], 41;
    ret;
}
.visible .entry add(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [%rd2];
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
";

pub fn launch(module: CUmodule, name: &core::ffi::CStr, mut arguments: Vec<u64>) {
    let function: CUfunction = get!(cuModuleGetFunction(module, name.as_ptr()));
    let mut parameters: Vec<*mut c_void> = arguments
        .iter_mut()
        .map(|argument| (&raw mut *argument).cast())
        .collect();
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
}
