//! Gives the library the name that programs look for: the dynamic linker matches the soname, whatever the file is called.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnccl.so.2");
}
