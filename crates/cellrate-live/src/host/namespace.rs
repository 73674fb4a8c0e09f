//! Network namespaces without names.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

/// A network namespace, held by a file descriptor.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// A new one, in which there is nothing but a loopback device that is down.
    ///
    /// # Errors
    /// EPERM without CAP_SYS_ADMIN in the user namespace of the process; what `unshare -Ur` gives is enough.
    pub fn new() -> io::Result<Namespace> {
        // A namespace belongs to a thread; the thread ends, the descriptor stays.
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Ok(Namespace { fd: File::open("/proc/thread-self/ns/net")?.into() })
        })
    }

    /// The result of `task`, run inside the namespace. Sockets that it opens, devices that it makes and programs that
    /// it starts belong to the namespace for good.
    ///
    /// # Errors
    /// What `task` reports, and what entering does, which a process that made the namespace may.
    ///
    /// # Panics
    /// When `task` does.
    pub fn within<T: Send, E: Send + From<EnterError>>(
        &self,
        task: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, E> {
        in_thread(|| {
            setns(&self.fd, CloneFlags::CLONE_NEWNET).map_err(|error| EnterError(error.into()))?;
            task()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A namespace that could not be entered.
#[derive(Debug)]
pub struct EnterError(pub io::Error);

impl From<EnterError> for io::Error {
    fn from(error: EnterError) -> io::Error {
        error.0
    }
}

impl From<EnterError> for super::HostError {
    fn from(error: EnterError) -> super::HostError {
        super::HostError::Namespace(error.0)
    }
}

fn in_thread<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(task).join() {
        Ok(outcome) => outcome,
        Err(panic) => panic::resume_unwind(panic),
    })
}
