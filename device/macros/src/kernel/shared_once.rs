//! Marks the `shared!` calls that run at most once per thread.
//!
//! Outside of loops, closures and nested items, a kernel's body runs each of its expressions at most once; there
//! `shared!` needs no barrier before the first write. Everywhere else the same storage may still be read by other
//! threads from the previous round, and `shared!` begins with a block barrier (see `warpsmith_device::shared!`).

use syn::visit_mut::{self, VisitMut};
use syn::{Block, ExprClosure, ExprForLoop, ExprLoop, ExprWhile, Item, Macro};

pub fn rewrite(block: &mut Block) {
    Rewriter.visit_block_mut(block);
}

struct Rewriter;

impl VisitMut for Rewriter {
    fn visit_expr_for_loop_mut(&mut self, node: &mut ExprForLoop) {
        // The iterator expression runs once, the body does not.
        self.visit_expr_mut(&mut node.expr);
    }
    fn visit_expr_loop_mut(&mut self, _: &mut ExprLoop) {}
    fn visit_expr_while_mut(&mut self, _: &mut ExprWhile) {}
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_macro_mut(&mut self, node: &mut Macro) {
        let once = match node.path.segments.last() {
            Some(last) => last.ident == "shared",
            None => false,
        };
        if once {
            let tokens = &node.tokens;
            let tokens = quote::quote! { @once #tokens };
            node.tokens = tokens;
        }
        visit_mut::visit_macro_mut(self, node);
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn only_straight_line_calls_are_marked() {
        let mut block: Block = parse_quote! {{
            let a = shared!([f32; 4]);
            for i in 0..shared!([u8; 1]).len() { let b = shared!([f32; 5]); }
            while x { warpsmith_device::shared!([f32; 6]); }
            loop { shared!([f32; 7]); }
            let c = || shared!([f32; 8]);
            fn nested() { shared!([f32; 9]); }
            if y { warpsmith_device::shared!([f32; 10]) }
        }};
        rewrite(&mut block);
        let text = quote::quote!(#block).to_string();
        for (size, once) in [
            (4, true),
            (1, true),
            (5, false),
            (6, false),
            (7, false),
            (8, false),
            (9, false),
            (10, true),
        ] {
            let marked = text.contains(&format!("@ once [f32 ; {size}]"))
                || text.contains(&format!("@ once [u8 ; {size}]"));
            assert_eq!(marked, once, "size {size} in {text}");
        }
    }
}
