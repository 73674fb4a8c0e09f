//! The TUN device of a host as the engine's packet device.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::engine::PacketDevice;

/// A TUN device: what the host's kernel sends out of it is received here, and the other way round. Its ring of
/// `transmit_queue` packets is the edge queue of the ABR end system; what the kernel finds no room for in it is lost
/// there, without TCP being told.
pub struct TunDevice {
    device: Arc<SyncDevice>,
}

impl TunDevice {
    /// A device of this name, down, in the namespace of the calling thread. It is gone when the last value
    /// that shares it is.
    ///
    /// # Errors
    /// Without /dev/net/tun, without CAP_NET_ADMIN in the namespace, when the name is taken.
    pub fn open(name: &str) -> io::Result<TunDevice> {
        // Not brought up here: the settings have to come first.
        let device = DeviceBuilder::new().name(name).enable(false).build_sync()?;
        device.set_nonblocking(true)?;
        Ok(TunDevice { device: Arc::new(device) })
    }

    /// The same device.
    pub(super) fn share(&self) -> TunDevice {
        TunDevice { device: Arc::clone(&self.device) }
    }
}

impl PacketDevice for TunDevice {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.device.send(packet).map(drop)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl std::fmt::Debug for TunDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TunDevice").field("fd", &self.device.as_fd()).finish()
    }
}
