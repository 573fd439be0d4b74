//! What the rows' arguments are taken from: sound objects of each kind, and what has become of others.

use crate::common::*;
use crate::row::{all, at};

pub const BYTES: usize = 4096;
/// What sizes and addresses of virtual memory are multiples of.
pub const PIECE: usize = 2 << 20;
pub const U8: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
pub const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
pub const READ_WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

/// No page of any process lies here.
pub const NOWHERE: CUdeviceptr = 0x1234;
/// A device that no machine has.
pub const NO_DEVICE: CUdevice = 99;
/// A value that no enumeration and no set of flags has.
pub const ODD: u32 = 0x7b00_0000;

pub struct World {
    pub context: CUcontext,
    /// Another one of the same device.
    pub other: CUcontext,
    pub destroyed_context: CUcontext,
    pub stream: CUstream,
    pub destroyed_stream: CUstream,
    /// `BYTES` of device memory.
    pub memory: CUdeviceptr,
    pub freed: CUdeviceptr,
    /// `BYTES` that belonged to the destroyed context.
    pub orphaned: CUdeviceptr,
    pub managed: CUdeviceptr,
    pub freed_managed: CUdeviceptr,
    pub pinned: *mut c_void,
    pub freed_pinned: *mut c_void,
    /// Twice `BYTES` of ordinary memory.
    pub host: *mut c_void,
    pub registered: *mut c_void,
    pub pool: CUmemoryPool,
    pub shareable_pool: CUmemoryPool,
    pub destroyed_pool: CUmemoryPool,
    pub pooled: CUdeviceptr,
    pub shared: CUdeviceptr,
    pub freed_pooled: CUdeviceptr,
    /// 16 x 4 bytes.
    pub array: CUarray,
    /// 8 x 4 x 2 bytes, also for surfaces.
    pub box_array: CUarray,
    pub destroyed_array: CUarray,
    pub orphaned_array: CUarray,
    /// Three levels, the first of 4 x 4 bytes.
    pub mipmapped: CUmipmappedArray,
    pub destroyed_mipmapped: CUmipmappedArray,
    pub texture: CUtexObject,
    pub destroyed_texture: CUtexObject,
    pub surface: CUsurfObject,
    pub destroyed_surface: CUsurfObject,
    pub physical: CUmemGenericAllocationHandle,
    pub released_physical: CUmemGenericAllocationHandle,
    /// Three pieces, of which the first is mapped and accessible.
    pub range: CUdeviceptr,
    pub freed_range: CUdeviceptr,
    pub graph: CUgraph,
    pub elsewhere: Option<Elsewhere>,
}

/// What lies on the second device.
pub struct Elsewhere {
    pub context: CUcontext,
    pub memory: CUdeviceptr,
    pub array: CUarray,
    pub stream: CUstream,
    pub pool: CUmemoryPool,
}

