//! The time over which figures of the summary count.

use cellrate_proto::{Duration, Time};

use super::Span;

/// When figures count: from the end of the warm-up to the end of the run, and within windows beside that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measuring {
    /// The beginning of the run that the summary leaves out.
    pub warm_up: Duration,
    /// Windows with rows of their own, in the order of the file.
    pub windows: Vec<Window>,
}

/// A part of the run with figures of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Its name.
    pub name: String,
    /// When.
    pub span: Span,
}

impl Measuring {
    /// The first instant that counts in the summary.
    pub fn start(&self) -> Time {
        Time::ZERO + self.warm_up
    }

    /// The instants between the beginning of a run and its `end` for which counts have to be exact, in order.
    pub fn instants(&self, end: Time) -> Vec<Time> {
        let of_windows = self.windows.iter().flat_map(|window| [window.span.start, window.span.end]);
        let mut instants: Vec<Time> =
            of_windows.chain([self.start()]).filter(|&at| Time::ZERO < at && at < end).collect();
        instants.sort_unstable();
        instants.dedup();
        instants
    }
}
