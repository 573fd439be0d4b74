use warpsmith_simulator::engine::Module;
#[test]
fn load() {
    for f in std::fs::read_dir("/tmp/x/ptx").unwrap().flatten() {
        let t = std::fs::read_to_string(f.path()).unwrap();
        for _ in 0..3 {
        let now = std::time::Instant::now();
        let r = Module::load(&t, &mut |_| Some(0x1000));
        eprintln!("{:?} {:?} {}", f.path(), now.elapsed(), r.map(|_|"ok".to_string()).unwrap_or_else(|e| e.to_string()));
        }
    }
}