impl World {
    pub fn new() -> Self {
        gpu();
        // Each thread has a stack of contexts; with one in it, a row without a context takes that one off.
        ok!(cuCtxSetCurrent(null_mut()));
        let elsewhere = (get!(cuDeviceGetCount()) > 1i32).then(Elsewhere::new);
        let destroyed_context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let orphaned: CUdeviceptr = get!(cuMemAlloc_v2(BYTES));
        let orphaned_array = array([16, 4, 0], 0);
        ok!(cuCtxDestroy_v2(destroyed_context));
        let other: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let _: CUcontext = get!(cuCtxPopCurrent_v2());
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let (stream, destroyed_stream) = (stream(), stream());
        ok!(cuStreamDestroy_v2(destroyed_stream));

        let host = host_memory(2 * BYTES);
        let registered = host_memory(BYTES);
        ok!(cuMemHostRegister_v2(registered, BYTES, 0));
        let memory = upload(&[7u8; BYTES]);
        let freed: CUdeviceptr = get!(cuMemAlloc_v2(BYTES));
        ok!(cuMemFree_v2(freed));
        let managed: CUdeviceptr = get!(cuMemAllocManaged(16 * BYTES, 1));
        let freed_managed: CUdeviceptr = get!(cuMemAllocManaged(16 * BYTES, 1));
        ok!(cuMemFree_v2(freed_managed));
        let pinned: *mut c_void = get!(cuMemHostAlloc(BYTES, 0));
        let freed_pinned: *mut c_void = get!(cuMemHostAlloc(BYTES, 0));
        ok!(cuMemFreeHost(freed_pinned));

        let none = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        let (private, exportable) = (pool_properties(none), pool_properties(DESCRIPTOR));
        let pool: CUmemoryPool = get!(cuMemPoolCreate(&private));
        let shareable_pool: CUmemoryPool = get!(cuMemPoolCreate(&exportable));
        let destroyed_pool: CUmemoryPool = get!(cuMemPoolCreate(&private));
        ok!(cuMemPoolDestroy(destroyed_pool));
        let pooled: CUdeviceptr = get!(cuMemAllocFromPoolAsync(BYTES, pool, stream));
        let shared: CUdeviceptr = get!(cuMemAllocFromPoolAsync(BYTES, shareable_pool, stream));
        let freed_pooled: CUdeviceptr = get!(cuMemAllocFromPoolAsync(BYTES, pool, stream));
        ok!(cuMemFreeAsync(freed_pooled, stream));
        ok!(cuStreamSynchronize(stream));

        let destroyed_array = array([16, 4, 0], 0);
        ok!(cuArrayDestroy(destroyed_array));
        let box_array = array([8, 4, 2], CUDA_ARRAY3D_SURFACE_LDST);
        let array = array([16, 4, 0], 0);
        let description = array_description([4, 4, 0], 0);
        let mipmapped: CUmipmappedArray = get!(cuMipmappedArrayCreate(&description, 3));
        let destroyed_mipmapped: CUmipmappedArray = get!(cuMipmappedArrayCreate(&description, 3));
        ok!(cuMipmappedArrayDestroy(destroyed_mipmapped));
        let (resource, sampling) = (resource_of(array), CUDA_TEXTURE_DESC::default());
        let texture: CUtexObject = get!(cuTexObjectCreate(&resource, &sampling, null()));
        let destroyed_texture: CUtexObject = get!(cuTexObjectCreate(&resource, &sampling, null()));
        ok!(cuTexObjectDestroy(destroyed_texture));
        let resource = resource_of(box_array);
        let surface: CUsurfObject = get!(cuSurfObjectCreate(&resource));
        let destroyed_surface: CUsurfObject = get!(cuSurfObjectCreate(&resource));
        ok!(cuSurfObjectDestroy(destroyed_surface));

        let properties = physical_properties();
        let physical: CUmemGenericAllocationHandle = get!(cuMemCreate(PIECE, &properties, 0));
        let released_physical: CUmemGenericAllocationHandle =
            get!(cuMemCreate(PIECE, &properties, 0));
        ok!(cuMemRelease(released_physical));
        let range: CUdeviceptr = get!(cuMemAddressReserve(3 * PIECE, 0, 0, 0));
        ok!(cuMemMap(range, PIECE, 0, physical, 0));
        ok!(cuMemSetAccess(range, PIECE, &grant(device(0)), 1));
        let freed_range: CUdeviceptr = get!(cuMemAddressReserve(PIECE, 0, 0, 0));
        ok!(cuMemAddressFree(freed_range, PIECE));
        let graph: CUgraph = get!(cuGraphCreate(0));
        ok!(cuCtxSynchronize());
        Self {
            context,
            other,
            destroyed_context,
            stream,
            destroyed_stream,
            memory,
            freed,
            orphaned,
            managed,
            freed_managed,
            pinned,
            freed_pinned,
            host,
            registered,
            pool,
            shareable_pool,
            destroyed_pool,
            pooled,
            shared,
            freed_pooled,
            array,
            box_array,
            destroyed_array,
            orphaned_array,
            mipmapped,
            destroyed_mipmapped,
            texture,
            destroyed_texture,
            surface,
            destroyed_surface,
            physical,
            released_physical,
            range,
            freed_range,
            graph,
            elsewhere,
        }
    }

    /// What lies on the second device, in rows that need two.
    pub fn there(&self) -> &Elsewhere {
        self.elsewhere.as_ref().expect("the row needs two devices")
    }

    /// Memory of the driver's own as an address of the host.
    pub fn host_address(&self) -> CUdeviceptr {
        self.host as CUdeviceptr
    }

