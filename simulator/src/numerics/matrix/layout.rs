//! Which element of a matrix each register of each lane holds.
//!
//! One rule gives all of `mma.sync`'s published layouts. Lane `l` belongs to group `g = l / 4` and has position `t = l % 4`
//! in it. With `e` elements in a register (f16: 2, bytes: 4, ...), a register covers a block of 8 rows by `4e` columns of A
//! (of B, the transpose): lane `l` holds row `g`, columns `t*e ..`. Successive registers go down the blocks of rows first,
//! then along the columns. An accumulator is made of 8 x 8 blocks in the same order, of which a lane holds row `g`,
//! columns `2t` and `2t + 1`.

use super::shape::{Element, Shape, Use, registers};

/// The place of an element: its row and column in the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Row.
    pub row: u32,
    /// Column.
    pub column: u32,
}

/// The layout of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    part: Use,
    element: Element,
    rows: u32,
    columns: u32,
    registers: u32,
}

impl Layout {
    /// The layout of a fragment of `mma.sync`, or with `wmma` of a wmma fragment.
    pub fn new(shape: Shape, part: Use, element: Element, wmma: bool) -> Layout {
        let (rows, columns) = shape.extent(part);
        Layout {
            part,
            element,
            rows,
            columns,
            registers: registers(shape, part, element, wmma),
        }
    }

    /// Registers of the fragment in each lane; a pair for f64.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Elements of the fragment in each lane.
    pub fn elements(&self) -> u32 {
        self.registers * self.element.per_register()
    }

    /// The element's type.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Rows and columns of the matrix.
    pub fn extent(&self) -> (u32, u32) {
        (self.rows, self.columns)
    }

