//! Local arrays that are used as stacks, with what is pushed and popped computed from a seed. The kernels are those of [`crate::tables`].

/// What is done next.
fn next(x: u32) -> u32 {
    x.wrapping_mul(1664525)
        .wrapping_add(1013904223)
        .rotate_left(7)
}

/// Whether something is pushed.
fn is_push(x: u32) -> bool {
    x % 5 < 3
}

/// One element at a time, by the number of elements.
pub fn by_one(seed: u32, place: u32) -> u32 {
    let mut stack = [0; 24];
    let (mut depth, mut sum, mut x) = (0, place, seed);
    for _ in 0..60 {
        x = next(x);
        if is_push(x) && depth < 24 {
            stack[depth] = x;
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
            sum = next(sum ^ stack[depth]);
        }
    }
    sum
}

/// A tree, whose nodes are halved.
pub fn of_tree(seed: u32, place: u32) -> u32 {
    let mut stack = [(0_u32, 0_u64); 16];
    stack[0] = (place % 1024, 1);
    let (mut depth, mut sum) = (1_u32, 0);
    while depth > 0 {
        depth -= 1;
        let (node, way) = stack[depth as usize];
        sum = next(sum ^ node ^ way as u32 ^ seed);
        if node > 60 {
            stack[depth as usize] = (node / 2, 2 * way);
            stack[depth as usize + 1] = (node / 3, 2 * way + 1);
            depth += 2;
        }
    }
    sum
}

/// By the number of the last element, which the first one stays below.
pub fn by_last(seed: u32, place: u32) -> u32 {
    let mut stack = [7; 24];
    let (mut last, mut sum, mut x) = (0, place, seed);
    for _ in 0..60 {
        x = next(x);
        if is_push(x) && last < 23 {
            last += 1;
            stack[last] = x;
        } else if last > 0 {
            sum = next(sum ^ stack[last]);
            last -= 1;
        }
        sum ^= stack[last];
    }
    sum
}

/// Something above the last element is read, too, and some are left as they were.
pub fn with_gaps(seed: u32, place: u32) -> u32 {
    let mut stack = [9; 24];
    let (mut depth, mut sum, mut x) = (0, place, seed);
    for _ in 0..60 {
        x = next(x);
        if is_push(x) && depth < 23 {
            if x & 64 == 0 {
                stack[depth] = x;
            }
            depth += 1;
            sum = next(sum ^ stack[depth]);
        } else if depth > 0 {
            depth -= 1;
            sum = next(sum ^ stack[depth]);
        }
    }
    sum
}

/// Numbers of 64 bits that need fewer, beside some that need all.
pub fn of_places(seed: u32, place: u32) -> u32 {
    let mut stack = [(0_usize, 0_u64); 16];
    let (mut depth, mut sum, mut x) = (0, u64::from(place), seed);
    for _ in 0..60 {
        x = next(x);
        if is_push(x) && depth < 16 {
            stack[depth] = (x as usize % 4096, sum);
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
            let (place, old) = stack[depth];
            sum = sum.rotate_left(9).wrapping_add(old ^ place as u64);
        }
    }
    next(sum as u32) ^ (sum >> 32) as u32
}
