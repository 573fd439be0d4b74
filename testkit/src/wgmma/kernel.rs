//! The kernel that computes a product.

use std::fmt::Write as _;

use super::*;

impl Product {
    /// The instruction's name.
    pub fn name(&self) -> String {
        let depth = self.depth() / self.steps;
        let shape = format!("m64n{}k{depth}", self.columns);
        let sparse = if self.selector.is_some() { ".sp" } else { "" };
        let saturates = if self.saturates { ".satfinite" } else { "" };
        let operation = if self.a == "b1" { ".and.popc" } else { "" };
        format!(
            "wgmma.mma_async{sparse}.sync.aligned.{shape}{saturates}.{}.{}.{}{operation}",
            self.d, self.a, self.b
        )
    }

    /// The constants behind `scale-d`.
    fn constants(&self) -> String {
        let mut text = String::new();
        if self.d != "s32" {
            for scale in self.scales {
                let _ = write!(text, ", {scale}");
            }
        }
        if bits(self.a) == 16 {
            let placements = [self.a_placement, Some(self.b_placement)];
            for placement in placements.into_iter().flatten() {
                let _ = write!(text, ", {}", u8::from(placement.major == Major::Lines));
            }
        }
        text
    }

    /// The code that makes a descriptor in `target`, of a factor that starts `start` bytes behind `memory`.
    fn descriptor(target: &str, placement: Placement, strides: &Strides, start: usize) -> String {
        let swizzle: u64 = match placement.swizzle {
            0 => 0,
            128 => 1,
            64 => 2,
            _ => 3,
        };
        let fixed = swizzle << 62
            | (strides.stride as u64 / 16) << 32
            | (strides.leading as u64 / 16) << 16;
        format!(
            "mov.u32 %x, memory; add.u32 %x, %x, {start}; and.b32 %x, %x, 0x3ffff; shr.u32 %x, %x, 4;\n\
             cvt.u64.u32 {target}, %x; or.b64 {target}, {target}, {fixed:#x};\n"
        )
    }

    /// A module with the kernel `product(image, c, d)`: `image` points to [`Product::image`], behind it
    /// [`Product::metadata`]. For a block of [`THREADS`] threads with [`Product::shared_bytes`] of dynamic shared
    /// memory.
    pub fn ptx(&self) -> String {
        let registers = self.registers();
        let shared = self.shared_bytes();
        let list = |class: &str, start: usize, count: usize| {
            let names: Vec<_> = (start..start + count)
                .map(|index| format!("%{class}{index}"))
                .collect();
            format!("{{{}}}", names.join(", "))
        };
        let mut text = format!(
            ".version 8.4\n.target sm_90a\n.address_size 64\n\
             .extern .shared .align 1024 .b8 memory[];\n\
             .visible .entry product(.param .u64 image, .param .u64 c, .param .u64 d)\n{{\n\
             .reg .b64 %image, %c, %d, %at, %da, %db; .reg .b32 %x, %offset, %thread, %v<4>;\n\
             .reg .b32 %a<{}>, %e<{}>, %p<{registers}>, %q<{registers}>; .reg .pred %more, %no, %yes;\n\
             ld.param.u64 %image, [image]; ld.param.u64 %c, [c]; ld.param.u64 %d, [d];\n\
             mov.u32 %thread, %tid.x; shl.b32 %offset, %thread, 4;\n\
             copy:\n\
             cvt.u64.u32 %at, %offset; add.u64 %at, %at, %image; ld.global.v4.u32 {{%v0, %v1, %v2, %v3}}, [%at];\n\
             mov.u32 %x, memory; add.u32 %x, %x, %offset; st.shared.v4.u32 [%x], {{%v0, %v1, %v2, %v3}};\n\
             add.u32 %offset, %offset, {}; setp.lt.u32 %more, %offset, {shared}; @%more bra copy;\n\
             fence.proxy.async; bar.sync 0;\n\
             setp.ne.u32 %yes, %offset, 0; setp.eq.u32 %no, %offset, 0;\n\
             mul.wide.u32 %at, %thread, 4; add.u64 %image, %image, %at; add.u64 %c, %c, %at; add.u64 %d, %d, %at;\n",
            4 * self.steps,
            self.steps,
            16 * THREADS,
        );
        let mut behind = shared;
        if self.a_placement.is_none() {
            for register in 0..4 * self.steps {
                let at = shared + register * THREADS * 4;
                let _ = writeln!(text, "ld.global.b32 %a{register}, [%image+{at}];");
            }
            behind += 4 * self.steps * THREADS * 4;
        }
        if self.selector.is_some() {
            for step in 0..self.steps {
                let at = behind + step * THREADS * 4;
                let _ = writeln!(text, "ld.global.b32 %e{step}, [%image+{at}];");
            }
        }
        let classes: &[(&str, bool)] = match self.twice {
            false => &[("p", self.accumulates)],
            true => &[("p", self.accumulates), ("q", !self.accumulates)],
        };
        for (class, _) in classes {
            for register in 0..registers {
                let at = register * THREADS * 4;
                let _ = writeln!(text, "ld.global.b32 %{class}{register}, [%c+{at}];");
            }
        }
        text.push_str("wgmma.fence.sync.aligned;\n");
        let b_strides = self.b_strides();
        for &(class, accumulates) in classes {
            for step in 0..self.steps {
                let a = match self.a_placement {
                    None => list("a", 4 * step, 4),
                    Some(placement) => {
                        let strides = strides(placement, self.a, ROWS, self.steps);
                        let start = step * strides.step;
                        text += &Self::descriptor("%da", placement, &strides, start);
                        "%da".into()
                    }
                };
                let start = self.a_bytes() + step * self.b_steps() * b_strides.step;
                text += &Self::descriptor("%db", self.b_placement, &b_strides, start);
                let added = if accumulates || step > 0 {
                    "%yes"
                } else {
                    "%no"
                };
                let metadata = match self.selector {
                    None => String::new(),
                    Some(selector) => format!(" %e{step}, {selector},"),
                };
                let _ = writeln!(
                    text,
                    "{} {}, {a}, %db,{metadata} {added}{};",
                    self.name(),
                    list(class, 0, registers),
                    self.constants()
                );
            }
            text.push_str("wgmma.commit_group.sync.aligned;\n");
        }
        for (number, (class, _)) in classes.iter().enumerate() {
            let rest = classes.len() - 1 - number;
            let _ = writeln!(text, "wgmma.wait_group.sync.aligned {rest};");
            for register in 0..registers {
                let at = (number * registers + register) * THREADS * 4;
                let _ = writeln!(text, "st.global.b32 [%d+{at}], %{class}{register};");
            }
        }
        text + "ret;\n}\n"
    }
}
