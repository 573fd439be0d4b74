//! Rust's format strings, as far as CUDA's printf can follow them.

use syn::LitStr;

pub enum Piece {
    Text(String),
    Placeholder(Placeholder),
}

pub struct Placeholder {
    pub argument: Argument,
    /// The name of the style type in `warpsmith_device::print`.
    pub style: &'static str,
    /// printf's flags, `-` aside.
    pub flags: String,
    /// Alignment, if given: left or right.
    pub left: Option<bool>,
    pub width: Width,
    pub precision: Option<u32>,
}

pub enum Width {
    None,
    Fixed(u32),
    Argument(Argument),
}

pub enum Argument {
    Position(usize),
    Name(String),
}

pub fn parse(format: &LitStr) -> syn::Result<Vec<Piece>> {
    let text = format.value();
    let error = |message: String| syn::Error::new(format.span(), message);
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut next_position = 0;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '{' if characters.peek() == Some(&'{') => {
                characters.next();
                literal.push('{');
            }
            '}' if characters.peek() == Some(&'}') => {
                characters.next();
                literal.push('}');
            }
            '}' => {
                return Err(error(
                    "unmatched `}` in the format: write `}}` for a brace".into(),
                ));
            }
            '{' => {
                let mut inside = String::new();
                loop {
                    match characters.next() {
                        Some('}') => break,
                        Some(c) => inside.push(c),
                        None => {
                            return Err(error(
                                "unmatched `{` in the format: write `{{` for a brace".into(),
                            ));
                        }
                    }
                }
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                let placeholder = placeholder(&inside, &mut next_position)
                    .map_err(|m| error(format!("`{{{inside}}}`: {m}")))?;
                pieces.push(Piece::Placeholder(placeholder));
            }
            '\0' => return Err(error("the format cannot contain a zero byte".into())),
            c => literal.push(c),
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

fn argument(text: &str) -> Result<Argument, String> {
    if let Ok(position) = text.parse() {
        return Ok(Argument::Position(position));
    }
    match syn::parse_str::<syn::Ident>(text) {
        Ok(_) => Ok(Argument::Name(text.to_string())),
        Err(_) => Err(format!(
            "`{text}` is neither a position nor a name; a longer expression goes behind the format"
        )),
    }
}

fn placeholder(inside: &str, next_position: &mut usize) -> Result<Placeholder, String> {
    let (name, spec) = match inside.split_once(':') {
        Some((name, spec)) => (name.trim(), spec.trim_end()),
        None => (inside.trim(), ""),
    };
    let mut rest = spec;
    let mut left = None;
    let mut flags = String::new();

    let mut first = rest.chars();
    match (first.next(), first.next()) {
        (Some(fill), Some(align @ ('<' | '>' | '^'))) => {
            if fill != ' ' {
                return Err(format!(
                    "CUDA's printf cannot fill with `{fill}`, only with spaces (or zeros: `{{:08}}`)"
                ));
            }
            left = Some(alignment(align)?);
            rest = &rest[fill.len_utf8() + 1..];
        }
        (Some(align @ ('<' | '>' | '^')), _) => {
            left = Some(alignment(align)?);
            rest = &rest[1..];
        }
        _ => {}
    }
    if let Some(after) = rest.strip_prefix('+') {
        flags.push('+');
        rest = after;
    } else if rest.starts_with('-') {
        return Err("the flag `-` means nothing".into());
    }
    let alternate = match rest.strip_prefix('#') {
        Some(after) => {
            rest = after;
            true
        }
        None => false,
    };
    // A zero is the flag, unless it begins an argument `0$`.
    if rest.starts_with('0') && !rest.starts_with("0$") {
        flags.push('0');
        rest = &rest[1..];
        if left == Some(true) {
            return Err("zeros and left alignment exclude each other".into());
        }
    }

    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let width = match rest[digits..].strip_prefix('$') {
        Some(after) if digits > 0 => {
            let width = Width::Argument(argument(&rest[..digits])?);
            rest = after;
            width
        }
        _ if digits > 0 => {
            let width = rest[..digits]
                .parse()
                .map_err(|_| "the width is too large")?;
            rest = &rest[digits..];
            Width::Fixed(width)
        }
        _ => match rest.split_once('$') {
            Some((name, after)) if !name.contains('.') => {
                rest = after;
                Width::Argument(argument(name)?)
            }
            _ => Width::None,
        },
    };
    let mut precision = None;
    if let Some(after) = rest.strip_prefix('.') {
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        if digits == 0 || after[digits..].starts_with('$') {
            return Err("CUDA's printf takes a precision only as a number in the format".into());
        }
        precision = Some(
            after[..digits]
                .parse()
                .map_err(|_| "the precision is too large")?,
        );
        rest = &after[digits..];
    }
    let style = match rest {
        "" => "Display",
        "?" => "Debug",
        "x" => "LowerHex",
        "X" => "UpperHex",
        "o" => "Octal",
        "e" => "LowerExp",
        "E" => "UpperExp",
        "p" => "Pointer",
        "b" => return Err("CUDA's printf has no binary form; `{:x}` is near".into()),
        other => return Err(format!("unknown format `{other}`")),
    };
    if alternate {
        match style {
            "LowerHex" | "UpperHex" => flags.push('#'),
            _ => return Err("the flag `#` is for `{:#x}` and `{:#X}`".into()),
        }
    }
    let argument = if name.is_empty() {
        let position = *next_position;
        *next_position += 1;
        Argument::Position(position)
    } else {
        argument(name)?
    };
    Ok(Placeholder {
        argument,
        style,
        flags,
        left,
        width,
        precision,
    })
}

/// Whether to align left.
fn alignment(sign: char) -> Result<bool, String> {
    match sign {
        '<' => Ok(true),
        '>' => Ok(false),
        _ => Err("CUDA's printf cannot centre".into()),
    }
}
