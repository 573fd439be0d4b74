//! Address spaces, and loads through the read-only path.

use warpsmith_builder::ptx::summarise;

use super::support::*;

#[track_caller]
fn only_shared_and_global(body: &[&str]) {
    for line in body {
        let generic = ["ld.b", "st.b", "ld.u", "st.u", "ld.f", "st.f"]
            .iter()
            .any(|g| line.starts_with(g));
        assert!(!generic, "a generic access: {line}\n{body:#?}");
        assert!(!line.contains("local"), "local memory: {line}");
    }
}

// covers: SPACE-10
#[test]
fn static_shared_memory_is_addressed_as_shared() {
    for kernel in ["shared_by_section", "shared_by_marker"] {
        let body = body(features(), kernel);
        only_shared_and_global(&body);
        assert!(
            count(&body, "st.shared") >= 1 && count(&body, "ld.shared") >= 1,
            "{body:#?}"
        );
    }
    assert_eq!(count(&body(features(), "shared_by_marker"), "st.shared"), 2);
}

#[test]
fn pointers_into_shared_memory_that_change_places_stay_shared() {
    for kernel in ["shared_pointers_swapped", "shared_slices_swapped"] {
        let body = body(features(), kernel);
        only_shared_and_global(&body);
        assert!(count(&body, "ld.shared") >= 1, "{body:#?}");
        assert_eq!(count(&body, "cvta.shared"), 0, "{body:#?}");
    }
}

#[test]
fn a_vector_is_loaded_whole_though_its_elements_are_taken_one_by_one() {
    let body = body(features(), "elements_of_vectors");
    let loads = count(&body, "ld.global");
    assert!(loads > 0, "{body:#?}");
    assert_eq!(count(&body, "v4.b32"), loads, "{body:#?}");
}

#[test]
fn bytes_are_compared_where_they_lie() {
    let body = body(features(), "words_compared");
    only_shared_and_global(&body);
    assert_eq!(count(&body, "call"), 0, "{body:#?}");
    assert!(count(&body, "ld.global.nc.b8") >= 2, "{body:#?}");
}

#[test]
fn each_use_and_each_instantiation_has_its_own_shared_object() {
    let summaries = summarise(features());
    let bytes = |name: &str| {
        summaries
            .iter()
            .find(|k| k.name == name)
            .unwrap()
            .static_shared
    };
    assert_eq!(bytes("shared_by_section"), 256);
    assert_eq!(bytes("shared_by_marker"), 2 * 32 * 4);
    assert_eq!(bytes("shared_in_generic"), 32 * 2 + 32 * 8);
    let body = body(features(), "shared_in_generic");
    only_shared_and_global(&body);
    assert_eq!(
        (count(&body, "st.shared.b16"), count(&body, "st.shared.b64")),
        (1, 1)
    );
}

// covers: SPACE-11
#[test]
fn dynamic_shared_memory_is_one_extern_array() {
    let declaration = ".extern .shared .align 16 .b8 __warpsmith_dynamic_shared_memory[];";
    assert_eq!(features().matches(declaration).count(), 1);
    let body = body(features(), "shared_dynamic_memory");
    only_shared_and_global(&body);
    assert_eq!(
        (count(&body, "st.shared"), count(&body, "ld.shared")),
        (1, 1)
    );
    let summary = summarise(features())
        .into_iter()
        .find(|k| k.name == "shared_dynamic_memory")
        .unwrap();
    assert!(summary.dynamic_shared);
    assert_eq!(summary.static_shared, 0);
}

// covers: LANG-07
// covers: SPACE-09
#[test]
fn constant_memory_is_visible_and_never_folded() {
    assert!(features().contains(".visible .const .align 4 .b8 COEFFICIENTS[16]"));
    let body = body(features(), "constant_memory");
    assert_eq!(count(&body, "ld.const"), 2, "{body:#?}");
}

// covers: SPACE-08
#[test]
fn device_globals_are_visible_and_never_folded() {
    assert!(features().contains(".visible .global .align 4 .b8 COUNTER[4] = {7}"));
    assert_eq!(count(&body(features(), "device_global"), "ld.global"), 1);
}

#[test]
fn unused_tables_are_dropped_and_used_ones_are_private() {
    assert!(!features().contains("UNUSED_TABLE"));
    let table = features()
        .lines()
        .find(|l| l.contains("5TABLE") && l.contains(".b8"))
        .unwrap();
    assert!(!table.contains(".visible"), "{table}");
}

