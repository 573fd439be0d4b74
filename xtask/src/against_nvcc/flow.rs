//! The innermost loops of a function, from its instructions and where they lead.

/// Where control goes after an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Next,
    /// To one of these, by index, or to the next one.
    Branch(Vec<usize>),
    /// To one of these.
    Jump(Vec<usize>),
    /// Nowhere: the thread ends, or the function returns.
    End,
}

/// What matters of an instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Where control goes.
    pub flow: Flow,
    /// Whether it loads, stores, or is atomic: constants and parameters do not count.
    pub is_memory: bool,
}

/// A loop that has no other in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its instructions.
    pub instructions: usize,
    /// Those of them that access memory.
    pub memory: usize,
}

/// The innermost loops, in the order of their heads.
///
/// A back edge leads to a block that dominates its own; its loop is that block and all that reach the edge without passing it. So code that
/// lies between in the text but leaves the loop, such as a panic's, does not count, and code of the loop that lies elsewhere does.
pub fn innermost(code: &[Instruction]) -> Vec<Loop> {
    let blocks = Blocks::of(code);
    let dominators = blocks.dominators();
    let mut loops: Vec<(usize, Vec<bool>)> = Vec::new();
    for (from, leads_to) in blocks.successors.iter().enumerate() {
        for &head in leads_to {
            if dominators.dominates(head, from) {
                let body = blocks.reaching(from, head);
                match loops.iter_mut().find(|(other, _)| *other == head) {
                    Some((_, whole)) => {
                        for (whole, also) in whole.iter_mut().zip(body) {
                            *whole |= also;
                        }
                    }
                    None => loops.push((head, body)),
                }
            }
        }
    }
    loops.sort_by_key(|(head, _)| *head);
    let has_another = |head: usize, body: &[bool]| {
        loops
            .iter()
            .any(|(other, _)| *other != head && body[*other])
    };
    loops
        .iter()
        .filter(|(head, body)| !has_another(*head, body))
        .map(|(_, body)| {
            let own = (0..code.len()).filter(|&at| body[blocks.of[at]]);
            Loop {
                instructions: own.clone().count(),
                memory: own.filter(|&at| code[at].is_memory).count(),
            }
        })
        .collect()
}

/// A function's basic blocks.
struct Blocks {
    /// The block of each instruction.
    of: Vec<usize>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
}

impl Blocks {
    fn of(code: &[Instruction]) -> Blocks {
        let mut begins = vec![false; code.len() + 1];
        begins[0] = true;
        for (at, instruction) in code.iter().enumerate() {
            if let Flow::Branch(targets) | Flow::Jump(targets) = &instruction.flow {
                for &target in targets {
                    begins[target] = true;
                }
            }
            begins[at + 1] |= instruction.flow != Flow::Next;
        }
        let mut count = 0;
        let of: Vec<usize> = begins[..code.len()]
            .iter()
            .map(|&begins| {
                count += usize::from(begins);
                count - 1
            })
            .collect();
        let (mut successors, mut predecessors) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for at in 0..code.len() {
            let is_last = at + 1 == code.len() || begins[at + 1];
            if !is_last {
                continue;
            }
            let next = (at + 1 < code.len()).then_some(at + 1);
            let targets: Vec<usize> = match &code[at].flow {
                Flow::Next => next.into_iter().collect(),
                Flow::Branch(targets) => targets.iter().copied().chain(next).collect(),
                Flow::Jump(targets) => targets.clone(),
                Flow::End => Vec::new(),
            };
            for target in targets {
                successors[of[at]].push(of[target]);
                predecessors[of[target]].push(of[at]);
            }
        }
        Blocks {
            of,
            successors,
            predecessors,
        }
    }

    /// `head`, and the blocks from which `from` is reached without passing it.
    fn reaching(&self, from: usize, head: usize) -> Vec<bool> {
        let mut body = vec![false; self.successors.len()];
        body[head] = true;
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut body[block], true) {
                open.extend(&self.predecessors[block]);
            }
        }
        body
    }

    /// By Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    fn dominators(&self) -> Dominators {
        let (mut order, mut seen) = (Vec::new(), vec![false; self.successors.len()]);
        let mut path = vec![(0, 0)];
        seen[0] = true;
        while let Some((block, next)) = path.last_mut() {
            match self.successors[*block].get(*next) {
                Some(&successor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[successor], true) {
                        path.push((successor, 0));
                    }
                }
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
        let mut number = vec![usize::MAX; self.successors.len()];
        for (position, &block) in order.iter().enumerate() {
            number[block] = position;
        }
        let mut immediate: Vec<Option<usize>> = vec![None; self.successors.len()];
        immediate[0] = Some(0);
        let meet = |immediate: &[Option<usize>], mut a: usize, mut b: usize| {
            while a != b {
                while number[a] < number[b] {
                    a = immediate[a].unwrap_or(0);
                }
                while number[b] < number[a] {
                    b = immediate[b].unwrap_or(0);
                }
            }
            a
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev().skip(1) {
                let known = self.predecessors[block]
                    .iter()
                    .copied()
                    .filter(|&p| immediate[p].is_some());
                let new = known.reduce(|a, b| meet(&immediate, a, b));
                if new != immediate[block] {
                    immediate[block] = new;
                    changed = true;
                }
            }
        }
        Dominators { immediate }
    }
}

/// Each reachable block's immediate dominator; the first block's is itself.
struct Dominators {
    immediate: Vec<Option<usize>>,
}

impl Dominators {
    /// Whether every way to `block` passes `dominator`; false where there is no way.
    fn dominates(&self, dominator: usize, mut block: usize) -> bool {
        loop {
            if block == dominator {
                return self.immediate[block].is_some();
            }
            match self.immediate[block] {
                Some(next) if next != block => block = next,
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(flows: &[Flow]) -> Vec<Instruction> {
        let instruction = |flow: &Flow| Instruction {
            flow: flow.clone(),
            is_memory: false,
        };
        flows.iter().map(instruction).collect()
    }

    #[test]
    fn the_outer_of_two_loops_does_not_count() {
        // 0: head of the outer loop; 1, 2: the inner one; 3: back to 0.
        let all = code(&[
            Flow::Next,
            Flow::Next,
            Flow::Branch(vec![1]),
            Flow::Branch(vec![0]),
            Flow::End,
        ]);
        let found: Vec<usize> = innermost(&all).iter().map(|l| l.instructions).collect();
        assert_eq!(found, [2]);
    }

    #[test]
    fn what_leaves_a_loop_does_not_count_and_what_lies_elsewhere_does() {
        // 0, 1 and, behind the end, 5 are the loop; 2 leaves it.
        let all = code(&[
            Flow::Branch(vec![2]),
            Flow::Branch(vec![5]),
            Flow::End,
            Flow::End,
            // Never reached: nvcc ends each function so.
            Flow::Jump(vec![4]),
            Flow::Jump(vec![0]),
        ]);
        let found: Vec<usize> = innermost(&all).iter().map(|l| l.instructions).collect();
        assert_eq!(found, [3]);
    }
}
