//! `cellrate-bench`: every workload and every change of the base network, timed and counted in instructions.
//!
//! Time drifts on shared machines: all networks run in turn, and of each the fastest run counts, by the processor time
//! that it took (by the wall clock on several threads). Instructions per cell hop, counted by valgrind's callgrind, do
//! not drift. They are the difference between a run and a run twice as long, so that building the network and its first
//! transient drop out. Memory is what a process grows by from the resolved scenario to its peak, over the connections,
//! where what is free is given back at once; Linux only. A [change](changes) is set beside the base network, A0, in the
//! same rounds.
//!
//! ```text
//! cellrate-bench [--json] [--wall-only] [--threads N] [--only NAME,...]  the tables, or these rows of them
//! cellrate-bench run WORKLOAD MILLISECONDS [without MECHANISM]           one run, for a profiler
//! cellrate-bench memory WORKLOAD MILLISECONDS                            octets that a run takes per connection; in the table
//!                                                                        with MIMALLOC_PURGE_DELAY=0
//! cellrate-bench file SCENARIO                                           one run of a file, as JSON (benches/peers)
//! cellrate-bench train                                                   networks for a profile (profile_guided.py)
//! ```

#![expect(clippy::disallowed_methods, reason = "measures speed")]

mod changes;
mod networks;
mod workloads;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::mechanisms::Mechanism;
use cellrate_sim::{RunResult, Simulation, run_on};
use changes::{BASE, CHANGES};
use mimalloc::MiMalloc;
use rustix::time::{ClockId, clock_gettime};
use workloads::{ON_REQUEST, WORKLOADS, Workload};

/// As in the Python module.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["run", name, ms] => run_once(name, ms, None),
        ["run", name, ms, "without", mechanism] => {
            mechanism_of(mechanism).and_then(|it| run_once(name, ms, Some(it)))
        }
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

fn everything() -> impl Iterator<Item = &'static Workload> + Clone {
    WORKLOADS.iter().chain(ON_REQUEST).chain(CHANGES)
}

fn find(name: &str) -> Result<&'static Workload, String> {
    let mut all = everything();
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
fn run_once(name: &str, ms: &str, without: Option<Mechanism>) -> Result<(), String> {
    let scenario = resolve(find(name)?, milliseconds(ms)?)?;
    let simulation = Simulation::of(&scenario);
    let simulation = without.map_or(simulation, |mechanism| simulation.without(mechanism));
    let result = simulation.run(&mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())?;
    println!("{}", result.summary.run.cell_hops);
    Ok(())
}

fn mechanism_of(name: &str) -> Result<Mechanism, String> {
    let found = Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == name);
    let names: Vec<String> = Mechanism::ALL.iter().map(|mechanism| mechanism.name()).collect();
    found.ok_or_else(|| format!("{name} is no mechanism; there are {}", names.join(", ")))
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

/// A line of this process's status \[KiB\].
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
    document.read_files(folder).map_err(|error| error.to_string())?;
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

/// A line of a table.
struct Measured {
    workload: &'static Workload,
    fastest: Timed,
    instructions_per_hop: Option<f64>,
    /// Beyond the scenario \[octets\]; of workloads alone.
    memory_per_vc: Option<u64>,
}

/// A run, timed.
#[derive(Clone, Copy)]
struct Timed {
    cell_hops: u64,
    wall_s: f64,
    /// Processor time of all threads \[s\].
    cpu_s: f64,
    threads: NonZeroUsize,
}

impl Timed {
    /// The time that counts: processor time on one thread, which neighbours do not add to; else the wall clock \[s\].
    fn seconds(&self) -> f64 {
        if self.threads == NonZeroUsize::MIN { self.cpu_s } else { self.wall_s }
    }

    fn cell_hops_per_s(&self) -> f64 {
        self.cell_hops as f64 / self.seconds()
    }
}

