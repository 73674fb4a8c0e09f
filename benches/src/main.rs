//! `cellrate-bench`: every workload, timed and counted in instructions.
//!
//! Wall time drifts on shared machines: workloads run in turn, and of each the fastest run counts. Instructions per
//! cell hop, counted by valgrind's callgrind, do not. They are the difference between a run and a run twice as long, so
//! that building the network and its first transient drop out. Memory is what a process grows by from the resolved
//! scenario to its peak, over the connections, where what is free is given back at once; Linux only.
//!
//! ```text
//! cellrate-bench [--json] [--wall-only] [--threads N] [WORKLOAD ...]     the table
//! cellrate-bench run WORKLOAD MILLISECONDS                               one run, for a profiler
//! cellrate-bench memory WORKLOAD MILLISECONDS                            octets that a run takes per connection; in the table
//!                                                                        with MIMALLOC_PURGE_DELAY=0
//! cellrate-bench file SCENARIO                                           one run of a file, as JSON (benches/peers)
//! cellrate-bench train                                                   networks for a profile (profile_guided.py)
//! ```

mod workloads;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::{RunResult, run_on};
use mimalloc::MiMalloc;
use workloads::{ON_REQUEST, WORKLOADS, Workload};

/// As in the Python module.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["run", name, ms] => run_once(name, ms),
        ["memory", name, ms] => memory_of_run(name, ms),
        ["file", path] => run_file(path),
        ["train"] => train(),
        words => table(words),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("cellrate-bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn find(name: &str) -> Result<&'static Workload, String> {
    let mut all = WORKLOADS.iter().chain(ON_REQUEST);
    let names: Vec<&str> = all.clone().map(|workload| workload.name).collect();
    let found = all.find(|workload| workload.name == name);
    found.ok_or_else(|| format!("{name} is no workload; there are {}", names.join(", ")))
}

fn resolve(workload: &Workload, ms: u64) -> Result<Scenario, String> {
    let document =
        Document::parse(&workload.scenario(ms), workload.name).map_err(|error| error.to_string())?;
    document.resolve().map_err(|error| error.to_string())
}

fn simulate(scenario: &Scenario, threads: NonZeroUsize) -> Result<RunResult, String> {
    run_on(scenario, threads, &mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())
}

fn milliseconds(ms: &str) -> Result<u64, String> {
    ms.parse().map_err(|_| format!("{ms} is no number of milliseconds"))
}

/// One run: prints the cell hops, which a caller divides instructions by.
fn run_once(name: &str, ms: &str) -> Result<(), String> {
    let result = simulate(&resolve(find(name)?, milliseconds(ms)?)?, NonZeroUsize::MIN)?;
    println!("{}", result.summary.run.cell_hops);
    Ok(())
}

/// One run: prints the octets per connection that it took at its peak, beyond the scenario.
fn memory_of_run(name: &str, ms: &str) -> Result<(), String> {
    let scenario = resolve(find(name)?, milliseconds(ms)?)?;
    let before = status("VmRSS:").ok_or("no /proc/self/status here")?;
    simulate(&scenario, NonZeroUsize::MIN)?;
    let peak = status("VmHWM:").unwrap_or(before);
    println!("{}", (peak - before) * 1024 / scenario.connections.len() as u64);
    Ok(())
}

/// A line of this process's status [KiB].
fn status(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix(key))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// Runs networks that are no workloads, for a compiler that wants to know what is frequent.
fn train() -> Result<(), String> {
    for (name, text) in workloads::training() {
        let document = Document::parse(&text, name).map_err(|error| error.to_string())?;
        simulate(&document.resolve().map_err(|error| error.to_string())?, NonZeroUsize::MIN)?;
    }
    Ok(())
}

/// One run of a scenario file: what crossed links, what arrived, and the time it took, as a line of JSON.
fn run_file(path: &str) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let mut document = Document::parse_bytes(&text, path).map_err(|error| error.to_string())?;
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    document.take_in(folder).map_err(|error| error.to_string())?;
    let scenario = document.resolve().map_err(|error| error.to_string())?;
    let start = Instant::now();
    let summary = simulate(&scenario, NonZeroUsize::MIN)?.summary;
    let wall_s = start.elapsed().as_secs_f64();
    let line = serde_json::json!({
        "network_s": summary.run.duration_s,
        "cell_hops": summary.run.cell_hops,
        "delivered": summary.vcs.iter().map(|vc| vc.data_delivered).sum::<u64>(),
        "delivered_octets": summary.tcp.iter().map(|tcp| tcp.delivered_octets).sum::<u64>(),
        "again": summary.tcp.iter().map(|tcp| tcp.retransmitted).sum::<u64>(),
        "wall_s": wall_s,
        "version": env!("CARGO_PKG_VERSION"),
    });
    println!("{line}");
    Ok(())
}

/// A line of the table.
struct Measured {
    name: &'static str,
    what: &'static str,
    cell_hops: u64,
    /// Of the fastest run [s].
    wall_s: f64,
    instructions_per_hop: Option<f64>,
    /// Beyond the scenario [octets].
    memory_per_vc: Option<u64>,
}

