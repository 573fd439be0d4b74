//! The file of functions: lists for macros.

use anyhow::{Result, bail};
use syn::{FnArg, ForeignItemFn, Pat, ReturnType};

use crate::description::Description;
use crate::header::Header;
use crate::output::Files;
use crate::rust_text;

/// Adds the file of functions.
pub fn add(files: &mut Files, description: &Description, header: &Header) -> Result<()> {
    let mut text = String::new();
    for (list, functions) in description.functions.iter().zip(&header.lists) {
        let items = functions
            .iter()
            .map(signature)
            .collect::<Result<Vec<_>>>()?;
        let name = format!("for_each_{}_function", list.name);
        text += &rust_text::list_macro(&list.about, &name, &items);
    }
    let names = header.other_functions.iter().map(|name| format!("{name},"));
    text += &rust_text::list_macro(
        "Further symbols, without signatures: not called here, but a foreign program may ask for them.",
        "for_each_foreign_symbol",
        &names.collect::<Vec<_>>(),
    );
    files.add_text(
        "functions",
        "Functions, as lists for macros: each list hands `fn name(args) -> type;` items to the macro that it is called with.",
        &text,
    );
    Ok(())
}

/// `fn name(argument: type) -> type;`
fn signature(function: &ForeignItemFn) -> Result<String> {
    let name = &function.sig.ident;
    let mut arguments = Vec::new();
    for argument in &function.sig.inputs {
        match argument {
            FnArg::Typed(argument) => match &*argument.pat {
                Pat::Ident(pattern) => arguments.push(format!(
                    "{}: {}",
                    pattern.ident,
                    rust_text::of_type(&argument.ty)
                )),
                _ => bail!("{name} has an argument without a name"),
            },
            FnArg::Receiver(_) => bail!("{name} has a receiver"),
        }
    }
    let result = match &function.sig.output {
        ReturnType::Default => "()".to_owned(),
        ReturnType::Type(_, result) => rust_text::of_type(result),
    };
    Ok(format!("fn {name}({}) -> {result};", arguments.join(", ")))
}
