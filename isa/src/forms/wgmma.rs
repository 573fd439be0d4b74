//! Matrices of a warpgroup.

use crate::effect::{Completion, Convergence, Proxy, Space};
use crate::form::{Access, Extent, Form, form, reads};

const SHARED_B: Access = reads("b-desc")
    .to(Space::Shared)
    .by(Proxy::Async)
    .until(Completion::WgmmaGroup)
    .of(Extent::Shape);
const SHARED_A: Access = reads("a-desc")
    .to(Space::Shared)
    .by(Proxy::Async)
    .until(Completion::WgmmaGroup)
    .of(Extent::Shape);
const BOTH: &[Access] = &[SHARED_A, SHARED_B];
const ONLY_B: &[Access] = &[SHARED_B];

const K16: &str = "m64n8k16 m64n16k16 m64n24k16 m64n32k16 m64n40k16 m64n48k16 m64n56k16 m64n64k16 m64n72k16 m64n80k16 m64n88k16 m64n96k16 m64n104k16 m64n112k16 m64n120k16 m64n128k16 m64n136k16 m64n144k16 m64n152k16 m64n160k16 m64n168k16 m64n176k16 m64n184k16 m64n192k16 m64n200k16 m64n208k16 m64n216k16 m64n224k16 m64n232k16 m64n240k16 m64n248k16 m64n256k16";
const K8: &str = "m64n8k8 m64n16k8 m64n24k8 m64n32k8 m64n40k8 m64n48k8 m64n56k8 m64n64k8 m64n72k8 m64n80k8 m64n88k8 m64n96k8 m64n104k8 m64n112k8 m64n120k8 m64n128k8 m64n136k8 m64n144k8 m64n152k8 m64n160k8 m64n168k8 m64n176k8 m64n184k8 m64n192k8 m64n200k8 m64n208k8 m64n216k8 m64n224k8 m64n232k8 m64n240k8 m64n248k8 m64n256k8";
const K32: &str = "m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n40k32 m64n48k32 m64n56k32 m64n64k32 m64n72k32 m64n80k32 m64n88k32 m64n96k32 m64n104k32 m64n112k32 m64n120k32 m64n128k32 m64n136k32 m64n144k32 m64n152k32 m64n160k32 m64n168k32 m64n176k32 m64n184k32 m64n192k32 m64n200k32 m64n208k32 m64n216k32 m64n224k32 m64n232k32 m64n240k32 m64n248k32 m64n256k32";
const INT_K32: &str = "m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n48k32 m64n64k32 m64n80k32 m64n96k32 m64n112k32 m64n128k32 m64n144k32 m64n160k32 m64n176k32 m64n192k32 m64n208k32 m64n224k32 m64n240k32 m64n256k32";
const K256: &str = "m64n8k256 m64n16k256 m64n24k256 m64n32k256 m64n48k256 m64n64k256 m64n80k256 m64n96k256 m64n112k256 m64n128k256 m64n144k256 m64n160k256 m64n176k256 m64n192k256 m64n208k256 m64n224k256 m64n240k256 m64n256k256";
const K64: &str = "m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n40k64 m64n48k64 m64n56k64 m64n64k64 m64n72k64 m64n80k64 m64n88k64 m64n96k64 m64n104k64 m64n112k64 m64n120k64 m64n128k64 m64n136k64 m64n144k64 m64n152k64 m64n160k64 m64n168k64 m64n176k64 m64n184k64 m64n192k64 m64n200k64 m64n208k64 m64n216k64 m64n224k64 m64n232k64 m64n240k64 m64n248k64 m64n256k64";
const INT_K64: &str = "m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n48k64 m64n64k64 m64n80k64 m64n96k64 m64n112k64 m64n128k64 m64n144k64 m64n160k64 m64n176k64 m64n192k64 m64n208k64 m64n224k64 m64n240k64 m64n256k64";

macro_rules! wgmma {
    ($syntax:literal, $accesses:ident) => {
        form($syntax)
            .convergence(Convergence::Warpgroup)
            .accesses($accesses)
    };
}

