//! Special registers, as the manual's chapter lists them.

/// A special register, or several that differ in their number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialRegister {
    /// Its name, without a component; a final `<N>` stands for the numbers 0 to N-1.
    pub name: &'static str,
    /// The type of it or of each component.
    pub ty: &'static str,
    /// Whether it has the components `.x .y .z` (and `.w`, which is 0).
    pub vector: bool,
    /// Since when.
    pub since: &'static str,
}

const fn scalar(name: &'static str, ty: &'static str, since: &'static str) -> SpecialRegister {
    SpecialRegister {
        name,
        ty,
        vector: false,
        since,
    }
}

const fn vector(name: &'static str, since: &'static str) -> SpecialRegister {
    SpecialRegister {
        name,
        ty: "u32",
        vector: true,
        since,
    }
}

/// All special registers.
pub const SPECIAL_REGISTERS: &[SpecialRegister] = &[
    vector("%tid", "1.0"),
    vector("%ntid", "1.0"),
    scalar("%laneid", "u32", "1.3"),
    scalar("%warpid", "u32", "1.3"),
    scalar("%nwarpid", "u32", "2.0 sm_20"),
    vector("%ctaid", "1.0"),
    vector("%nctaid", "1.0"),
    scalar("%smid", "u32", "1.3"),
    scalar("%nsmid", "u32", "2.0 sm_20"),
    scalar("%gridid", "u64", "1.0"),
    scalar("%is_explicit_cluster", "pred", "7.8 sm_90"),
    vector("%clusterid", "7.8 sm_90"),
    vector("%nclusterid", "7.8 sm_90"),
    vector("%cluster_ctaid", "7.8 sm_90"),
    vector("%cluster_nctaid", "7.8 sm_90"),
    scalar("%cluster_ctarank", "u32", "7.8 sm_90"),
    scalar("%cluster_nctarank", "u32", "7.8 sm_90"),
    scalar("%lanemask_eq", "u32", "2.0 sm_20"),
    scalar("%lanemask_le", "u32", "2.0 sm_20"),
    scalar("%lanemask_lt", "u32", "2.0 sm_20"),
    scalar("%lanemask_ge", "u32", "2.0 sm_20"),
    scalar("%lanemask_gt", "u32", "2.0 sm_20"),
    scalar("%clock", "u32", "1.0"),
    scalar("%clock_hi", "u32", "5.0 sm_20"),
    scalar("%clock64", "u64", "2.0 sm_20"),
    scalar("%pm<8>", "u32", "1.3"),
    scalar("%pm<8>_64", "u64", "4.0 sm_50"),
    scalar("%envreg<32>", "b32", "2.1"),
    scalar("%globaltimer", "u64", "3.1 sm_30"),
    scalar("%globaltimer_lo", "u32", "3.1 sm_30"),
    scalar("%globaltimer_hi", "u32", "3.1 sm_30"),
    scalar("%reserved_smem_offset_begin", "b32", "7.6 sm_80"),
    scalar("%reserved_smem_offset_end", "b32", "7.6 sm_80"),
    scalar("%reserved_smem_offset_cap", "b32", "7.6 sm_80"),
    scalar("%reserved_smem_offset_<2>", "b32", "7.6 sm_80"),
    scalar("%total_smem_size", "u32", "4.1 sm_20"),
    scalar("%aggr_smem_size", "u32", "8.1 sm_90"),
    scalar("%dynamic_smem_size", "u32", "4.1 sm_20"),
    scalar("%current_graph_exec", "u64", "8.0 sm_50"),
];

/// The special register of this name, which has its component (`%tid.x`) and number (`%envreg3`).
pub fn find(name: &str) -> Option<&'static SpecialRegister> {
    let (base, component) = match name.split_once('.') {
        Some((base, component)) => (base, Some(component)),
        None => (name, None),
    };
    SPECIAL_REGISTERS.iter().find(|register| {
        let components = match component {
            None => true,
            Some(component) => {
                register.vector
                    && matches!(component, "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a")
            }
        };
        components && is_named(register.name, base)
    })
}

fn is_named(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('<') else {
        return pattern == name;
    };
    let Some((count, end)) = rest.split_once('>') else {
        return false;
    };
    let number = name
        .strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(end));
    let count: u32 = count.parse().unwrap_or(0);
    number.is_some_and(|digits| {
        digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits.parse::<u32>().is_ok_and(|number| number < count)
    })
}
