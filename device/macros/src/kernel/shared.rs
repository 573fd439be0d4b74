//! Puts shared objects in the place of `shared!` in a kernel's straight-line code.
//!
//! A handle to a shared object stands for the object, so safe code must not come twice to a place that makes one. The
//! expression that makes it is therefore written here, where an execution of the kernel passes at most once, and nowhere
//! else: `shared!` by itself does not compile. What this module does not see (macros by the user, macro arguments) keeps its
//! `shared!`, and is refused by it.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    AngleBracketedGenericArguments, Arm, Attribute, Expr, Ident, Item, ItemFn, Macro, Meta, Pat,
    Path, Stmt, Token, Type, TypeArray, parse_quote_spanned,
};

/// Replaces `shared!` in the function's own code; what is wrong with it is an error.
pub fn replace(function: &mut ItemFn) -> syn::Result<()> {
    let mut replacer = Replacer::default();
    replacer.visit_block_mut(&mut function.block);
    if replacer.replaced
        && let Some(attribute) = function.attrs.iter().find(|a| !is_inert(a))
    {
        replacer.error(syn::Error::new_spanned(
            attribute,
            "a kernel with `shared!` has attributes of other macros above `#[kernel]`, not below: this one would get the \
             shared memory's code, and could have it executed twice",
        ));
    }
    match replacer.errors {
        None => Ok(()),
        Some(errors) => Err(errors),
    }
}

/// What `shared!` asks for: `[element; length]`, or `[[element; columns]; length]` with or without padding.
struct Request {
    element: Type,
    length: Expr,
    columns: Option<Expr>,
    padding: Option<Expr>,
}

impl Parse for Request {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let array = |input: ParseStream| -> syn::Result<TypeArray> {
            input.parse().map_err(|error| {
                syn::Error::new(
                    error.span(),
                    "`shared!` takes `[T; N]`, `[[T; COLUMNS]; ROWS]`, `[[T; COLUMNS]; ROWS], padding = N`, or `raw T`",
                )
            })
        };
        let TypeArray { elem, len, .. } = array(input)?;
        let mut padding = None;
        if input.peek(Token![,]) && input.peek2(Ident) {
            input.parse::<Token![,]>()?;
            let name: Ident = input.parse()?;
            if name != "padding" {
                return Err(syn::Error::new(
                    name.span(),
                    "after the type there is only `padding = N`",
                ));
            }
            input.parse::<Token![=]>()?;
            padding = Some(input.parse()?);
        }
        let _: Option<Token![,]> = input.parse()?;
        if !input.is_empty() {
            return Err(input.error("after the type there is only `padding = N`"));
        }
        let (element, columns) = match *elem {
            Type::Array(row) => (*row.elem, Some(row.len)),
            element => (element, None),
        };
        if let (Some(padding), None) = (&padding, &columns) {
            return Err(syn::Error::new_spanned(
                padding,
                "padding divides the rows of a tile: `shared!([[T; COLUMNS]; ROWS], padding = N)`",
            ));
        }
        Ok(Request {
            element,
            length: len,
            columns,
            padding,
        })
    }
}

/// Whether the macro's tokens begin with `raw`.
fn is_raw(tokens: &TokenStream) -> bool {
    let first = tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Ident(name)) if name == "raw")
}

#[derive(Default)]
struct Replacer {
    replaced: bool,
    errors: Option<syn::Error>,
}

impl Replacer {
    fn error(&mut self, error: syn::Error) {
        match &mut self.errors {
            None => self.errors = Some(error),
            Some(errors) => errors.combine(error),
        }
    }

