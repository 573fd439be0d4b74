//! Tensor memory of sm_100 and later: known by name, so that refusals can say what is missing.

use crate::effect::Convergence;
use crate::form::{Form, form};

macro_rules! tcgen05 {
    ($syntax:literal) => {
        form($syntax).convergence(Convergence::Warp)
    };
}

const GROUP: &str = "cta_group::1 cta_group::2";

pub(super) const FORMS: &[Form] = &[
    tcgen05!("tcgen05.alloc:.cta_group.sync.aligned{.shared::cta}.b32 [a], nCols:u32")
        .since("8.6 sm_100f,sm_110f")
        .with(".cta_group", GROUP),
    tcgen05!("tcgen05.dealloc:.cta_group.sync.aligned.b32 taddr, nCols:u32")
        .since("8.6 sm_100f,sm_110f")
        .with(".cta_group", GROUP),
    tcgen05!("tcgen05.relinquish_alloc_permit:.cta_group.sync.aligned")
        .since("8.6 sm_100f,sm_110f")
        .with(".cta_group", GROUP),
    form("tcgen05.when:").since("8.6 sm_100f,sm_110f").with(
        ".when",
        "fence::before_thread_sync fence::after_thread_sync",
    ),
    tcgen05!("tcgen05.op:.sync.aligned")
        .since("8.6 sm_100f,sm_110f")
        .with(".op", "wait::ld wait::st"),
];