/// Options of the command line.
struct Options {
    json: bool,
    /// Instructions are counted, and memory is measured.
    count: bool,
    threads: NonZeroUsize,
    chosen: Vec<&'static Workload>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options =
            Options { json: false, count: true, threads: NonZeroUsize::MIN, chosen: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} takes a value"));
            match word {
                "--json" => options.json = true,
                "--wall-only" => options.count = false,
                "--threads" => {
                    let number = value()?;
                    options.threads = number
                        .parse()
                        .map_err(|_| format!("--threads takes a number of 1 or more, not {number}"))?;
                }
                "--only" => {
                    for name in value()?.split(',') {
                        options.chosen.push(find(name)?);
                    }
                }
                _ => {
                    return Err(format!(
                        "{word} is no option; there are --json, --wall-only, --threads N and --only NAME,..."
                    ));
                }
            }
        }
        if options.chosen.is_empty() {
            options.chosen = WORKLOADS.iter().chain(CHANGES).collect();
        } else if options.chosen.iter().any(|chosen| is_change(chosen)) && !options.chosen.contains(&BASE) {
            options.chosen.push(BASE);
        }
        Ok(options)
    }
}

fn is_change(workload: &Workload) -> bool {
    CHANGES.contains(workload)
}

fn table(words: &[&str]) -> Result<(), String> {
    let options = Options::parse(words)?;
    let fastest = time(&options.chosen, options.threads)?;
    let measured = options
        .chosen
        .into_iter()
        .zip(fastest)
        .map(|(workload, fastest)| measure(workload, fastest, options.count))
        .collect::<Result<Vec<_>, _>>()?;
    let (changes, workloads) =
        measured.into_iter().partition::<Vec<_>, _>(|measured| is_change(measured.workload));
    if options.json {
        print_json(&workloads, &changes);
    } else {
        print_tables(&workloads, &changes);
    }
    Ok(())
}

/// As many rounds at least,
const ROUNDS: u32 = 3;

/// and as many more as begin within this time.
const TIMING: Duration = Duration::from_secs(15);

/// Runs all workloads in turn, round after round, so that what else goes on in the machine meets one as it meets the
/// other: of each its fastest run.
fn time(workloads: &[&Workload], threads: NonZeroUsize) -> Result<Vec<Timed>, String> {
    let scenarios: Vec<Scenario> =
        workloads.iter().map(|workload| resolve(workload, workload.full_ms)).collect::<Result<_, _>>()?;
    let mut fastest: Vec<Option<Timed>> = vec![None; workloads.len()];
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < ROUNDS || begin.elapsed() < TIMING {
        rounds += 1;
        for (scenario, fastest) in scenarios.iter().zip(&mut fastest) {
            let (start, cpu) = (Instant::now(), processor_s());
            let cell_hops = simulate(scenario, threads)?.summary.run.cell_hops;
            let (wall_s, cpu_s) = (start.elapsed().as_secs_f64(), processor_s() - cpu);
            let timed = Timed { cell_hops, wall_s, cpu_s, threads };
            if fastest.is_none_or(|fastest| timed.seconds() < fastest.seconds()) {
                *fastest = Some(timed);
            }
        }
    }
    Ok(fastest.into_iter().flatten().collect())
}

