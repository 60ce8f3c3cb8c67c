//! The counts of conditions of a whole run of the API tests, for the test that looks at them afterwards.

use std::{
    env,
    fs::{rename, write},
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// The file with the counts, beside the binaries of the tests.
///
/// # Errors
/// When the folder of this program is unknown.
pub fn file() -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name("conditions.json"))
}

/// Whether this program runs all API tests.
fn is_whole_run() -> bool {
    let program = env::current_exe().ok();
    let name = program.as_ref().and_then(|program| program.file_name()?.to_str());
    name.is_some_and(|name| name.starts_with("api-")) && env::args().len() == 1
}

/// Counts, if this program runs all API tests.
pub(crate) fn start() {
    if is_whole_run() {
        cloud::conditions::turn_on();
    }
}

/// Stores the counts so far, if this program runs all API tests.
pub(crate) fn store() {
    static LOCK: Mutex<()> = Mutex::new(());
    if !is_whole_run() {
        return;
    }
    let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let counts = serde_json::to_vec(&cloud::conditions::counts()).expect("counts are JSON");
    let file = file().expect("the folder of the program is known");
    // Renamed, so that a process that ends meanwhile leaves no half of a file.
    let part = file.with_extension("part");
    write(&part, counts).and_then(|()| rename(&part, &file)).expect("the folder can be written");
}
