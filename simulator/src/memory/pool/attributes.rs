//! What the driver answers about a pool and what it is told, by attribute.

use warpsmith_abi::CUmemPool_attribute;

use super::Pool;
use crate::error::{Result, code};

impl Pool {
    /// # Errors
    ///
    /// Invalid value for an imported pool, or if the attribute is no number of a pool.
    pub(crate) fn attribute(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        let state = self.own_state().ok_or(code::INVALID_VALUE)?;
        let account = &state.account;
        let policy = account.policy;
        Ok(match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                u64::from(policy.follow_event_dependencies)
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                u64::from(policy.opportunistic)
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                u64::from(policy.internal_dependencies)
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => state.release_threshold,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => account.reserved as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => account.reserved_high as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => account.used as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH => account.used_high as u64,
            _ => return Err(code::INVALID_VALUE),
        })
    }

    /// # Errors
    ///
    /// Invalid value for an imported pool, if the attribute cannot be set, or not to this value.
    pub(crate) fn set_attribute(&self, attribute: CUmemPool_attribute, value: u64) -> Result {
        let state = &mut *self.own_state().ok_or(code::INVALID_VALUE)?;
        let account = &mut state.account;
        let policy = &mut account.policy;
        match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                policy.follow_event_dependencies = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                policy.opportunistic = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                policy.internal_dependencies = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => {
                state.release_threshold = value
            }
            // A watermark can only be reset, and then is the present value.
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if value == 0 => {
                account.reset_reserved_high()
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH if value == 0 => {
                account.reset_used_high()
            }
            _ => return Err(code::INVALID_VALUE),
        }
        Ok(())
    }
}

/// Whether an attribute is an `int` rather than 64 bits wide.
pub(crate) fn is_int(attribute: CUmemPool_attribute) -> bool {
    attribute.0 <= CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES.0
}
