//! What the checks are told of an access.

use super::declared::Declared;
use crate::check::Access;
use crate::engine::exec::issuer::Issuer;
use crate::engine::exec::operand::LANES;

/// An access to shared memory as the checks are told of it.
pub(super) fn as_told(
    issuer: Issuer,
    declared: Declared,
    mask: u32,
    offsets: &[u32; LANES],
    size: u32,
) -> Access<'_> {
    Access {
        block: issuer.block,
        warp: issuer.warp,
        mask,
        offsets,
        size,
        kind: declared.kind(),
        order: declared.order(),
        scope: declared.scope(),
        proxy: declared.proxy(),
        object: declared.object(),
        synchronises: !declared.is_synchronised_by_operation(),
        is_followed: declared.is_followed(),
        site: issuer.site,
    }
}