pub(super) const FORMS: &[Form] = &[
    form("wgmma.fence:.sync{.aligned}").since("8.0 sm_90a").convergence(Convergence::Warpgroup),
    form("wgmma.commit_group:.sync{.aligned}").since("8.0 sm_90a").convergence(Convergence::Warpgroup),
    form("wgmma.wait_group:.sync{.aligned} n:imm@0..").since("8.0 sm_90a").convergence(Convergence::Warpgroup),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f16.atype.btype d:b32*n, a-desc:b64, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-a:imm, imm-trans-b:imm", BOTH).since("8.0 sm_90a")
        .with(".shape", K16).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-a:imm, imm-trans-b:imm", BOTH).since("8.0 sm_90a")
        .with(".shape", K16).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f16.atype.btype d:b32*n, a:b32*4, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-b:imm", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K16).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-b:imm", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K16).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-a:imm, imm-trans-b:imm", BOTH).since("8.0 sm_90a")
        .with(".shape", K16).with(".atype", "bf16").with(".btype", "bf16"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-b:imm", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K16).with(".atype", "bf16").with(".btype", "bf16"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", BOTH).since("8.0 sm_90a")
        .with(".shape", K8).with(".atype", "tf32").with(".btype", "tf32"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K8).with(".atype", "tf32").with(".btype", "tf32"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f16.atype.btype d:b32*n, a-desc:b64, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", BOTH).since("8.0 sm_90a")
        .with(".shape", K32).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", BOTH).since("8.0 sm_90a")
        .with(".shape", K32).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f16.atype.btype d:b32*n, a:b32*4, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K32).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K32).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape{.satfinite}.s32.atype.btype d:s32*n, a-desc:b64, b-desc:b64, !scale-d:pred", BOTH).since("8.0 sm_90a")
        .with(".shape", INT_K32).with(".atype", "s8 u8@8.4+sm_90a").with(".btype", "s8 u8@8.4+sm_90a"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape{.satfinite}.s32.atype.btype d:s32*n, a:b32*4, b-desc:b64, !scale-d:pred", ONLY_B).since("8.0 sm_90a")
        .with(".shape", INT_K32).with(".atype", "s8 u8@8.4+sm_90a").with(".btype", "s8 u8@8.4+sm_90a"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.s32.b1.b1x.and.popc d:s32*n, a-desc:b64, b-desc:b64, !scale-d:pred", BOTH).since("8.0 sm_90a")
        .with(".shape", K256).with(".b1x", "b1"),
    wgmma!("wgmma.mma_async:.sync{.aligned}.shape.s32.b1.b1x.and.popc d:s32*n, a:b32*4, b-desc:b64, !scale-d:pred", ONLY_B).since("8.0 sm_90a")
        .with(".shape", K256).with(".b1x", "b1"),
    // Sparse: half of A's elements are stored, and the metadata say which.
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f16.atype.btype d:b32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-a:imm, imm-trans-b:imm", BOTH).since("8.2 sm_90a")
        .with(".shape", K32).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-a:imm, imm-trans-b:imm", BOTH).since("8.2 sm_90a")
        .with(".shape", K32).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f16.atype.btype d:b32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-b:imm", ONLY_B).since("8.2 sm_90a")
        .with(".shape", K32).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-b:imm", ONLY_B).since("8.2 sm_90a")
        .with(".shape", K32).with(".atype", "f16").with(".btype", "f16"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-a:imm, imm-trans-b:imm", BOTH).since("8.2 sm_90a")
        .with(".shape", K32).with(".atype", "bf16").with(".btype", "bf16"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm, imm-trans-b:imm", ONLY_B).since("8.2 sm_90a")
        .with(".shape", K32).with(".atype", "bf16").with(".btype", "bf16"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", BOTH).since("8.2 sm_90a")
        .with(".shape", K16).with(".atype", "tf32").with(".btype", "tf32"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", ONLY_B).since("8.2 sm_90a")
        .with(".shape", K16).with(".atype", "tf32").with(".btype", "tf32"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f16.atype.btype d:b32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", BOTH).since("8.2 sm_90a")
        .with(".shape", K64).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", BOTH).since("8.2 sm_90a")
        .with(".shape", K64).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f16.atype.btype d:b32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", ONLY_B).since("8.2 sm_90a")
        .with(".shape", K64).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape.f32.atype.btype d:f32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred, imm-scale-a:imm, imm-scale-b:imm", ONLY_B).since("8.2 sm_90a")
        .with(".shape", K64).with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape{.satfinite}.s32.atype.btype d:s32*n, a-desc:b64, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred", BOTH).since("8.2 sm_90a")
        .with(".shape", INT_K64).with(".atype", "s8 u8@8.4+sm_90a").with(".btype", "s8 u8@8.4+sm_90a"),
    wgmma!("wgmma.mma_async:.sp.sync{.aligned}.shape{.satfinite}.s32.atype.btype d:s32*n, a:b32*4, b-desc:b64, sp-meta:b32@-, sp-sel:imm, !scale-d:pred", ONLY_B).since("8.2 sm_90a")
        .with(".shape", INT_K64).with(".atype", "s8 u8@8.4+sm_90a").with(".btype", "s8 u8@8.4+sm_90a"),
];
