//! `cellrate-bench`: every workload, timed and counted in instructions.
//!
//! Wall time drifts on shared machines; instructions per cell hop, counted by valgrind's callgrind, do not. They are the
//! difference between a run and a run twice as long, so that building the network and its first transient drop out.
//!
//! ```text
//! cellrate-bench [--json] [--wall-only] [WORKLOAD ...]     the table
//! cellrate-bench run WORKLOAD MILLISECONDS                 one run, for a profiler
//! cellrate-bench file SCENARIO                             one run of a file, as JSON (benches/peers)
//! ```

mod workloads;

use std::ops::ControlFlow;
use std::process::{Command, ExitCode};
use std::time::Instant;

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::{RunResult, run};
use workloads::{WORKLOADS, Workload};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["run", name, ms] => run_once(name, ms),
        ["file", path] => run_file(path),
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
    let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
    let found = WORKLOADS.iter().find(|workload| workload.name == name);
    found.ok_or_else(|| format!("{name} is no workload; there are {}", names.join(", ")))
}

fn resolve(workload: &Workload, ms: u64) -> Result<Scenario, String> {
    let document =
        Document::parse(&workload.scenario(ms), workload.name).map_err(|error| error.to_string())?;
    document.resolve().map_err(|error| error.to_string())
}

fn simulate(scenario: &Scenario) -> Result<RunResult, String> {
    run(scenario, &mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())
}

/// One run: prints the cell hops, which a caller divides instructions by.
fn run_once(name: &str, ms: &str) -> Result<(), String> {
    let ms = ms.parse().map_err(|_| format!("{ms} is no number of milliseconds"))?;
    let result = simulate(&resolve(find(name)?, ms)?)?;
    println!("{}", result.summary.run.cell_hops);
    Ok(())
}

/// One run of a scenario file: what crossed links, what arrived, and the time it took, as a line of JSON.
fn run_file(path: &str) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let document = Document::parse_bytes(&text, path).map_err(|error| error.to_string())?;
    let scenario = document.resolve().map_err(|error| error.to_string())?;
    let start = Instant::now();
    let summary = simulate(&scenario)?.summary;
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
    /// Of the fastest of three runs [s].
    wall_s: f64,
    instructions_per_hop: Option<f64>,
}

fn table(words: &[&str]) -> Result<(), String> {
    let (options, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    if let Some(unknown) = options.iter().find(|option| !["--json", "--wall-only"].contains(option)) {
        return Err(format!("{unknown} is no option; there are --json and --wall-only"));
    }
    let chosen: Vec<&Workload> = if names.is_empty() {
        WORKLOADS.iter().collect()
    } else {
        names.into_iter().map(find).collect::<Result<_, _>>()?
    };
    let count = !options.contains(&"--wall-only");
    let measured =
        chosen.into_iter().map(|workload| measure(workload, count)).collect::<Result<Vec<_>, _>>()?;
    if options.contains(&"--json") {
        print_json(&measured)
    } else {
        print_table(&measured)
    }
    Ok(())
}

fn measure(workload: &'static Workload, count: bool) -> Result<Measured, String> {
    let scenario = resolve(workload, workload.full_ms)?;
    let mut best: Option<(f64, u64)> = None;
    for _ in 0..3 {
        let start = Instant::now();
        let cell_hops = simulate(&scenario)?.summary.run.cell_hops;
        let wall_s = start.elapsed().as_secs_f64();
        if best.is_none_or(|(fastest, _)| wall_s < fastest) {
            best = Some((wall_s, cell_hops));
        }
    }
    let (wall_s, cell_hops) = best.unwrap_or_default();
    let instructions_per_hop = if count { instructions_per_hop(workload)? } else { None };
    Ok(Measured { name: workload.name, what: workload.what, cell_hops, wall_s, instructions_per_hop })
}

/// `None` when there is no valgrind.
fn instructions_per_hop(workload: &Workload) -> Result<Option<f64>, String> {
    let short = instructions(workload, workload.counted_ms)?;
    let long = instructions(workload, 2 * workload.counted_ms)?;
    Ok(short
        .zip(long)
        .map(|((i, hops), (more_i, more_hops))| (more_i - i) as f64 / (more_hops - hops) as f64))
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

fn print_table(measured: &[Measured]) {
    println!(
        "{:<4} {:<48} {:>13} {:>9} {:>12} {:>16}",
        "", "", "cell hops", "wall s", "M hops/s", "instructions/hop"
    );
    for Measured { name, what, cell_hops, wall_s, instructions_per_hop } in measured {
        let rate = *cell_hops as f64 / wall_s / 1e6;
        let instructions = instructions_per_hop.map_or("-".to_owned(), |count| format!("{count:.1}"));
        println!("{name:<4} {what:<48} {cell_hops:>13} {wall_s:>9.3} {rate:>12.1} {instructions:>16}");
    }
}

fn print_json(measured: &[Measured]) {
    let workloads: Vec<serde_json::Value> = measured
        .iter()
        .map(|m| {
            serde_json::json!({
                "name": m.name, "what": m.what, "cell_hops": m.cell_hops, "wall_s": m.wall_s,
                "cell_hops_per_s": m.cell_hops as f64 / m.wall_s, "instructions_per_hop": m.instructions_per_hop,
            })
        })
        .collect();
    println!("{:#}", serde_json::json!({ "workloads": workloads }));
}
