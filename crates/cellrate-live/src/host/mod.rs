//! Hosts: network namespaces, each with a TUN device, an address, a route and TCP settings.
//!
//! A namespace has no name and no process of its own: file descriptors hold it, so that nothing of it stays when the
//! process that made it ends, however it ends. Programs are started in it from a thread that has entered it
//! ([`Namespace::within`]), or with util-linux's `nsenter --net=/proc/self/fd/N` and the descriptor.

mod namespace;
mod setup;
mod tun;

use std::fmt;
use std::io;

use cellrate_scenario::HostSettings;

pub use namespace::Namespace;
pub use tun::TunDevice;

/// The name of a host's device to the network, in its namespace.
pub const DEVICE: &str = "atm0";

/// A host: its namespace and its device are there as long as this is.
#[derive(Debug)]
pub struct Host {
    namespace: Namespace,
    device: TunDevice,
    given: bool,
}

impl Host {
    /// Makes a namespace with loopback, the device and what the settings say. Needs `ip` (iproute2).
    ///
    /// # Errors
    /// Where the process has no rights for it, the kernel has no TUN, `ip` is not there, or the kernel refuses a
    /// setting.
    pub fn new(settings: &HostSettings) -> Result<Host, HostError> {
        let namespace = Namespace::new().map_err(HostError::Namespace)?;
        let device = namespace.within(|| TunDevice::open(DEVICE)).map_err(HostError::Tun)?;
        namespace.within(|| setup::apply(settings))?;
        Ok(Host { namespace, device, given: false })
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Gives the device to the engine, once. It stays when the engine has gone, so that its counters can be read.
    pub fn take_device(&mut self) -> Option<TunDevice> {
        (!std::mem::replace(&mut self.given, true)).then(|| self.device.share())
    }
}

/// Why there is no host.
#[derive(Debug)]
pub enum HostError {
    /// No namespace: most often, the rights are missing.
    Namespace(io::Error),
    /// No TUN device.
    Tun(io::Error),
    /// A file below /proc/sys that cannot be written.
    Setting {
        /// The file.
        file: String,
        /// The value that was to be written.
        value: String,
        /// Why not.
        error: io::Error,
    },
    /// `ip` could not be started.
    Ip(io::Error),
    /// `ip` refused its commands.
    Refused {
        /// Commands that it was given, one a line.
        commands: String,
        /// Output of the program.
        output: String,
    },
}

impl HostError {
    /// Whether the machine or the user's rights are at fault, not the settings.
    pub fn is_lack(&self) -> bool {
        matches!(self, HostError::Namespace(_) | HostError::Tun(_) | HostError::Ip(_))
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Namespace(error) => write!(f, "no network namespace can be made: {error}"),
            HostError::Tun(error) => write!(f, "no TUN device can be made with /dev/net/tun: {error}"),
            HostError::Setting { file, value, error } => {
                write!(f, "{file} does not take \"{value}\": {error}")
            }
            HostError::Ip(error) => {
                write!(f, "the program `ip` (Debian: iproute2) cannot be started: {error}")
            }
            HostError::Refused { commands, output } => {
                write!(f, "`ip` says \"{}\" to:\n{}", output.trim(), commands.trim_end())
            }
        }
    }
}

impl std::error::Error for HostError {}
