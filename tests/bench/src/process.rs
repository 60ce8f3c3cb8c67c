//! What a process takes, as Linux tells it (proc(5)).

use std::{fs, path::PathBuf};

use local::Trouble;

/// A process of this machine.
#[derive(Clone)]
pub struct Process(PathBuf);

/// Memory, in millions of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// What is in use now (`VmRSS`).
    pub resident: f64,
    /// The most that ever was (`VmHWM`).
    pub peak: f64,
}

impl Process {
    /// The process with this number.
    pub fn of(id: u32) -> Self {
        Self(PathBuf::from(format!("/proc/{id}")))
    }

    /// Its memory.
    ///
    /// # Errors
    /// When there is no such process, or this is not Linux.
    pub fn memory(&self) -> Result<Memory, Trouble> {
        let status =
            fs::read_to_string(self.0.join("status")).map_err(|error| self.unknown(&error))?;
        let megabytes = |name: &str| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_default();
            line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0) * 1024.0 / 1e6
        };
        Ok(Memory {
            resident: megabytes("VmRSS:"),
            peak: megabytes("VmHWM:"),
        })
    }

    /// How many files and connections it has open.
    ///
    /// # Errors
    /// When there is no such process, or this is not Linux.
    pub fn open_files(&self) -> Result<usize, Trouble> {
        Ok(fs::read_dir(self.0.join("fd"))
            .map_err(|error| self.unknown(&error))?
            .count())
    }

    fn unknown(&self, error: &std::io::Error) -> Trouble {
        Trouble::new(format!("{} cannot be read: {error}.", self.0.display()))
    }
}