#[test]
fn read_only_unaliased_pointers_load_through_the_read_only_path() {
    assert_eq!(
        count(&body(features(), "read_only_loads"), "ld.global.nc"),
        1
    );
    assert_eq!(count(&body(features(), "raw_loads"), "ld.global.nc"), 0);
    // No null check of a slice's address.
    assert_eq!(count(&body(features(), "read_only_loads"), "setp"), 1);
}

/// ptxas then makes one access of four neighbouring ones.
#[test]
fn shared_objects_start_at_multiples_of_sixteen() {
    let body = body(features(), "shared_vectors");
    assert_eq!(
        count(&body, ".shared .align 16 .b8 shared_"),
        1,
        "{body:#?}"
    );
}

// covers: UM-09
#[test]
fn managed_statics_are_marked() {
    let line = features()
        .lines()
        .find(|l| l.contains("MANAGED_COUNTER") && l.contains(".b8"))
        .unwrap();
    assert!(
        line.starts_with(".visible .global .attribute(.managed) .align 4 .b8 MANAGED_COUNTER[8]"),
        "{line}"
    );
}

#[test]
fn long_arrays_are_filled_by_as_much_as_an_instruction_takes() {
    let body = body(features(), "long_array_filled");
    assert_eq!(count(&body, "st.local.v4.b32"), 10, "{body:#?}");
    assert_eq!(count(&body, ".b8"), 0, "{body:#?}");
}

#[test]
fn long_arrays_are_copied_by_their_elements() {
    let body = body(features(), "long_array_copied");
    assert_eq!(count(&body, "ld.global.nc.b32"), 40, "{body:#?}");
    assert_eq!(count(&body, "st.global.b32"), 40, "{body:#?}");
    assert_eq!(count(&body, "bra"), 0, "{body:#?}");
}

#[test]
fn very_long_arrays_are_copied_in_a_loop_by_their_elements() {
    let body = body(features(), "very_long_array_copied");
    assert_eq!(count(&body, "ld.global.nc.b64"), 9, "{body:#?}");
    assert_eq!(count(&body, "st.global.b64"), 9, "{body:#?}");
    assert_eq!(count(&body, "bra"), 1, "{body:#?}");
}

#[test]
fn as_many_elements_as_run_time_says_are_copied_one_by_one() {
    let body = body(features(), "elements_copied");
    assert!(count(&body, "ld.global.nc.b32") >= 1, "{body:#?}");
    assert_eq!(count(&body, ".b8"), 0, "{body:#?}");
}

#[test]
fn elements_that_make_room_are_moved_by_words_from_the_last_one_on() {
    let body = body(features(), "elements_shifted");
    assert_eq!(count(&body, "ld.global.b32"), 1, "{body:#?}");
    assert_eq!(count(&body, "st.global.b32"), 1, "{body:#?}");
    assert_eq!(count(&body, ".b8"), 0, "{body:#?}");
    let next = position(&body, "add.s64 \t%rd");
    assert!(
        body[next..].iter().any(|line| line.ends_with(", -4;")),
        "{body:#?}"
    );
}

#[test]
fn elements_are_moved_in_the_order_that_their_places_ask_for() {
    let body = body(features(), "elements_moved");
    assert_eq!(count(&body, "ld.global.b64"), 2, "{body:#?}");
    assert_eq!(count(&body, "st.global.b64"), 2, "{body:#?}");
    assert_eq!(count(&body, ".b8"), 0, "{body:#?}");
}

#[test]
fn bytes_at_any_place_are_copied_one_by_one() {
    let body = body(features(), "bytes_copied");
    assert!(count(&body, "ld.global.nc.b8") >= 1, "{body:#?}");
    assert_eq!(count(&body, "global.nc.b32"), 0, "{body:#?}");
}

/// The loads of a part do not wait for its stores: the code generator would store each word before it loads the next one.
#[test]
fn a_part_is_loaded_before_it_is_stored() {
    let body = body(features(), "long_array_copied");
    let is_load = |line: &str| line.starts_with("ld.global");
    let is_store = |line: &str| line.starts_with("st.global");
    let accesses = body.iter().filter(|l| is_load(l) || is_store(l));
    let loads: Vec<bool> = accesses.map(|line| is_load(line)).collect();
    assert_eq!(loads[..32], [[true; 16], [false; 16]].concat(), "{body:#?}");
}

