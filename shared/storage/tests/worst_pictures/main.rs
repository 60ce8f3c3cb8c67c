//! Measures the memory and CPU that the most expensive images need, accepted or rejected, each in its own process:
//! `cargo test --release -p storage --test worst_pictures -- --ignored --nocapture`

#![expect(clippy::unwrap_used, reason = "a test")]

mod jpeg;
mod png;
mod webp;

use std::{
    env, fs,
    io::{Write, stderr},
    process::Command,
};

const MAX_FILE: usize = 4 * 1024 * 1024;
const MAX_MEMORY: u64 = 180_000_000;
const MAX_CPU_MS: u64 = 2_000;

#[test]
#[ignore = "measures a release build"]
fn expensive_images_stay_within_memory_and_cpu_limits() {
    let file = env::temp_dir().join(format!("worst-picture-{}", std::process::id()));
    let mut beyond = Vec::new();
    for (name, picture) in pictures() {
        assert!(picture.len() <= MAX_FILE, "{name}: {}", picture.len());
        fs::write(&file, &picture).unwrap();
        let child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "measure_one", "--nocapture"])
            .env("PICTURE", &file)
            .output()
            .unwrap();
        let stderr_text = String::from_utf8_lossy(&child.stderr);
        let measured = stderr_text.lines().find_map(|line| line.strip_prefix("measured "));
        let mut figures = measured.unwrap_or_default().split(' ');
        let (outcome, memory, cpu) = (figures.next(), figures.next(), figures.next());
        let (memory, cpu): (u64, u64) = match (memory, cpu) {
            (Some(memory), Some(cpu)) => (memory.parse().unwrap(), cpu.parse().unwrap()),
            _ => (u64::MAX, u64::MAX),
        };
        writeln!(
            stderr(),
            "{name:45} {:>9} bytes {:8} {:>5} MB {cpu:>5} ms",
            picture.len(),
            outcome.unwrap_or("died"),
            memory / 1_000_000
        )
        .unwrap();
        if memory > MAX_MEMORY || cpu > MAX_CPU_MS {
            beyond.push(name);
        }
    }
    fs::remove_file(&file).unwrap();
    assert!(beyond.is_empty(), "beyond the limits: {beyond:?}");
}

/// Runs in the child process: cleans the image that `PICTURE` names.
#[test]
#[ignore = "started by the other test"]
#[expect(clippy::disallowed_methods, reason = "not a setting of a function")]
fn measure_one() {
    let Ok(path) = env::var("PICTURE") else {
        return;
    };
    let picture = fs::read(path).unwrap();
    let (memory, cpu) = (peak_memory(), cpu_ms());
    let outcome = match storage::avatar::clean(&picture) {
        Ok(_) => "accepted",
        Err(_) => "refused",
    };
    let (memory, cpu) = (peak_memory() - memory, cpu_ms() - cpu);
    writeln!(stderr(), "\nmeasured {outcome} {memory} {cpu}").unwrap();
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// User and system time; Linux counts it in hundredths of a second.
fn cpu_ms() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
    ticks.sum::<u64>() * 10
}

fn pictures() -> Vec<(&'static str, Vec<u8>)> {
    let mut pictures = png::pictures();
    pictures.extend(jpeg::pictures());
    pictures.extend(webp::pictures());
    for cut in 0..pictures.len() {
        let (name, picture) = &pictures[cut];
        if picture.len() > 1_000_000 && name.contains("16 MP") {
            let cut = picture[..picture.len() * 9 / 10].to_vec();
            pictures.push((name.replace("16 MP", "cut 16 MP").leak(), cut));
        }
    }
    pictures
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}
