//! The arguments of `#[kernel(...)]`.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitBool, LitInt, LitStr, Token};

/// What `#[kernel(...)]` may say; absent means "not given".
#[derive(Default)]
pub struct Attributes {
    pub name: Option<LitStr>,
    pub max_threads: Option<[u32; 3]>,
    pub exact: bool,
    pub min_blocks: Option<u32>,
    pub max_cluster: Option<u32>,
    pub max_registers: Option<u32>,
    pub cluster: Option<[u32; 3]>,
    pub fmad: Option<bool>,
    pub ftz: Option<bool>,
    pub approx_div: Option<bool>,
    pub approx_sqrt: Option<bool>,
    /// Each instance's generic arguments, as written.
    pub instances: Option<(Span, Vec<Vec<TokenStream>>)>,
}

impl Attributes {
    /// Two bits for each switch: "given", then its value.
    pub fn float_flags(&self) -> u32 {
        [self.fmad, self.ftz, self.approx_div, self.approx_sqrt]
            .into_iter()
            .enumerate()
            .filter_map(|(i, switch)| switch.map(|on| (1 | u32::from(on) << 1) << (2 * i)))
            .sum()
    }
}

const KNOWN: &str = "`launch_bounds(...)`, `cluster(...)`, `max_registers = N`, `instantiate(...)`, `name = \"...\"`, \
                     `fmad = bool`, `ftz = bool`, `approx_div = bool`, `approx_sqrt = bool`";

