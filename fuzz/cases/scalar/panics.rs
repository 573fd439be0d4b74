//! arch sm_90
//! overflow-checks on
//! input 1 2 3 4 5 6
//! input ff 0 0 0 0 0
//! input 0 8000000000000000 ffffffffffffffff 7 0 0
//! input 0 0 0 7f 80 9
//! note panics of arithmetic, indices and calls, each told with its message and place
#[inline(never)]
fn divide(a: i64, b: i64) -> i64 {
    a / b
}

pub fn program(x: &[u64; 6]) -> u64 {
    let table = [3u64, 5, 7];
    let sum = (x[0] as u8 + 1) as u64;
    let quotient = divide(x[1] as i64, x[2] as i64) as u64;
    let chosen = table[(x[3] % 4) as usize];
    let depth = u32::try_from(x[4]).expect("fits").checked_sub(x[5] as u32);
    sum ^ quotient ^ chosen ^ depth.unwrap() as u64
}