    /// Where element `index` (`register * elements per register + position in it`) of a lane lies in the matrix.
    #[inline]
    pub fn place(&self, lane: u32, index: u32) -> Place {
        let (group, position) = (lane / 4, lane % 4);
        let per_register = self.element.per_register();
        if self.part == Use::Accumulator {
            let (block, pair) = (index / 2, index % 2);
            let down = self.rows / 8;
            return Place {
                row: block % down * 8 + group,
                column: block / down * 8 + 2 * position + pair,
            };
        }
        // A factor's long direction is k; its other direction comes in blocks of 8.
        let (short, long) = if self.part == Use::A {
            (self.rows, self.columns)
        } else {
            (self.columns, self.rows)
        };
        let down = short / 8;
        let along = long / (4 * per_register);
        let register = index / per_register % (down * along);
        // A goes down its rows first; B, whose k direction is down, goes along k first.
        let (block, step) = if self.part == Use::A {
            (register % down, register / down)
        } else {
            (register / along, register % along)
        };
        let across = block * 8 + group;
        let deep = step * 4 * per_register + position * per_register + index % per_register;
        if self.part == Use::A {
            Place {
                row: across,
                column: deep,
            }
        } else {
            Place {
                row: deep,
                column: across,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &str, part: Use, element: Element, wmma: bool) -> Layout {
        Layout::new(Shape::parse(shape).unwrap(), part, element, wmma)
    }

    /// Every element of every fragment is held, equally often, by exactly the lanes that are needed.
    // covers: WMMA-14
    #[test]
    fn fragments_cover_their_matrix() {
        use Element::*;
        let wmma = ["m16n16k16", "m32n8k16", "m8n32k16"];
        let mut cases: Vec<(&str, Element, Element, bool)> = Vec::new();
        for shape in wmma {
            cases.extend([
                (shape, F16, F32, true),
                (shape, F16, F16, true),
                (shape, Bf16, F32, true),
                (shape, S8, S32, true),
            ]);
        }
        cases.extend([
            ("m16n16k8", Tf32, F32, true),
            ("m8n8k4", F64, F64, true),
            ("m8n8k32", S4, S32, true),
        ]);
        cases.extend([
            ("m8n8k128", B1, S32, true),
            ("m16n8k8", F16, F16, false),
            ("m16n8k16", Bf16, F32, false),
        ]);
        cases.extend([
            ("m16n8k4", Tf32, F32, false),
            ("m16n8k8", Tf32, F32, false),
            ("m16n8k16", F64, F64, false),
        ]);
        cases.extend([
            ("m8n8k16", U8, S32, false),
            ("m16n8k32", S8, S32, false),
            ("m16n8k64", U4, S32, false),
        ]);
        cases.extend([
            ("m16n8k256", B1, S32, false),
            ("m16n8k32", E4m3, F32, false),
        ]);
        for (shape, factor, accumulator, wmma) in cases {
            for part in [Use::A, Use::B, Use::Accumulator] {
                let element = if part == Use::Accumulator {
                    accumulator
                } else {
                    factor
                };
                let layout = layout(shape, part, element, wmma);
                let (rows, columns) = layout.extent();
                let mut held = vec![0; (rows * columns) as usize];
                for lane in 0..32 {
                    for index in 0..layout.elements() {
                        let place = layout.place(lane, index);
                        held[(place.row * columns + place.column) as usize] += 1;
                    }
                }
                let times = 32 * layout.elements() / (rows * columns);
                assert!(
                    held.iter().all(|&n| n == times),
                    "{shape} {part:?} {element:?}"
                );
                assert!(times == 1 || wmma && element == F16, "{shape} {part:?}");
            }
        }
    }

    /// The formulas of the manual for `mma.sync`, written out.
    #[test]
    fn published_layouts() {
        let check = |shape: &str,
                     part: Use,
                     element: Element,
                     expected: &dyn Fn(u32, u32, u32) -> (u32, u32)| {
            let layout = layout(shape, part, element, false);
            for lane in 0..32 {
                for i in 0..layout.elements() {
                    let place = layout.place(lane, i);
                    let (group, thread) = (lane >> 2, lane % 4);
                    assert_eq!(
                        (place.row, place.column),
                        expected(group, thread, i),
                        "{shape} {part:?} {lane} {i}"
                    );
                }
            }
        };
        use Element::*;
        check("m16n8k8", Use::A, F16, &|g, t, i| {
            (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))
        });
        check("m16n8k8", Use::B, Bf16, &|g, t, i| (t * 2 + i, g));
        check("m16n8k16", Use::A, F16, &|g, t, i| {
            let row = if i < 2 || (4..6).contains(&i) {
                g
            } else {
                g + 8
            };
            (row, t * 2 + (i & 1) + if i >= 4 { 8 } else { 0 })
        });
        check("m16n8k16", Use::B, F16, &|g, t, i| {
            (t * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, g)
        });
        check("m16n8k16", Use::Accumulator, F32, &|g, t, i| {
            (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))
        });
        check("m16n8k16", Use::Accumulator, F16, &|g, t, i| {
            (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))
        });
        check("m16n8k4", Use::A, Tf32, &|g, t, i| {
            (if i == 0 { g } else { g + 8 }, t)
        });
        check("m16n8k8", Use::A, Tf32, &|g, t, i| {
            (
                if i % 2 == 0 { g } else { g + 8 },
                if i < 2 { t } else { t + 4 },
            )
        });
        check("m16n8k8", Use::B, Tf32, &|g, t, i| {
            (if i == 0 { t } else { t + 4 }, g)
        });
        check("m8n8k4", Use::A, F64, &|g, t, _| (g, t));
        check("m8n8k4", Use::B, F64, &|g, t, _| (t, g));
        check("m8n8k4", Use::Accumulator, F64, &|g, t, i| {
            (g, t * 2 + (i & 1))
        });
        check("m16n8k16", Use::A, F64, &|g, t, i| {
            (if i % 2 == 0 { g } else { g + 8 }, i / 2 * 4 + t)
        });
        check("m16n8k8", Use::B, F64, &|g, t, i| (t + i * 4, g));
        check("m8n8k16", Use::A, S8, &|g, t, i| (g, t * 4 + i));
        check("m16n8k16", Use::A, U8, &|g, t, i| {
            (if i < 4 { g } else { g + 8 }, t * 4 + (i & 3))
        });
        check("m16n8k32", Use::A, S8, &|g, t, i| {
            let row = if i < 4 || (8..12).contains(&i) {
                g
            } else {
                g + 8
            };
            (row, t * 4 + (i & 3) + if i >= 8 { 16 } else { 0 })
        });
        check("m16n8k32", Use::B, E5m2, &|g, t, i| {
            (t * 4 + (i & 3) + if i >= 4 { 16 } else { 0 }, g)
        });
        check("m16n8k64", Use::A, S4, &|g, t, i| {
            let row = if i < 8 || (16..24).contains(&i) {
                g
            } else {
                g + 8
            };
            (row, t * 8 + (i & 7) + if i >= 16 { 32 } else { 0 })
        });
        check("m16n8k128", Use::A, B1, &|g, t, i| {
            (if i < 32 { g } else { g + 8 }, t * 32 + (i & 31))
        });
        check("m16n8k256", Use::B, B1, &|g, t, i| {
            (t * 32 + (i & 31) + if i >= 32 { 128 } else { 0 }, g)
        });
    }
}
