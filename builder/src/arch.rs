//! GPU architectures and PTX versions.

use std::fmt;

macro_rules! archs {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, level $level:literal, ptx $major:literal . $minor:literal;)*) => {
        /// A GPU architecture that kernels are compiled for.
        ///
        /// Names with `a` may use instructions of exactly this architecture (`wgmma` on `sm_90a`), and run on
        /// no other; the others run on later architectures too.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub enum Arch { $($(#[$doc])* $variant,)* }

        impl Arch {
            /// All that are known, oldest first.
            pub const ALL: &[Arch] = &[$(Arch::$variant),*];

            /// As PTX and `ptxas` write it: `sm_90a`.
            pub fn name(self) -> &'static str {
                match self { $(Arch::$variant => $name),* }
            }

            /// The number in the name: 90 for `sm_90` and `sm_90a`.
            pub fn level(self) -> u32 {
                match self { $(Arch::$variant => $level),* }
            }

            /// The first PTX version that knows the architecture.
            pub fn first_ptx(self) -> PtxVersion {
                match self { $(Arch::$variant => PtxVersion { major: $major, minor: $minor }),* }
            }
        }
    };
}

archs! {
    /// Volta.
    Sm70 = "sm_70", level 70, ptx 6 . 0;
    Sm72 = "sm_72", level 72, ptx 6 . 1;
    /// Turing.
    Sm75 = "sm_75", level 75, ptx 6 . 3;
    /// Ampere (A100).
    Sm80 = "sm_80", level 80, ptx 7 . 0;
    Sm86 = "sm_86", level 86, ptx 7 . 1;
    Sm87 = "sm_87", level 87, ptx 7 . 4;
    /// Ada.
    Sm89 = "sm_89", level 89, ptx 7 . 8;
    /// Hopper.
    Sm90 = "sm_90", level 90, ptx 7 . 8;
    /// Hopper, with `wgmma`, `setmaxnreg` and other instructions that later GPUs lack.
    Sm90a = "sm_90a", level 90, ptx 8 . 0;
    /// Blackwell (data centre).
    Sm100 = "sm_100", level 100, ptx 8 . 6;
    Sm100a = "sm_100a", level 100, ptx 8 . 6;
    Sm103 = "sm_103", level 103, ptx 8 . 8;
    Sm103a = "sm_103a", level 103, ptx 8 . 8;
    /// Blackwell (GeForce).
    Sm120 = "sm_120", level 120, ptx 8 . 7;
    Sm120a = "sm_120a", level 120, ptx 8 . 7;
    Sm121 = "sm_121", level 121, ptx 8 . 8;
    Sm121a = "sm_121a", level 121, ptx 8 . 8;
}

impl Arch {
    /// Whether instructions of exactly this architecture are allowed (`sm_90a`).
    pub fn is_specific(self) -> bool {
        self.name().ends_with('a')
    }

    /// The levels that device code may test with `cfg(warpsmith_arch_at_least = "80")`.
    pub fn levels_up_to(self) -> Vec<u32> {
        let mut levels: Vec<u32> = Arch::ALL
            .iter()
            .map(|a| a.level())
            .filter(|l| *l <= self.level())
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A version of the PTX language, as in `.version 8.6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// The number before the point.
    pub major: u32,
    /// The number behind it.
    pub minor: u32,
}

impl PtxVersion {
    /// The newest version that LLVM's NVPTX target writes.
    pub const NEWEST: PtxVersion = PtxVersion { major: 9, minor: 0 };

    /// `PtxVersion::new(8, 6)`
    pub const fn new(major: u32, minor: u32) -> PtxVersion {
        PtxVersion { major, minor }
    }

    /// LLVM's name of it as a target feature.
    pub(crate) fn feature(self) -> String {
        format!("+ptx{}{}", self.major, self.minor)
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
