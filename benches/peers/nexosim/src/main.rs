//! Constant-rate sources over three hops on nexosim: `nexosim-peer SECONDS SOURCES DELAY`, which prints a line of JSON.
//!
//! A model per source and per switch. A port's line is busy until an instant that is known when a cell comes (Lindley's
//! recursion), so a hop is one event, scheduled for the cell's arrival at the far end, and one message. One thread:
//! with more, messages between models cost more than the models do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

/// 424 bits at 149.76 Mbit/s, to the nanosecond.
const CELL_TIME: Duration = Duration::from_nanos(2831);
/// Cells/s of all sources together.
const RATE: f64 = 317_880.0;
/// From one source to the next, times their number and one less.
const RATE_STEP: f64 = 42_000.0;
/// From the start of one source to that of the next.
const START_STEP: Duration = Duration::from_micros(2);

/// The line behind a port.
#[derive(Default, Serialize, Deserialize)]
struct Line {
    /// Since the beginning.
    busy_until: Duration,
    delay: Duration,
}

impl Line {
    /// How long from `now` until a cell that comes then arrives at the far end.
    fn send(&mut self, now: Duration) -> Duration {
        self.busy_until = self.busy_until.max(now) + CELL_TIME;
        self.busy_until - now + self.delay
    }
}

fn now<M: Model>(cx: &Context<M>) -> Duration {
    cx.time().duration_since(MonotonicTime::EPOCH)
}

#[derive(Serialize, Deserialize)]
struct Source {
    number: u32,
    /// Cells/s.
    rate: f64,
    line: Line,
    output: Output<u32>,
}

#[Model]
impl Source {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        let interval = 1.0 / self.rate;
        let start = START_STEP * (self.number + 1);
        cx.schedule_periodic_event(start, Duration::from_secs_f64(interval), schedulable!(Self::emit), ())
            .unwrap();
    }

    #[nexosim(schedulable)]
    fn emit(&mut self, _: (), cx: &Context<Self>) {
        let arrives = self.line.send(now(cx));
        cx.schedule_event(arrives, schedulable!(Self::deliver), self.number).unwrap();
    }

    #[nexosim(schedulable)]
    async fn deliver(&mut self, cell: u32) {
        self.output.send(cell).await;
    }
}

/// A switch: the port of each source's cells, and what is behind each port.
#[derive(Serialize, Deserialize)]
struct Switch {
    route: Vec<usize>,
    lines: Vec<Line>,
    outputs: Vec<Output<u32>>,
}

#[Model]
impl Switch {
    fn input(&mut self, cell: u32, cx: &Context<Self>) {
        let arrives = self.lines[self.route[cell as usize]].send(now(cx));
        cx.schedule_event(arrives, schedulable!(Self::deliver), cell).unwrap();
    }

    #[nexosim(schedulable)]
    async fn deliver(&mut self, cell: u32) {
        let port = self.route[cell as usize];
        self.outputs[port].send(cell).await;
    }
}

#[derive(Serialize, Deserialize)]
struct Sink {
    #[serde(skip)]
    received: Arc<AtomicU64>,
}

#[Model]
impl Sink {
    fn input(&mut self, _: u32) {
        self.received.fetch_add(1, Relaxed);
    }
}

fn line(delay: Duration) -> Line {
    Line { busy_until: Duration::ZERO, delay }
}

fn switch(ports: usize, route: Vec<usize>, delay: Duration) -> Switch {
    let lines = (0..ports).map(|_| line(delay)).collect();
    Switch { route, lines, outputs: (0..ports).map(|_| Output::default()).collect() }
}

fn main() {
    let argument = |number: usize| -> f64 {
        let text = std::env::args().nth(number);
        text.and_then(|text| text.parse().ok()).expect("nexosim-peer SECONDS SOURCES DELAY")
    };
    let (seconds, sources) = (argument(1), argument(2));
    let delay = Duration::from_secs_f64(argument(3));
    let received = Arc::new(AtomicU64::new(0));
    let numbers = 0..sources as usize;
    let mut bench = SimInit::with_num_threads(1);
    let [first_box, second_box] = [Mailbox::new(), Mailbox::new()];
    let mut first = switch(1, numbers.clone().map(|_| 0).collect(), delay);
    let mut second = switch(numbers.len(), numbers.clone().collect(), delay);
    first.outputs[0].connect(Switch::input, &second_box);
    for number in numbers {
        let step = RATE_STEP / (sources * (sources - 1.0));
        let rate = RATE / sources + step * (number as f64 - (sources - 1.0) / 2.0);
        let mut source = Source { number: number as u32, rate, line: line(delay), output: Output::default() };
        source.output.connect(Switch::input, &first_box);
        let sink_box = Mailbox::new();
        second.outputs[number].connect(Sink::input, &sink_box);
        let sink = Sink { received: Arc::clone(&received) };
        bench = bench.add_model(source, Mailbox::new(), &format!("s{number}"));
        bench = bench.add_model(sink, sink_box, &format!("d{number}"));
    }
    let mut simulation = bench
        .add_model(first, first_box, "sw1")
        .add_model(second, second_box, "sw2")
        .init(MonotonicTime::EPOCH)
        .expect("the bench is sound");
    let begun = Instant::now();
    simulation.step_until(Duration::from_secs_f64(seconds)).expect("the run ends well");
    let wall_s = begun.elapsed().as_secs_f64();
    println!("{{\"delivered\": {}, \"wall_s\": {wall_s}, \"version\": \"1.0.0\"}}", received.load(Relaxed));
}
