//! What is done to a line of PTX to make a mutant.

/// A way to spoil an instruction.
pub struct Operator {
    /// Its name in cases and counts.
    pub name: &'static str,
    /// The line in its place, if it applies to this one.
    pub apply: fn(&str) -> Option<String>,
    /// Whether two lines near each other are parts of one operation, which are spoilt together.
    pub joins: fn(&str, &str) -> bool,
    /// Whether each mutant must be caught. A bound may be one that no size meets exactly.
    pub is_demanded: bool,
}

/// Each line is an operation.
fn apart(_: &str, _: &str) -> bool {
    false
}

/// All of them.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "no-barrier",
        apply: without_barrier,
        joins: apart,
        is_demanded: true,
    },
    Operator {
        name: "no-wait",
        apply: without_wait,
        joins: apart,
        is_demanded: true,
    },
    Operator {
        name: "no-fence",
        apply: |line| starts_with(line, &["fence.", "membar."]).then(String::new),
        joins: apart,
        is_demanded: true,
    },
    Operator {
        name: "no-store",
        apply: without_store,
        joins: apart,
        is_demanded: true,
    },
    Operator {
        name: "wrong-address",
        apply: wrong_address,
        joins: apart,
        is_demanded: true,
    },
    Operator {
        name: "wrong-lane",
        apply: wrong_lane,
        joins: same_lane,
        is_demanded: true,
    },
    Operator {
        name: "wrong-bound",
        apply: wrong_bound,
        joins: apart,
        is_demanded: false,
    },
];

/// The instruction behind the guard, if there is one.
pub fn instruction(line: &str) -> &str {
    let line = line.trim();
    match line.strip_prefix('@') {
        Some(rest) => rest
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest.trim_start()),
        None => line,
    }
}

fn starts_with(line: &str, opcodes: &[&str]) -> bool {
    let instruction = instruction(line);
    opcodes.iter().any(|opcode| instruction.starts_with(opcode))
}

/// Barriers of the block and of the cluster. Those of a warp are another matter: its lanes mostly run together.
fn without_barrier(line: &str) -> Option<String> {
    let barriers = [
        "bar.sync",
        "bar.red",
        "barrier.sync",
        "barrier.cluster.wait",
    ];
    starts_with(line, &barriers).then(String::new)
}

fn without_wait(line: &str) -> Option<String> {
    starts_with(line, &["cp.async.wait", "cp.async.bulk.wait", "wgmma.wait"]).then(String::new)
}

/// Stores to memory: those of arguments are part of their call.
fn without_store(line: &str) -> Option<String> {
    (starts_with(line, &["st.", "red."]) && !starts_with(line, &["st.param"])).then(String::new)
}

/// The address four bytes further.
fn wrong_address(line: &str) -> Option<String> {
    if !starts_with(
        line,
        &[
            "ld.global",
            "ld.shared",
            "st.global",
            "st.shared",
            "red.",
            "atom.",
        ],
    ) {
        return None;
    }
    let (before, rest) = line.split_once('[')?;
    let (address, after) = rest.split_once(']')?;
    let address = match address.split_once('+') {
        Some((base, offset)) => {
            let offset: i64 = offset.parse().ok()?;
            format!("{base}+{}", offset + 4)
        }
        None => format!("{address}+4"),
    };
    Some(format!("{before}[{address}]{after}"))
}

/// The value of another lane: where lanes exchange by distance, the thread's own; where they name the lane, that of its neighbour.
fn wrong_lane(line: &str) -> Option<String> {
    if !starts_with(line, &["shfl.sync"]) {
        return None;
    }
    let mut operands: Vec<&str> = line.split(", ").collect();
    let lane = *operands.get(2)?;
    let wrong = if line.contains(".idx") {
        format!("xor.b32 %wrong, {lane}, 1;")
    } else {
        "mov.b32 %wrong, 0;".to_owned()
    };
    operands[2] = "%wrong";
    let shuffle = operands.join(", ");
    Some(format!(
        "\t{{ .reg .b32 %wrong; {wrong} {} }}",
        shuffle.trim()
    ))
}

/// Two shuffles by the same lanes: the halves of a value of 64 bits, of which the lower one alone would change too little.
fn same_lane(line: &str, other: &str) -> bool {
    let lane = |line: &str| line.split(", ").nth(2).map(str::to_owned);
    lane(line) == lane(other)
}

/// One more, or one less.
fn wrong_bound(line: &str) -> Option<String> {
    if !starts_with(line, &["setp."]) || line.contains(".f32") || line.contains(".f64") {
        return None;
    }
    [("lt", "le"), ("le", "lt"), ("gt", "ge"), ("ge", "gt")]
        .into_iter()
        .find_map(|(from, to)| {
            let from = format!("setp.{from}.");
            line.contains(&from)
                .then(|| line.replace(&from, &format!("setp.{to}.")))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutants(line: &str) -> Vec<(&'static str, String)> {
        OPERATORS
            .iter()
            .filter_map(|operator| Some((operator.name, (operator.apply)(line)?)))
            .collect()
    }

    #[test]
    fn halves_of_a_shuffle_belong_together() {
        let half = |lane| format!("\tshfl.sync.bfly.b32 %r1, %r2, {lane}, 31, -1;");
        assert!(same_lane(&half("%r3"), &half("%r3")));
        assert!(!same_lane(&half("%r3"), &half("%r4")));
    }

    #[test]
    fn operators_spoil_what_they_are_for() {
        assert_eq!(mutants("\tbar.sync 0;"), [("no-barrier", String::new())]);
        assert_eq!(mutants("\tbar.warp.sync -1;"), []);
        assert_eq!(
            mutants("\tcp.async.wait_group 1;"),
            [("no-wait", String::new())]
        );
        assert_eq!(
            mutants("\tfence.acq_rel.gpu;"),
            [("no-fence", String::new())]
        );
        assert_eq!(
            mutants("\t@%p3 st.shared.b32 \t[%r1], %r2;"),
            [
                ("no-store", String::new()),
                (
                    "wrong-address",
                    "\t@%p3 st.shared.b32 \t[%r1+4], %r2;".into()
                )
            ]
        );
        assert_eq!(
            mutants("\tld.global.nc.b32 \t%r1, [%rd13+4096];"),
            [(
                "wrong-address",
                "\tld.global.nc.b32 \t%r1, [%rd13+4100];".into()
            )]
        );
        assert_eq!(
            mutants("\tshfl.sync.bfly.b32 %r1, %r2, %r3, 31, -1;"),
            [(
                "wrong-lane",
                "\t{ .reg .b32 %wrong; mov.b32 %wrong, 0; shfl.sync.bfly.b32 %r1, %r2, %wrong, 31, -1; }".into()
            )]
        );
        assert_eq!(
            mutants("\tshfl.sync.idx.b32 %r1, %r2, 5, 31, -1;"),
            [(
                "wrong-lane",
                "\t{ .reg .b32 %wrong; xor.b32 %wrong, 5, 1; shfl.sync.idx.b32 %r1, %r2, %wrong, 31, -1; }".into()
            )]
        );
        assert_eq!(
            mutants("\tsetp.lt.u64 \t%p1, %rd1, %rd2;"),
            [("wrong-bound", "\tsetp.le.u64 \t%p1, %rd1, %rd2;".into())]
        );
        assert_eq!(mutants("\tsetp.lt.f32 \t%p1, %f1, %f2;"), []);
        assert_eq!(mutants("\tst.param.b64 \t[param0], %rd1;"), []);
        assert_eq!(mutants("\tld.param.b64 \t%rd1, [p];"), []);
    }
}