fn table(words: &[&str]) -> Result<(), String> {
    let mut words = words.to_vec();
    let mut threads = NonZeroUsize::MIN;
    if let Some(place) = words.iter().position(|&word| word == "--threads") {
        let number = words.get(place + 1).copied().unwrap_or("nothing");
        threads =
            number.parse().map_err(|_| format!("--threads takes a number of 1 or more, not {number}"))?;
        words.drain(place..=place + 1);
    }
    let (options, names): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|word| word.starts_with('-'));
    if let Some(unknown) = options.iter().find(|option| !["--json", "--wall-only"].contains(option)) {
        return Err(format!("{unknown} is no option; there are --json, --wall-only and --threads"));
    }
    let chosen: Vec<&Workload> = if names.is_empty() {
        WORKLOADS.iter().collect()
    } else {
        names.into_iter().map(find).collect::<Result<_, _>>()?
    };
    let count = !options.contains(&"--wall-only");
    let fastest = time(&chosen, threads)?;
    let measured = chosen
        .into_iter()
        .zip(fastest)
        .map(|(workload, fastest)| measure(workload, fastest, count))
        .collect::<Result<Vec<_>, _>>()?;
    if options.contains(&"--json") {
        print_json(&measured)
    } else {
        print_table(&measured)
    }
    Ok(())
}

/// As many rounds at least,
const ROUNDS: u32 = 3;

/// and as many more as begin within this time.
const TIMING: Duration = Duration::from_secs(15);

/// Runs all workloads in turn, round after round, so that what else goes on in the machine meets one as it meets the
/// other: of each the time of its fastest run [s], and its cell hops.
fn time(workloads: &[&Workload], threads: NonZeroUsize) -> Result<Vec<(f64, u64)>, String> {
    let scenarios: Vec<Scenario> =
        workloads.iter().map(|workload| resolve(workload, workload.full_ms)).collect::<Result<_, _>>()?;
    let mut fastest = vec![(f64::INFINITY, 0); workloads.len()];
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < ROUNDS || begin.elapsed() < TIMING {
        rounds += 1;
        for (scenario, fastest) in scenarios.iter().zip(&mut fastest) {
            let start = Instant::now();
            let cell_hops = simulate(scenario, threads)?.summary.run.cell_hops;
            let wall_s = start.elapsed().as_secs_f64();
            if wall_s < fastest.0 {
                *fastest = (wall_s, cell_hops);
            }
        }
    }
    Ok(fastest)
}

fn measure(workload: &'static Workload, fastest: (f64, u64), count: bool) -> Result<Measured, String> {
    let (wall_s, cell_hops) = fastest;
    let instructions_per_hop = if count { instructions_per_hop(workload)? } else { None };
    let memory_per_vc = memory(workload)?;
    let Workload { name, what, .. } = workload;
    Ok(Measured { name, what, cell_hops, wall_s, instructions_per_hop, memory_per_vc })
}

/// `None` when there is no valgrind.
fn instructions_per_hop(workload: &Workload) -> Result<Option<f64>, String> {
    let short = instructions(workload, workload.counted_ms)?;
    let long = instructions(workload, 2 * workload.counted_ms)?;
    Ok(short
        .zip(long)
        .map(|((i, hops), (more_i, more_hops))| (more_i - i) as f64 / (more_hops - hops) as f64))
}

/// `None` where a process cannot ask for its memory.
fn memory(workload: &Workload) -> Result<Option<u64>, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
    let output = Command::new(program)
        .args(["memory", workload.name, &workload.full_ms.to_string()])
        // What is free is given back at once: otherwise a run takes room that reading the scenario left, and how much
        // of that it can use hangs on the lengths of its lists.
        .env("MIMALLOC_PURGE_DELAY", "0")
        .output();
    let output = output.map_err(|error| format!("this program again: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse().ok())
}

/// Instructions and cell hops of a run.
fn instructions(workload: &Workload, ms: u64) -> Result<Option<(u64, u64)>, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", workload.name, &ms.to_string()])
        .output();
    let Ok(output) = output else { return Ok(None) };
    let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let hops = out.trim().parse().map_err(|_| format!("{}: no cell hops in {out:?}", workload.name))?;
    let collected =
        log.lines().find_map(|line| line.split_once("Collected :").map(|(_, count)| count.trim()));
    let count = collected.and_then(|count| count.parse().ok());
    count
        .map(|count| Some((count, hops)))
        .ok_or_else(|| format!("no instruction count in valgrind's log: {log}"))
}

/// Whether this was built by benches/profile_guided.py, with a profile.
const PROFILE_GUIDED: bool = option_env!("CELLRATE_PROFILE_GUIDED").is_some();

fn print_table(measured: &[Measured]) {
    println!("Built {} a profile.", if PROFILE_GUIDED { "with" } else { "without" });
    println!(
        "{:<8} {:<57} {:>11} {:>8} {:>9} {:>17} {:>10}",
        "", "", "cell hops", "wall s", "M hops/s", "instructions/hop", "octets/VC"
    );
    for Measured { name, what, cell_hops, wall_s, instructions_per_hop, memory_per_vc } in measured {
        let rate = *cell_hops as f64 / wall_s / 1e6;
        let instructions = instructions_per_hop.map_or("-".to_owned(), |count| format!("{count:.1}"));
        let memory = memory_per_vc.map_or("-".to_owned(), |octets| octets.to_string());
        println!(
            "{name:<8} {what:<57} {cell_hops:>11} {wall_s:>8.3} {rate:>9.1} {instructions:>17} {memory:>10}"
        );
    }
}

fn print_json(measured: &[Measured]) {
    let workloads: Vec<serde_json::Value> = measured
        .iter()
        .map(|m| {
            serde_json::json!({
                "name": m.name, "what": m.what, "cell_hops": m.cell_hops, "wall_s": m.wall_s,
                "cell_hops_per_s": m.cell_hops as f64 / m.wall_s, "instructions_per_hop": m.instructions_per_hop,
                "memory_per_vc": m.memory_per_vc,
            })
        })
        .collect();
    println!("{:#}", serde_json::json!({ "profile_guided": PROFILE_GUIDED, "workloads": workloads }));
}