/// Processor time that this process has taken \[s\].
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn measure(workload: &'static Workload, fastest: Timed, count: bool) -> Result<Measured, String> {
    let instructions_per_hop = if count { instructions_per_hop(workload)? } else { None };
    let memory_per_vc = if is_change(workload) { None } else { memory(workload)? };
    Ok(Measured { workload, fastest, instructions_per_hop, memory_per_vc })
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

fn print_tables(workloads: &[Measured], changes: &[Measured]) {
    println!("Built {} a profile.", if PROFILE_GUIDED { "with" } else { "without" });
    let number = |count: Option<f64>| count.map_or("-".to_owned(), |count| format!("{count:.1}"));
    let cells = |of: &Measured| {
        let Measured { workload: Workload { name, what, .. }, fastest, instructions_per_hop, .. } = of;
        let (seconds, rate) = (fastest.seconds(), fastest.cell_hops_per_s() / 1e6);
        let hops = fastest.cell_hops;
        format!(
            "{name:<8} {what:<57} {hops:>11} {seconds:>8.3} {rate:>9.1} {:>17}",
            number(*instructions_per_hop)
        )
    };
    let head = |last: &str| {
        let (hops, rate, instructions) = ("cell hops", "M hops/s", "instructions/hop");
        println!("{:<8} {:<57} {hops:>11} {:>8} {rate:>9} {instructions:>17} {last:>11}", "", "", "s");
    };
    if !workloads.is_empty() {
        head("octets/VC");
    }
    for measured in workloads {
        let memory = measured.memory_per_vc.map_or("-".to_owned(), |octets| octets.to_string());
        println!("{} {memory:>11}", cells(measured));
    }
    if !changes.is_empty() {
        println!("\nOne thing changed at a time; times: cost of a cell hop over that of A0's.");
        head("times A0");
    }
    for measured in changes {
        println!("{} {:>11.2}", cells(measured), over_base(measured, changes));
    }
}

/// The cost of a cell hop over its cost in the base network, which is always among `changes`.
fn over_base(measured: &Measured, changes: &[Measured]) -> f64 {
    let base = changes.iter().find(|change| change.workload == BASE).unwrap_or(measured);
    base.fastest.cell_hops_per_s() / measured.fastest.cell_hops_per_s()
}

fn print_json(workloads: &[Measured], changes: &[Measured]) {
    let row = |m: &Measured| {
        serde_json::json!({
            "name": m.workload.name, "what": m.workload.what, "cell_hops": m.fastest.cell_hops,
            "wall_s": m.fastest.wall_s, "cpu_s": m.fastest.cpu_s, "cell_hops_per_s": m.fastest.cell_hops_per_s(),
            "instructions_per_hop": m.instructions_per_hop,
        })
    };
    let with = |m: &Measured, key: &str, value: serde_json::Value| {
        let mut row = row(m);
        row[key] = value;
        row
    };
    let of_workload = |m: &Measured| with(m, "memory_per_vc", m.memory_per_vc.into());
    let of_change = |m: &Measured| with(m, "over_base", over_base(m, changes).into());
    let content = serde_json::json!({
        "profile_guided": PROFILE_GUIDED,
        "workloads": workloads.iter().map(of_workload).collect::<Vec<_>>(),
        "changes": changes.iter().map(of_change).collect::<Vec<_>>(),
    });
    println!("{content:#}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_of_the_tables_carries_cells() {
        for workload in WORKLOADS.iter().chain(CHANGES) {
            // Sources with a link of 5 ms begin at once.
            let scenario = resolve(workload, 8).expect(workload.name);
            let hops = simulate(&scenario, NonZeroUsize::MIN).expect(workload.name).summary.run.cell_hops;
            assert!(hops > 100, "{}: {hops} cell hops", workload.name);
        }
    }

    #[test]
    fn a_change_that_is_asked_for_comes_with_the_base() {
        let names = |words: &[&str]| -> Result<Vec<&str>, String> {
            Ok(Options::parse(words)?.chosen.iter().map(|workload| workload.name).collect())
        };
        assert_eq!(names(&["--only", "A9,W2"]), Ok(vec!["A9", "W2", "A0"]));
        assert_eq!(names(&["--only", "W5shared"]), Ok(vec!["W5shared"]));
        assert_eq!(names(&["--json"]).map(|all| all.len()), Ok(WORKLOADS.len() + CHANGES.len()));
        assert!(names(&["--only"]).is_err() && names(&["--only", "A99"]).is_err() && names(&["W1"]).is_err());
    }
}
