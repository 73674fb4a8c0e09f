//! How clusters run side by side: which nodes are together ([`partition`], [`plain`]), who runs which cluster for its
//! next window ([`scheduler`]; [`serial`] where the caller decides how far), what it works on ([`prefetch`]), and what
//! it hands over in the end ([`outbox`](super::state::outbox), [`exchange`]).

pub(crate) mod exchange;
pub(crate) mod partition;
mod plain;
pub(crate) mod prefetch;
pub(crate) mod scheduler;
pub(crate) mod serial;
