//! Architectures and PTX versions.

use warpsmith_builder::{Arch, BuildError, CudaBuilder, PtxVersion};

use super::support::*;

fn version(ptx: &str) -> &str {
    ptx.lines()
        .find_map(|l| l.strip_prefix(".version "))
        .unwrap()
}

// covers: BUILD-04
// covers: BUILD-09
#[test]
fn every_architecture_builds() {
    for arch in Arch::ALL {
        let output = build(CudaBuilder::new(fixture("minimal")).arch(*arch));
        assert!(output.ptx.contains(&format!(".target {arch}")), "{arch}");
        assert!(output.ptx.contains(".address_size 64"));
        // Lines with calls came with 7.2.
        let oldest = arch.first_ptx().max(PtxVersion::new(7, 2));
        assert_eq!(
            version(&output.ptx),
            oldest.to_string(),
            "the oldest version that knows {arch} and lines with calls"
        );
        assert_eq!(arch.name().parse::<Arch>().unwrap(), *arch);
    }
}

#[test]
fn the_version_is_what_the_kernels_need() {
    // By-value parameters without a copy came with 7.7.
    let needs = |feature: &str, arch| {
        version(
            &build(
                CudaBuilder::new(fixture("minimal"))
                    .arch(arch)
                    .feature(feature),
            )
            .ptx,
        )
        .to_owned()
    };
    assert_eq!(needs("by_value", Arch::Sm70), "7.7");
    assert_eq!(needs("bulk_copy", Arch::Sm90), "8.0");
    assert_eq!(needs("wgmma", Arch::Sm90a), "8.0");
}

#[test]
fn an_explicit_version_holds_unless_it_is_too_old() {
    let minimal = || CudaBuilder::new(fixture("minimal")).arch(Arch::Sm80);
    assert_eq!(
        version(&build(minimal().ptx_version(PtxVersion::new(8, 3))).ptx),
        "8.3"
    );
    let error = error(minimal().ptx_version(PtxVersion::new(6, 5)));
    assert!(matches!(error, BuildError::PtxVersionTooOld { .. }));
    insta::assert_snapshot!(error, @"PTX 6.5 was asked for, and architecture sm_80 needs PTX 7.0: leave out `.ptx_version(..)`, or raise it");
}

// covers: TMA-22
// covers: BUILD-05
#[test]
fn an_instruction_that_the_architecture_lacks_is_refused() {
    let refused = |feature: &str, arch| {
        let error = error(
            CudaBuilder::new(fixture("minimal"))
                .arch(arch)
                .feature(feature),
        );
        assert!(matches!(error, BuildError::ArchLacks(_)));
        error.to_string()
    };
    let text = refused("bulk_copy", Arch::Sm80);
    assert!(
        text.contains("`cp.async.bulk")
            && text.contains("needs sm_90, and this build is for sm_80"),
        "{text}"
    );
    assert!(
        text.contains("used by `bulk_copy`") && text.contains("src/lib.rs:"),
        "{text}"
    );
    // Only the `a` variant has it, and no later architecture.
    let text = refused("wgmma", Arch::Sm90);
    assert!(
        text.contains("needs sm_90a, and this build is for sm_90"),
        "{text}"
    );
    refused("wgmma", Arch::Sm100a);
}

// covers: BUILD-08
// covers: SPACE-04
#[test]
fn device_code_sees_its_architecture() {
    let levels = |arch| {
        let ptx = build(CudaBuilder::new(fixture("minimal")).arch(arch)).ptx;
        body(&ptx, "level").join("\n")
    };
    assert!(levels(Arch::Sm75).contains(", 75;"));
    assert!(levels(Arch::Sm86).contains(", 80;"));
    assert!(levels(Arch::Sm90a).contains(", 90;"));
}

#[test]
fn unknown_architectures_are_named_with_the_known_ones() {
    insta::assert_snapshot!("sm_99".parse::<Arch>().unwrap_err(), @"unknown architecture `sm_99`; known are sm_70, sm_72, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_103, sm_103a, sm_120, sm_120a, sm_121, sm_121a");
}
