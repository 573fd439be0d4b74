//! Every call with right arguments and with each wrong one.

use crate::answers;
use crate::calls;
use crate::children::{self, Rows};
use crate::health::{Answer, State};
use crate::particular;
use crate::real;
use crate::signatures;
use crate::table::{Call, Change};
use crate::world::{World, enter_ended_context, leave_context};
use crate::wrong::{self, Kind};

/// A call with at most one thing wrong.
#[derive(Clone, Copy)]
struct Row {
    call: &'static Call,
    /// The place of the wrong argument; none if it is another thing.
    place: Option<usize>,
    wrong: Option<Kind>,
}

impl Row {
    /// Name and type of what is wrong.
    fn parameter(&self) -> (&'static str, &'static str) {
        self.place.map_or(("-", "-"), |place| {
            signatures::of(self.call.name).parameters[place]
        })
    }

    fn name(&self) -> String {
        let wrong = self
            .wrong
            .map_or("Right".into(), |kind| format!("{kind:?}"));
        format!("{} {} {wrong}", self.call.name, self.parameter().0)
    }

    fn expected(&self) -> u32 {
        let (parameter, of) = self.parameter();
        self.wrong.map_or(self.call.answer, |kind| {
            answers::expected(self.call, parameter, of, kind)
        })
    }

    fn is_for_real_drivers(&self) -> bool {
        let is_simulated_alone = self.wrong.is_some_and(Kind::is_for_simulator_alone);
        !is_simulated_alone && !self.call.name.contains("ExternalSemaphore")
    }
}

/// All rows.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for call in calls::all() {
        rows.push(Row {
            call,
            place: None,
            wrong: None,
        });
        rows.extend(wrong::OF_CALLS.iter().map(|&kind| Row {
            call,
            place: None,
            wrong: Some(kind),
        }));
        for (place, (parameter, of)) in signatures::of(call.name).parameters.iter().enumerate() {
            let kinds = wrong::kinds(parameter, of).iter();
            rows.extend(kinds.map(|&kind| Row {
                call,
                place: Some(place),
                wrong: Some(kind),
            }));
        }
    }
    rows
}

fn is_of_an_end(function: &str) -> bool {
    ["Destroy", "Unload"]
        .iter()
        .any(|word| function.contains(word))
}

/// Executes a row.
fn perform(row: &Row, w: &World) -> Option<Answer> {
    let before = State::of(w);
    let signature = signatures::of(row.call.name);
    let change = match (row.place, row.wrong) {
        (Some(place), Some(kind)) => {
            let (parameter, of) = row.parameter();
            let bits = wrong::bits(kind, of, parameter, row.call.name, w)?;
            Change::of_argument(place, bits)
        }
        (None, Some(Kind::NoContext)) => Change::before(signature.parameters.len(), leave_context),
        (None, Some(_)) => Change::before(signature.parameters.len(), enter_ended_context),
        (_, None) => Change::none(),
    };
    let answer = (row.call.perform)(w, &change).0;
    if row.wrong.is_some() && answer == 0 && is_of_an_end(row.call.name) {
        // What it ended is missing.
        return Some(Answer {
            code: answer,
            remark: String::new(),
            changed: true,
        });
    }
    Some(Answer::of(answer, w, &before))
}

/// All rows, as children run them.
struct Table(Vec<Row>);

impl Rows for Table {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn name(&self, row: usize) -> String {
        self.0[row].name()
    }

    fn expected(&self, row: usize) -> u32 {
        self.0[row].expected()
    }

    fn is_for_real_drivers(&self, row: usize) -> bool {
        self.0[row].is_for_real_drivers()
    }

    fn perform(&self, row: usize, w: &World) -> Option<Answer> {
        perform(&self.0[row], w)
    }
}

// covers: DRV-09
#[test]
fn each_wrong_argument_gives_the_named_error() {
    children::run(&Table(rows()));
}

#[test]
fn each_function_has_a_call_and_each_parameter_a_wrong_argument() {
    let mut missing = Vec::new();
    for signature in signatures::all() {
        let name = signature.name;
        if signatures::is_of_memory(name) {
            continue;
        }
        if calls::all().all(|call| call.name != name) {
            missing.push(format!("{name} has no call"));
        }
        for (parameter, of) in signature.parameters {
            if wrong::kinds(parameter, of).is_empty() && !wrong::has_no_wrong(parameter, of) {
                missing.push(format!("{name}: nothing is wrong with {parameter}: {of}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The tables of what a real driver does otherwise name rows that there are, and no answer that is the simulator's, too.
#[test]
fn a_real_drivers_own_answers_are_other_ones() {
    let mut rows: Vec<(String, u32)> = rows()
        .iter()
        .map(|row| (row.name(), row.expected()))
        .collect();
    rows.extend(particular::answers());
    let mut wrong = Vec::new();
    for name in real::names() {
        let named: Vec<_> = rows
            .iter()
            .filter(|(row, _)| real::is_of(name, row))
            .collect();
        if named.is_empty() {
            wrong.push(format!("{name}: no such row"));
        }
        let same = |(row, answer): &&&(String, u32)| real::answer(row) == Some(*answer);
        wrong.extend(
            named
                .iter()
                .filter(same)
                .map(|(row, answer)| format!("{row}: the simulator answers {answer}, too")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
