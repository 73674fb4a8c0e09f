//! Work that may take long and holds neither the interpreter nor its signals: Ctrl-C ends the wait for it.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use cellrate_sim::RunError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::run_error;

/// How long a signal may wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Documents are trees; a thread of the main thread's size takes whatever that one would.
const STACK: usize = 8 << 20;

thread_local! {
    /// The helper that this thread had last: starting one takes longer than checking a small scenario does.
    static IDLE: Cell<Option<Helper>> = const { Cell::new(None) };
}

/// A thread that does one work after the other, and ends when this is dropped and what it is at is done.
struct Helper {
    works: Sender<Box<dyn FnOnce() + Send>>,
    /// The process that has the thread: one that was forked from it has none.
    process: u32,
}

impl Helper {
    fn start() -> io::Result<Self> {
        let (works, given) = channel::<Box<dyn FnOnce() + Send>>();
        Builder::new().stack_size(STACK).spawn(move || given.into_iter().for_each(|work| work())).map_err(
            |error| io::Error::new(error.kind(), format!("a thread of 8 MB could not be started: {error}")),
        )?;
        Ok(Self { works, process: process::id() })
    }

    fn idle() -> io::Result<Self> {
        match IDLE.take() {
            Some(helper) if helper.process == process::id() => Ok(helper),
            _ => Self::start(),
        }
    }
}

/// Does `work` in another thread, and looks for signals meanwhile.
///
/// # Errors
/// What a signal raises; the work then goes on until it is done, and its outcome is dropped.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let helper = Helper::idle()?;
    let (done, outcome) = sync_channel(1);
    let caught = move || drop(done.send(catch_unwind(AssertUnwindSafe(work))));
    helper.works.send(Box::new(caught)).expect("a helper takes works until it is dropped");
    py.detach(move || {
        loop {
            match outcome.recv_timeout(LOOK_EVERY) {
                Ok(outcome) => {
                    IDLE.set(Some(helper));
                    return Ok(outcome.unwrap_or_else(|panic| resume_unwind(panic)));
                }
                Err(RecvTimeoutError::Timeout) => {
                    Python::attach(|py| py.check_signals().map_err(|error| interrupted(py, error)))?;
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("a work sends its outcome, a panic too"),
            }
        }
    })
}

/// Ctrl-C as `cellrate.Interrupted`; what a handler of the caller's own raises stays what it is.
pub fn interrupted(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        run_error(py, &RunError::Interrupted)
    } else {
        error
    }
}
