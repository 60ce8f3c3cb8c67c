//! What the benches have in common: clients, what a process takes, pictures, and how figures are told.

pub mod load;
pub mod plot;
pub mod process;

use local::Trouble;

/// The trouble that `error` is.
pub fn trouble(error: impl std::fmt::Display) -> Trouble {
    Trouble::new(error.to_string())
}

/// `number` with a comma every three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Prints `line`.
#[expect(clippy::print_stdout, reason = "the figures are what a bench is for")]
pub fn say(line: &str) {
    println!("{line}");
}