#[test]
fn an_element_that_is_kept_is_loaded_once() {
    let kept = body(features(), "element_kept");
    assert_eq!(count(&kept, "ld.global"), 1, "{kept:#?}");
    // Of the index and the element, but not of an address.
    assert_eq!(count(&kept, "setp"), 2, "{kept:#?}");
}

#[test]
fn what_is_written_or_was_not_loaded_before_is_loaded_where_it_is_used() {
    for kernel in [
        "written_element_kept",
        "other_element_kept",
        "element_kept_by_its_address",
    ] {
        let body = body(features(), kernel);
        assert_eq!(count(&body, "ld.global"), 2, "{kernel}: {body:#?}");
    }
}

/// Whether a kernel loads an element of `x` before any of `y`, once.
fn is_loaded_before(kernel: &str) -> bool {
    let body = body(features(), kernel);
    let of_x = |line: &str| line.contains("ld.") && line.contains("global") && line.contains("16 ");
    let first_of_y = position(&body, "ld.global.nc.b32");
    let of_x: Vec<_> = (0..body.len()).filter(|n| of_x(body[*n])).collect();
    assert!(!of_x.is_empty(), "{body:#?}");
    of_x.iter().all(|n| *n < first_of_y)
}

#[test]
fn an_element_that_some_rounds_need_is_loaded_before_the_loop() {
    for kernel in ["of_some_rounds", "of_some_rounds_by_part"] {
        assert!(
            is_loaded_before(kernel),
            "{kernel}: {:#?}",
            body(features(), kernel)
        );
    }
}

#[test]
fn an_element_that_may_be_missing_or_be_written_is_loaded_where_it_is_needed() {
    for kernel in [
        "of_some_rounds_written",
        "of_some_rounds_volatile",
        "of_some_rounds_unchecked",
        "of_some_rounds_behind",
        "of_some_rounds_of_another",
        "of_some_rounds_asked_late",
        "of_some_rounds_by_next_part",
    ] {
        assert!(
            !is_loaded_before(kernel),
            "{kernel}: {:#?}",
            body(features(), kernel)
        );
    }
}

#[test]
fn what_is_assumed_costs_nothing() {
    let body = body(features(), "assumed_neighbours");
    let distances = |body: &[&str]| ["+-12]", "+12]"].map(|part| count(body, part));
    assert_eq!(distances(&body), [1, 1], "{body:#?}");
    let tested = self::body(features(), "tested_neighbours");
    let tests = |body: &[&str]| count(body, "setp");
    assert!(tests(&tested) > tests(&body), "{tested:#?}");
}

#[test]
fn a_checked_load_behind_a_barrier_is_made_before_it() {
    for (kernel, expected) in [
        ("checked_behind_a_barrier", 2),
        ("written_behind_a_barrier", 1),
        ("of_some_behind_a_barrier", 1),
        ("of_others_behind_a_barrier", 1),
    ] {
        let body = body(features(), kernel);
        let before = body.iter().take_while(|line| !line.contains("bar.sync"));
        let loads = before.filter(|line| line.contains("ld.global"));
        assert_eq!(loads.count(), expected, "{kernel}: {body:#?}");
    }
}

#[test]
fn loads_of_which_one_is_the_other_s_index_are_both_made_early() {
    let body = body(features(), "chained_behind_barriers");
    let parts = body.split(|line| line.contains("bar.sync"));
    let loads = parts.map(|part| count(part, "ld.global"));
    // The start; the word, whose index it is, and the element at it; nothing.
    assert_eq!(loads.collect::<Vec<_>>(), [1, 2, 0], "{body:#?}");
}

#[test]
fn an_address_that_several_branches_take_is_computed_before_them() {
    let sums_and_loads = |kernel| {
        let body = body(features(), kernel);
        let sums = body.iter().filter(|line| line.starts_with("add.s64"));
        (sums.count(), count(&body, "ld.global"))
    };
    // One for each row, of which three elements are loaded.
    let (sums, loads) = sums_and_loads("neighbours");
    assert!(2 * sums < loads, "{sums} sums for {loads} loads");
    // Only one of them is loaded.
    let (sums, loads) = sums_and_loads("one_of_the_neighbours");
    assert!(sums >= loads, "{sums} sums for {loads} loads");
    // Both rows have one address, and so have the places in each.
    let (_, loads) = sums_and_loads("neighbours_in_rows");
    assert_eq!(loads, 4);
}
