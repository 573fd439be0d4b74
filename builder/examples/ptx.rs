//! Compiles the kernel crate in the folder given as argument and prints its PTX.

fn main() {
    let path = std::env::args()
        .nth(1)
        .expect("give the folder of a kernel crate");
    let arch = std::env::args().nth(2).unwrap_or("sm_80".into());
    let built = arch
        .parse()
        .and_then(|arch| warpsmith_builder::CudaBuilder::new(path).arch(arch).build());
    match built {
        Ok(built) => print!("{}", built.ptx),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
