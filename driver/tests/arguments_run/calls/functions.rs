//! Functions of modules and kernels of libraries, and how many blocks of them fit.

use crate::common::*;
use crate::table::calls;
use crate::world::*;

const REGISTERS: CUfunction_attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
const CARVEOUT: CUfunction_attribute =
    CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
const CACHE: CUfunc_cache = CUfunc_cache::CU_FUNC_CACHE_PREFER_L1;

/// A launch of one block of one cluster.
fn configuration(w: &World) -> *const CUlaunchConfig {
    let attribute = slot(CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        ..Default::default()
    });
    // SAFETY: the attribute was just made, and nobody else has it.
    unsafe {
        (*attribute).value.clusterDim =
            CUlaunchAttributeValue_union__bindgen_ty_1 { x: 1, y: 1, z: 1 };
    }
    given(CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: w.own.stream,
        attrs: attribute,
        numAttrs: 1,
        ..Default::default()
    })
}

calls! { w:
    cuFuncGetAttribute(out(), REGISTERS, w.own.function) 0;
    cuFuncSetAttribute(w.own.function, CARVEOUT, 50) 0;
    cuFuncSetCacheConfig(w.own.function, CACHE) 0;
    cuFuncSetSharedMemConfig(w.own.function, CUsharedconfig::CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE) 0;
    cuFuncGetModule(out(), w.own.function) 0;
    cuFuncGetName(out(), w.own.function) 0;
    cuFuncGetParamInfo(w.own.function, 0, out(), out()) 0;
    cuFuncGetParamCount(w.own.function, out()) 0;
    cuFuncIsLoaded(out(), w.own.function) 0;
    cuFuncLoad(w.own.function) 0;
    cuKernelGetFunction(out(), w.shared.kernel) 0;
    cuKernelGetLibrary(out(), w.shared.kernel) 0;
    cuKernelGetName(out(), w.shared.kernel) 0;
    cuKernelGetParamInfo(w.shared.kernel, 0, out(), out()) 0;
    cuKernelGetAttribute(out(), REGISTERS, w.shared.kernel, 0) 0;
    cuKernelSetAttribute(CARVEOUT, 50, w.shared.kernel, 0) 0;
    cuKernelSetCacheConfig(w.shared.kernel, CACHE, 0) 0;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(out(), w.own.function, 32, 0) 0;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out(), w.own.function, 32, 0, 0) 0;
    cuOccupancyMaxPotentialBlockSize(out(), out(), w.own.function, None, 0, 0) 0;
    cuOccupancyMaxPotentialBlockSizeWithFlags(out(), out(), w.own.function, None, 0, 0, 0) 0;
    cuOccupancyAvailableDynamicSMemPerBlock(out(), w.own.function, 1, 32) 0;
    cuOccupancyMaxPotentialClusterSize(out(), w.own.function, configuration(w)) 0;
    cuOccupancyMaxActiveClusters(out(), w.own.function, configuration(w)) 0;
}