    /// All that a refused call must not change.
    pub fn state(&self) -> State {
        let mut of = Vec::new();
        let mut note = |what: &str, value: u64| of.push((what.to_owned(), value));
        let current: CUcontext = get!(cuCtxGetCurrent());
        note("the current context", current as u64);
        ok!(cuCtxSynchronize());
        if warpsmith_driver::backend() == Some(Backend::Simulator) {
            // A real driver takes memory for itself when it likes.
            let (mut free, mut total) = (0, 0);
            ok!(cuMemGetInfo_v2(&mut free, &mut total));
            note("free memory", free as u64);
        }
        for (what, pool) in [
            ("the pool's", self.pool),
            ("the shareable pool's", self.shareable_pool),
        ] {
            for key in [1, 2, 3, 4, 5, 7] {
                let mut value = 0u64;
                let value_at = (&raw mut value).cast();
                ok!(cuMemPoolGetAttribute(
                    pool,
                    CUmemPool_attribute(key),
                    value_at
                ));
                note(&format!("{what} attribute {key}"), value);
            }
        }
        let pool: CUmemoryPool = get!(cuDeviceGetMemPool(0));
        note("the device's pool", pool as u64);
        for (what, address) in [
            ("the memory", self.memory),
            ("the managed memory", self.managed),
            ("the pooled memory", self.pooled),
            ("the mapped memory", self.range),
            ("the pinned memory", self.pinned as CUdeviceptr),
            ("the registered memory", self.registered as CUdeviceptr),
        ] {
            let mut value = 0u64;
            let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
            ok!(cuPointerGetAttribute((&raw mut value).cast(), key, address));
            note(&format!("{what}'s number"), value);
        }
        let mut bytes = [0u8; BYTES];
        ok!(cuMemcpyDtoH_v2(
            bytes.as_mut_ptr().cast(),
            self.memory,
            BYTES
        ));
        let sum = bytes.iter().map(|&byte| u64::from(byte)).sum();
        note("the memory's sum", sum);
        for key in 1..=4 {
            let mut value = 0u32;
            let (to, key) = ((&raw mut value).cast(), CUmem_range_attribute(key));
            ok!(cuMemRangeGetAttribute(to, 4, key, self.managed, 16 * BYTES));
            note(&format!("the range's attribute {}", key.0), value.into());
        }
        let mut access = 0;
        ok!(cuMemGetAccess(&mut access, &device(0), self.range));
        note("the mapping's access", access);
        for array in [self.array, self.box_array] {
            let mut is = CUDA_ARRAY3D_DESCRIPTOR::default();
            ok!(cuArray3DGetDescriptor_v2(&mut is, array));
            note("an array's width", is.Width as u64);
        }
        let mut sampling = CUDA_TEXTURE_DESC::default();
        ok!(cuTexObjectGetTextureDesc(&mut sampling, self.texture));
        State(of)
    }
}

impl Elsewhere {
    fn new() -> Self {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 1));
        let mut properties = pool_properties(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
        properties.location = device(1);
        let there = Self {
            context,
            memory: get!(cuMemAlloc_v2(BYTES)),
            array: array([16, 4, 0], 0),
            stream: stream(),
            pool: get!(cuMemPoolCreate(&properties)),
        };
        let popped: CUcontext = get!(cuCtxPopCurrent_v2());
        assert_eq!(popped, context);
        there
    }
}

/// What is in place, by name.
#[derive(PartialEq)]
pub struct State(Vec<(String, u64)>);

impl State {
    pub fn differences(&self, after: &Self) -> String {
        let pairs = self.0.iter().zip(&after.0);
        let different = pairs.filter(|(one, other)| one != other);
        let text = different.map(|((what, one), (_, other))| format!("{what}: {one} to {other}"));
        text.collect::<Vec<_>>().join(", ")
    }
}

/// Whole pages, which stay as long as the process.
fn host_memory(bytes: usize) -> *mut c_void {
    #[repr(align(4096))]
    #[derive(Clone)]
    struct Page(#[expect(dead_code, reason = "the driver uses it")] [u8; BYTES]);
    vec![Page([0; BYTES]); bytes / BYTES]
        .leak()
        .as_mut_ptr()
        .cast()
}

pub fn device(number: CUdevice) -> CUmemLocation {
    location(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, number)
}

pub fn location(kind: CUmemLocationType, number: c_int) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: kind,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = number;
    location
}

/// The right to read and write for a place.
pub fn grant(place: CUmemLocation) -> CUmemAccessDesc {
    CUmemAccessDesc {
        location: place,
        flags: READ_WRITE,
    }
}

pub fn pool_properties(handles: CUmemAllocationHandleType) -> CUmemPoolProps {
    CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: handles,
        location: device(0),
        ..Default::default()
    }
}

pub fn physical_properties() -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: DESCRIPTOR,
        location: device(0),
        ..Default::default()
    }
}

pub fn array_description(
    [width, height, depth]: [usize; 3],
    flags: u32,
) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: U8,
        NumChannels: 1,
        Flags: flags,
    }
}

fn array(extents: [usize; 3], flags: u32) -> CUarray {
    get!(cuArray3DCreate_v2(&array_description(extents, flags)))
}

pub fn resource_of(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        ..Default::default()
    };
    resource.res.array.hArray = array;
    resource
}

/// A changed copy of a description, behind a pointer.
pub fn changed<T: Copy>(value: T, change: impl FnOnce(&mut T)) -> *mut T {
    let place = at(value);
    // SAFETY: a place of its own.
    change(unsafe { &mut *place });
    place
}

/// The arrays of a batch of one.
pub fn one<T>(value: T) -> *mut T {
    all([value])
}
