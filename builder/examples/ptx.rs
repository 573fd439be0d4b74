//! Compiles the kernel crate in a folder and prints its PTX: `ptx FOLDER [ARCH [message|location|trap]]`.

use warpsmith_builder::{BuildError, CudaBuilder, PanicStrategy};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("give the folder of a kernel crate");
    let arch = arguments.next().unwrap_or("sm_80".into());
    let panic = match arguments.next().as_deref() {
        Some("trap") => PanicStrategy::Trap,
        Some("location") => PanicStrategy::Location,
        _ => PanicStrategy::Message,
    };
    let build = || -> Result<String, BuildError> {
        let output = CudaBuilder::new(folder)
            .arch(arch.parse()?)
            .panic(panic)
            .build()?;
        Ok(output.ptx)
    };
    match build() {
        Ok(ptx) => print!("{ptx}"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