pub fn parse(tokens: TokenStream) -> syn::Result<Attributes> {
    let mut attributes = Attributes::default();
    let parser = |input: ParseStream| -> syn::Result<()> {
        while !input.is_empty() {
            argument(input, &mut attributes)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    parser.parse2(tokens)?;
    Ok(attributes)
}

fn argument(input: ParseStream, out: &mut Attributes) -> syn::Result<()> {
    let key: Ident = input
        .parse()
        .map_err(|e| syn::Error::new(e.span(), format!("expected one of {KNOWN}")))?;
    let span = key.span();
    match key.to_string().as_str() {
        "launch_bounds" => {
            once(&out.max_threads, span)?;
            launch_bounds(input, span, out)?;
        }
        "cluster" => {
            once(&out.cluster, span)?;
            out.cluster = Some(cluster(input, span)?);
        }
        "max_registers" => {
            once(&out.max_registers, span)?;
            let value = equals_integer(input)?;
            if !(16..=255).contains(&value) {
                return Err(syn::Error::new(
                    span,
                    "`max_registers` is between 16 and 255",
                ));
            }
            out.max_registers = Some(value);
        }
        "name" => {
            once(&out.name, span)?;
            input.parse::<Token![=]>()?;
            let name: LitStr = input.parse()?;
            let value = name.value();
            let valid = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !valid {
                return Err(syn::Error::new(
                    name.span(),
                    "a kernel's name is an ASCII identifier",
                ));
            }
            out.name = Some(name);
        }
        "instantiate" => {
            once(&out.instances, span)?;
            out.instances = Some((span, instantiate(input)?));
        }
        "fmad" => switch(input, span, &mut out.fmad)?,
        "ftz" => switch(input, span, &mut out.ftz)?,
        "approx_div" => switch(input, span, &mut out.approx_div)?,
        "approx_sqrt" => switch(input, span, &mut out.approx_sqrt)?,
        other => {
            let message = format!("unknown kernel attribute `{other}`: known are {KNOWN}");
            return Err(syn::Error::new(span, message));
        }
    }
    if let (Some(_), Some(_), false) = (out.max_registers, out.max_threads, out.exact) {
        return Err(syn::Error::new(
            span,
            "`max_registers` and `launch_bounds` are two ways to limit registers: give one of them \
             (with `launch_bounds(..., exact)` both are possible)",
        ));
    }
    if out.cluster.is_some() && out.max_cluster.is_some() {
        return Err(syn::Error::new(
            span,
            "`max_cluster` is for kernels without a fixed `cluster(...)`",
        ));
    }
    Ok(())
}

fn once<T>(previous: &Option<T>, span: Span) -> syn::Result<()> {
    match previous {
        None => Ok(()),
        Some(_) => Err(syn::Error::new(span, "given twice")),
    }
}

fn switch(input: ParseStream, span: Span, out: &mut Option<bool>) -> syn::Result<()> {
    once(out, span)?;
    input.parse::<Token![=]>()?;
    *out = Some(input.parse::<LitBool>()?.value);
    Ok(())
}

fn equals_integer(input: ParseStream) -> syn::Result<u32> {
    input.parse::<Token![=]>()?;
    input.parse::<LitInt>()?.base10_parse()
}

/// `(x [, y [, z]] [, exact] [, min_blocks = n] [, max_cluster = n])`
fn launch_bounds(input: ParseStream, span: Span, out: &mut Attributes) -> syn::Result<()> {
    let content;
    syn::parenthesized!(content in input);
    let mut threads = Vec::new();
    while !content.is_empty() {
        if content.peek(LitInt) {
            threads.push(content.parse::<LitInt>()?.base10_parse::<u32>()?);
        } else {
            let key: Ident = content.parse()?;
            match key.to_string().as_str() {
                "exact" => out.exact = true,
                "min_blocks" => out.min_blocks = Some(equals_integer(&content)?),
                "max_cluster" => out.max_cluster = Some(equals_integer(&content)?),
                other => {
                    let message = format!(
                        "unknown launch bound `{other}`: `launch_bounds(x, y, z, exact, min_blocks = N, max_cluster = N)`, \
                         where only `x` is required"
                    );
                    return Err(syn::Error::new(key.span(), message));
                }
            }
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    let dims = three(&threads, span, "launch_bounds")?;
    let product = dims.iter().map(|&d| u64::from(d)).product::<u64>();
    if product > 1024 || dims[2] > 64 {
        return Err(syn::Error::new(
            span,
            format!("a block has at most 1024 threads (and 64 in z); these bounds allow {product}"),
        ));
    }
    out.max_threads = Some(dims);
    Ok(())
}

fn cluster(input: ParseStream, span: Span) -> syn::Result<[u32; 3]> {
    let content;
    syn::parenthesized!(content in input);
    let list = Punctuated::<LitInt, Token![,]>::parse_terminated(&content)?;
    let list = list
        .iter()
        .map(|l| l.base10_parse())
        .collect::<syn::Result<Vec<u32>>>()?;
    let dims = three(&list, span, "cluster")?;
    if dims.iter().map(|&d| u64::from(d)).product::<u64>() > 16 {
        return Err(syn::Error::new(
            span,
            "a cluster has at most 16 blocks (8 on every device that has clusters)",
        ));
    }
    Ok(dims)
}

/// One to three positive numbers; the missing ones are 1.
fn three(list: &[u32], span: Span, what: &str) -> syn::Result<[u32; 3]> {
    if list.is_empty() || list.len() > 3 || list.contains(&0) {
        return Err(syn::Error::new(
            span,
            format!("`{what}` takes one to three positive numbers: x, y, z"),
        ));
    }
    let get = |i: usize| list.get(i).copied().unwrap_or(1);
    Ok([get(0), get(1), get(2)])
}

/// One generic argument or a parenthesised list of several.
struct Arguments(Vec<TokenStream>);

impl Parse for Arguments {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let one = |input: ParseStream| -> syn::Result<TokenStream> {
            let argument: syn::GenericArgument = input.parse()?;
            Ok(quote::quote! { #argument })
        };
        if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            let list = content.parse_terminated(one, Token![,])?;
            Ok(Arguments(list.into_iter().collect()))
        } else {
            Ok(Arguments(vec![one(input)?]))
        }
    }
}

fn instantiate(input: ParseStream) -> syn::Result<Vec<Vec<TokenStream>>> {
    let content;
    syn::parenthesized!(content in input);
    let list = Punctuated::<Arguments, Token![,]>::parse_terminated(&content)?;
    Ok(list.into_iter().map(|a| a.0).collect())
}
