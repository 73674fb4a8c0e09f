//! Work that may take long and holds neither the interpreter nor its signals: Ctrl-C ends the wait for it.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use pyo3::prelude::*;

use crate::run_result::interrupted;

/// How long a signal may wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Documents are trees; a thread of the main thread's size takes whatever that one would.
const STACK: usize = 8 << 20;

/// Does `work` in a thread of its own, and looks for signals meanwhile.
///
/// # Errors
/// What a signal raises; the work then goes on until it is done, and its outcome is dropped.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, outcome) = sync_channel(1);
    let thread = Builder::new().stack_size(STACK).spawn(move || drop(done.send(work())))?;
    py.detach(move || {
        loop {
            match outcome.recv_timeout(LOOK_EVERY) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Timeout) => {
                    Python::attach(|py| py.check_signals().map_err(|error| interrupted(py, error)))?;
                }
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => unreachable!("a thread that ends without a panic has sent its outcome"),
                },
            }
        }
    })
}