    /// What stands for the macro call, if it is `shared!` and gives a handle.
    fn object(&mut self, call: &Macro) -> Option<Expr> {
        if call.path.segments.last()?.ident != "shared" || is_raw(&call.tokens) {
            return None;
        }
        let Request {
            element,
            length,
            columns,
            padding,
        } = match syn::parse2(call.tokens.clone()) {
            Ok(request) => request,
            Err(error) => {
                self.error(error);
                return None;
            }
        };
        let (constructor, layout) = match (columns, padding) {
            (None, _) => (quote! { new_array }, quote! { [#element; #length] }),
            (Some(columns), padding) => {
                let padding = padding.map(|padding| quote! { + (#padding) });
                (
                    quote! { new_tile },
                    quote! { ([[#element; #columns]; #length], [#element; (#columns) #padding]) },
                )
            }
        };
        self.replaced = true;
        let path = &call.path;
        let name = Ident::new("__layout", Span::mixed_site().located_at(element.span()));
        let make = quote_spanned! { Span::call_site().located_at(element.span())=>
            // SAFETY: this is a kernel's straight-line code, where an execution of the kernel passes once.
            unsafe { ::warpsmith_device::shared::#constructor(#name, || {}) }
        };
        let at = Span::call_site().located_at(path.span());
        Some(parse_quote_spanned! { at=>
            match (#path!(@kernel), ::core::marker::PhantomData::<#layout>) {
                (::warpsmith_device::shared::Shared, #name) => #make,
            }
        })
    }
}

impl VisitMut for Replacer {
    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        match statement {
            Stmt::Macro(call) if call.attrs.is_empty() => {
                if let Some(object) = self.object(&call.mac) {
                    *statement = Stmt::Expr(object, call.semi_token);
                }
            }
            Stmt::Local(local) if !local.attrs.iter().all(is_inert) => {}
            _ => visit_mut::visit_stmt_mut(self, statement),
        }
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if !parts_are_executed_once(expression) {
            return;
        }
        match expression {
            Expr::Macro(call) => {
                if let Some(object) = self.object(&call.mac) {
                    *expression = object;
                }
            }
            // The iterator is made once, what the loop does with it is not.
            Expr::ForLoop(node) => self.visit_expr_mut(&mut node.expr),
            Expr::Repeat(node) => self.visit_expr_mut(&mut node.expr),
            _ => visit_mut::visit_expr_mut(self, expression),
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        if arm.attrs.iter().all(is_inert) {
            visit_mut::visit_arm_mut(self, arm);
        }
    }

    // Not executed here, or (the guards of patterns) once for each alternative.
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_path_mut(&mut self, _: &mut Path) {}
    fn visit_angle_bracketed_generic_arguments_mut(
        &mut self,
        _: &mut AngleBracketedGenericArguments,
    ) {
    }
}

/// Whether what the expression consists of is executed once at most for each execution of the expression (of a `for`
/// loop, the iterator), by what is known of the syntax.
fn parts_are_executed_once(expression: &Expr) -> bool {
    macro_rules! inert_attributes {
        ($($kind:ident)*) => {
            match expression {
                $(Expr::$kind(node) => node.attrs.iter().all(is_inert),)*
                _ => false,
            }
        };
    }
    inert_attributes!(
        Array Assign Binary Block Break Call Cast Field ForLoop Group If Index Let Macro Match MethodCall Paren Range
        RawAddr Reference Repeat Return Struct Try Tuple Unary Unsafe
    )
}

/// Whether the attribute is known to leave the code as it is. Another one may be a macro, which may repeat it.
fn is_inert(attribute: &Attribute) -> bool {
    const INERT: [&str; 13] = [
        "allow",
        "cfg",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "forbid",
        "inline",
        "must_use",
        "target_feature",
        "track_caller",
        "warn",
    ];
    fn known(meta: &Meta) -> bool {
        let listed = || {
            let Meta::List(list) = meta else { return false };
            let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            // The first is the condition.
            metas.is_ok_and(|metas| metas.iter().skip(1).all(known))
        };
        INERT.iter().any(|name| meta.path().is_ident(name))
            || meta.path().is_ident("cfg_attr") && listed()
    }
    known(&attribute.meta)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    /// The replaced function as text, or the first error.
    fn replaced(function: &str) -> Result<String, String> {
        let mut function: ItemFn = syn::parse_str(function).unwrap();
        replace(&mut function).map_err(|error| error.to_string())?;
        Ok(quote!(#function).to_string())
    }

    #[test]
    fn only_what_is_executed_once_becomes_an_object() {
        // The lengths of the arrays that a kernel may ask for are 1 and more, of the others 1000 and more.
        let text = replaced(
            "fn kernel(n: u32) {
                let a = shared!([f32; 1]);
                let b = warpsmith_device::shared! { [[f32; 2]; 3], padding = 1 };
                for i in 0..shared!([u8; 4]).len() { shared!([f32; 1000]); }
                while shared!([f32; 1001]).len() > 0 { shared!([f32; 1002]); }
                loop { shared!([f32; 1003]); }
                let c = || shared!([f32; 1004]);
                let c = async { shared!([f32; 1005]) };
                let c = const { shared!([f32; 1006]) };
                fn nested() { shared!([f32; 1007]); }
                let d = if n > 0 { shared!([f32; 5]) } else { shared!([f32; 6]) };
                let e = 'found: { if n == 1 { break 'found shared!([f32; 7]); } shared!([f32; 8]) };
                let Some(f) = wrap(shared!([f32; 9]))? else { return drop(shared!([f32; 10])) };
                match n {
                    1 | 2 if shared!([f32; 1008]).len() > 0 => { shared!([f32; 11]); }
                    _ => drop([shared!([f32; 12])]),
                }
                let g = dbg!(shared!([f32; 1009]));
                let h: [u8; { shared!([f32; 1010]); 2 }] = [0; { shared!([f32; 1011]); 2 }];
                let i = call::<{ shared!([f32; 1012]) }>().method::<{ shared!([f32; 1013]) }>(unsafe { shared!([f32; 13]) });
                #[repeat] let j = shared!([f32; 1014]);
                let k = #[repeat] { shared!([f32; 1015]) };
                #[allow(unused)] let l = shared!([f32; 14]);
                #[cfg_attr(all(), repeat)] let l = shared!([f32; 1016]);
            }",
        )
        .unwrap();
        for length in (1..=14).filter(|length| ![2, 3].contains(length)) {
            let kept = format!("[f32 ; {length}])").replace("f32 ; 4", "u8 ; 4");
            assert!(
                !text.contains(&format!("shared ! ({kept}")),
                "{length} in {text}"
            );
        }
        assert!(
            text.contains("([[f32 ; 2] ; 3] , [f32 ; (2) + (1)])"),
            "{text}"
        );
        for length in 1000..=1016 {
            assert!(
                text.contains(&format!("shared ! ([f32 ; {length}])")),
                "{length} in {text}"
            );
        }
        assert_eq!(text.matches("new_array").count(), 12);
        assert_eq!(text.matches("new_tile").count(), 1);
    }

    #[test]
    fn the_users_tokens_are_not_in_the_unsafe_block() {
        let mut function: ItemFn = parse_quote! {
            fn kernel() { let a = shared!([Evil<{ evil() }>; { evil() }]); }
        };
        replace(&mut function).unwrap();
        let text = quote!(#function).to_string();
        let made = &text[text.find("unsafe").unwrap()..];
        assert!(!made.contains("evil"), "{text}");
    }

    #[test]
    fn attributes_that_may_be_macros_do_not_get_an_object() {
        let with = |attribute: &str, call: &str| {
            replaced(&format!("{attribute} fn kernel() {{ {call} }}"))
        };
        assert!(with("#[inline] #[allow(unused)]", "shared!([f32; 4]);").is_ok());
        assert!(
            with(
                "#[cfg_attr(test, allow(unused), inline)]",
                "shared!([f32; 4]);"
            )
            .is_ok()
        );
        assert!(with("#[repeat]", "shared!(raw [f32; 4]);").is_ok());
        for attribute in ["#[repeat]", "#[cfg_attr(test, repeat)]", "#[a::allow]"] {
            let error = with(attribute, "shared!([f32; 4]);").unwrap_err();
            assert!(error.contains("above `#[kernel]`"), "{error}");
        }
    }

    #[test]
    fn what_is_no_object_is_told() {
        let error = |call: &str| replaced(&format!("fn kernel() {{ {call}; }}")).unwrap_err();
        assert!(error("shared!(f32)").contains("takes `[T; N]`"));
        assert!(error("shared!([f32; 4], pitch = 3)").contains("only `padding = N`"));
        assert!(error("shared!([f32; 4], padding = 3)").contains("rows of a tile"));
        assert!(error("shared!([f32; 4] 3)").contains("only `padding = N`"));
    }
}
