//! How a texture is read: addressing, filtering, and what becomes of integers.

use super::resource::Resource;
use crate::error::{Result, code};
use crate::report;
use warpsmith_abi::{
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, CU_TRSF_NORMALIZED_COORDINATES,
    CU_TRSF_READ_AS_INTEGER, CU_TRSF_SEAMLESS_CUBEMAP, CU_TRSF_SRGB, CUDA_ARRAY3D_CUBEMAP,
    CUDA_TEXTURE_DESC, CUaddress_mode as AddressMode, CUarray_format as Format,
    CUfilter_mode as FilterMode,
};

const FLAGS: u32 = CU_TRSF_READ_AS_INTEGER
    | CU_TRSF_NORMALIZED_COORDINATES
    | CU_TRSF_SRGB
    | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    | CU_TRSF_SEAMLESS_CUBEMAP;

/// Whether a texture of components of a format can be read so. Modes that need normalised coordinates are those of a structure of zeros;
/// without such coordinates they mean clamping, as the runtime's manual has it.
///
/// # Errors
///
/// A mode or a flag does not exist, integers that stay integers are to be filtered, or the coordinates of a mipmapped array are not
/// normalised. Not supported: filtering across the edges of a cube, and sRGB values of other than 8 bits.
pub(super) fn check_sampling(
    sampling: &CUDA_TEXTURE_DESC,
    resource: &Resource,
    format: Format,
) -> Result {
    let known_modes = sampling
        .addressMode
        .iter()
        .all(|mode| mode.0 <= AddressMode::CU_TR_ADDRESS_MODE_BORDER.0);
    let known_filters = [sampling.filterMode, sampling.mipmapFilterMode]
        .iter()
        .all(|filter| filter.0 <= FilterMode::CU_TR_FILTER_MODE_LINEAR.0);
    if !known_modes || !known_filters || sampling.flags & !FLAGS != 0 {
        return Err(code::INVALID_VALUE);
    }
    let has = |flag: u32| sampling.flags & flag != 0;
    if has(CU_TRSF_SRGB) && format != Format::CU_AD_FORMAT_UNSIGNED_INT8 {
        return Err(code::NOT_SUPPORTED);
    }
    let is_linear = |filter| filter == FilterMode::CU_TR_FILTER_MODE_LINEAR;
    let array = resource.array().map(|(shape, _)| shape.descriptor());
    let is_cube = array.is_some_and(|array| array.Flags & CUDA_ARRAY3D_CUBEMAP != 0);
    if has(CU_TRSF_SEAMLESS_CUBEMAP) && is_cube && is_linear(sampling.filterMode) {
        return Err(code::NOT_SUPPORTED);
    }
    let is_mipmapped = matches!(resource, Resource::Mipmapped(_));
    if is_mipmapped && !has(CU_TRSF_NORMALIZED_COORDINATES) {
        report::remark(
            "cuTexObjectCreate: coordinates of a mipmapped array are normalised, as its levels differ in their extents: set \
             CU_TRSF_NORMALIZED_COORDINATES",
        );
        return Err(code::INVALID_VALUE);
    }
    // Of texels in a row at an address nothing is filtered, whatever the mode says.
    let filters = is_linear(sampling.filterMode) && !matches!(resource, Resource::Linear(_))
        || is_linear(sampling.mipmapFilterMode) && is_mipmapped;
    if filters && stays_integer(format, sampling.flags) {
        report::remark(
            "cuTexObjectCreate: only floats can be filtered, and a fetch from this texture gives integers: \
             CU_TR_FILTER_MODE_LINEAR needs a format of floats, or one of 8 or 16 bits without CU_TRSF_READ_AS_INTEGER",
        );
        return Err(code::INVALID_VALUE);
    }
    Ok(())
}

/// Whether a fetch gives integers. Those of 32 bits never become floats.
pub(super) fn stays_integer(format: Format, flags: u32) -> bool {
    match format {
        Format::CU_AD_FORMAT_HALF | Format::CU_AD_FORMAT_FLOAT => false,
        Format::CU_AD_FORMAT_UNSIGNED_INT32 | Format::CU_AD_FORMAT_SIGNED_INT32 => true,
        _ => flags & CU_TRSF_READ_AS_INTEGER != 0,
    }
}
