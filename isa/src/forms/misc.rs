//! Stack, registers of a warp, clusters to come.

use crate::effect::{Completion, Convergence, Proxy, Space};
use crate::form::{Extent, Form, form, writes};

pub(super) const FORMS: &[Form] = &[
    form("alloca.type d, size{, align:imm@1/2/4/8/16/32/64/128/256/512/1024/2048/4096/8192/16384/32768/65536/131072/262144/524288/1048576/2097152/4194304/8388608}")
        .since("7.3 sm_52")
        .with(".type", "u32 u64"),
    form("stacksave.type d")
        .since("7.3 sm_52")
        .with(".type", "u32 u64"),
    form("stackrestore.type a@-")
        .since("7.3 sm_52")
        .with(".type", "u32 u64"),
    form("setmaxnreg.action:.sync.aligned.type count:imm@24..256%8")
        .since("8.0 sm_90a,sm_100f,sm_110f,sm_120f")
        .with(".action", "inc dec")
        .with(".type", "u32 s32")
        .called("setmaxnreg")
        .convergence(Convergence::Warp),
    form("clusterlaunchcontrol.try_cancel.async:{.space}.completion{.multicast}.b128 [a], [mbar]")
        .since("8.6 sm_100")
        .with(".space", "shared::cta")
        .with(".completion", "mbarrier::complete_tx::bytes")
        .with(
            ".multicast",
            "multicast::cluster::all@8.6+sm_100f,sm_110f,sm_120f",
        )
        .accesses(&[writes("a")
            .to(Space::Shared)
            .by(Proxy::Async)
            .until(Completion::Mbarrier)
            .of(Extent::Bytes(16))]),
    form("clusterlaunchcontrol.query_cancel:.is_canceled.pred.b128 d:pred, a:b128")
        .since("8.6 sm_100"),
    form("clusterlaunchcontrol.query_cancel:.get_first_ctaid.v4.b32.b128 d:b32*4, a:b128")
        .since("8.6 sm_100"),
    form("clusterlaunchcontrol.query_cancel:.get_first_ctaid::dimension.b32.b128 d:b32, a:b128")
        .since("8.6 sm_100")
        .with(
            ".get_first_ctaid::dimension",
            "get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z",
        ),
];
