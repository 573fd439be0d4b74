//! Histogram equalisation of a picture, on a GPU or the simulator:
//!
//! ```text
//! cargo run --example equalize -- IN.png OUT.png
//! cargo run --example equalize -- --sample OUT.png
//! ```
//!
//! The second form draws a foggy picture to try it on.

use anyhow::{Context, Result, bail};
use image::{ImageError, ImageReader, RgbaImage};
use std::path::Path;
use std::process::ExitCode;
use warpsmith_host::prelude::*;
use warpsmith_suite::equalize::{Pixel, equalize, oracle};
use warpsmith_suite::session::Session;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["--sample", out] => sample()
            .save(out)
            .with_context(|| format!("cannot write {out}")),
        [input, out] => run(Path::new(input), Path::new(out)),
        _ => {
            eprintln!("usage: equalize IN.png OUT.png, or equalize --sample OUT.png");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(input: &Path, out: &Path) -> Result<()> {
    let picture = read(input)?;
    let (width, height) = picture.dimensions();
    let pixels: &[Pixel] = bytemuck::cast_slice(picture.as_raw());
    let session = Session::new(&Gpu::open_default()?)?;
    let result = equalize(&session, pixels)?;
    if result != oracle(pixels) {
        bail!("the device's result differs from the CPU's: please report this");
    }
    let bytes = bytemuck::cast_slice(&result).to_vec();
    let picture =
        RgbaImage::from_raw(width, height, bytes).context("the picture changed its size")?;
    picture
        .save(out)
        .with_context(|| format!("cannot write {}", out.display()))?;
    println!(
        "{width} x {height} pixels equalised on {}: {}",
        session.device(),
        out.display()
    );
    Ok(())
}

/// Reads a picture, and says in plain words what is wrong with it.
fn read(path: &Path) -> Result<RgbaImage> {
    let name = path.display();
    let reader = ImageReader::open(path)
        .with_context(|| format!("cannot open {name}"))?
        .with_guessed_format()
        .with_context(|| format!("cannot read {name}"))?;
    match reader.decode() {
        Ok(picture) => Ok(picture.into_rgba8()),
        Err(ImageError::Unsupported(error)) => {
            bail!("{name} is not a PNG, which is all that this example reads: {error}")
        }
        Err(ImageError::Decoding(error)) => bail!("{name} is damaged: {error}"),
        Err(ImageError::IoError(error)) => bail!("{name} is damaged or cannot be read: {error}"),
        Err(error) => bail!("{name} cannot be read as a picture: {error}"),
    }
}

/// Hills in the fog: everything lies between 110 and 165 of 255.
fn sample() -> RgbaImage {
    RgbaImage::from_fn(240, 150, |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        let (mut depth, mut level) = (0.0, 1.0);
        for (layer, height) in [40.0, 65.0, 90.0, 115.0].into_iter().enumerate() {
            let k = layer as f64 + 1.0;
            let ridge = height
                + 9.0 * (x / (31.0 - 4.0 * k) + k).sin()
                + 4.0 * (x / (7.0 + k) + 2.0 * k).sin();
            if y > ridge {
                level = 0.8 - 0.2 * k;
                depth = (y - ridge) / 40.0;
            }
        }
        let sun = (-((x - 180.0).powi(2) + (y - 28.0).powi(2)) / 200.0).exp();
        let light = (level + 0.25 * depth).min(1.0) * 0.8 + 0.2 * sun;
        let colour = |tint: f64| (110.0 + 55.0 * light * tint) as u8;
        image::Rgba([colour(1.0), colour(0.96), colour(0.9 + 0.1 * level), 255])
    })
}
