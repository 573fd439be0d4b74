//! Where the library under test lies.

use std::path::PathBuf;

/// The library that cargo has built for this test.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test.parent().expect("and a folder");
    let places = [
        folder.join("libwarpsmith_dropin.so"),
        folder.join("../libwarpsmith_dropin.so"),
    ];
    let newest = places
        .iter()
        .filter(|place| place.exists())
        .max_by_key(|place| place.metadata().and_then(|data| data.modified()).ok());
    newest
        .expect("cargo builds the library before its tests")
        .clone()
}
