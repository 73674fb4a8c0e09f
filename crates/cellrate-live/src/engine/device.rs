//! The data plane of a host as the engine sees it: IP packets in, IP packets out, nothing that waits.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

/// Where a host's IP packets come from and go to: a TUN device, or a test.
///
/// A packet is raw IPv4, from its version nibble on, without any header before it.
pub trait PacketDevice: Send {
    /// Moves the next packet that the host sends into `buffer` and gives its length \[octets\]; `None` when there is
    /// none now. Never waits. A packet longer than `buffer` is cut off.
    ///
    /// # Errors
    /// What the device reports; the engine counts it and goes on.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Hands `packet` to the host. Never waits: [`io::ErrorKind::WouldBlock`] when there is no room for it, and the
    /// packet is lost and counted then.
    ///
    /// # Errors
    /// What the device reports; the engine counts the packet as lost and goes on.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;

    /// Becomes readable when there may be something to [`receive`](PacketDevice::receive).
    fn as_fd(&self) -> BorrowedFd<'_>;
}

/// One of two ends of a wire in memory: what one sends the other receives, each packet whole, in order.
#[derive(Debug)]
pub struct PairedDevice {
    socket: UnixDatagram,
}

impl PairedDevice {
    /// Two ends of one wire. It holds as many packets as the system's socket buffers do.
    ///
    /// # Errors
    /// When the system gives no sockets.
    pub fn pair() -> io::Result<(PairedDevice, PairedDevice)> {
        let (near, far) = UnixDatagram::pair()?;
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        Ok((PairedDevice { socket: near }, PairedDevice { socket: far }))
    }
}

impl PacketDevice for PairedDevice {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.socket.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.socket.send(packet).map(drop)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A device that gives out the packets it was made with, one after the other, and keeps what it is sent: for tests and
/// measurements, where no system call should stand between.
#[derive(Debug)]
pub struct ScriptedDevice {
    to_receive: VecDeque<Vec<u8>>,
    /// Packets that it was sent.
    pub sent: Vec<Vec<u8>>,
    fd: OwnedFd,
}

impl ScriptedDevice {
    /// A host that sends `packets` at once.
    ///
    /// # Errors
    /// When the system gives no file descriptor.
    pub fn new(packets: impl IntoIterator<Item = Vec<u8>>) -> io::Result<ScriptedDevice> {
        let fd = OwnedFd::from(UnixDatagram::unbound()?);
        Ok(ScriptedDevice { to_receive: packets.into_iter().collect(), sent: Vec::new(), fd })
    }
}

impl PacketDevice for ScriptedDevice {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(packet) = self.to_receive.pop_front() else { return Ok(None) };
        let length = packet.len().min(buffer.len());
        buffer[..length].copy_from_slice(&packet[..length]);
        Ok(Some(length))
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.sent.push(packet.to_vec());
        Ok(())
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_hands_over_whole_packets_in_order_and_never_waits() {
        let (mut near, mut far) = PairedDevice::pair().unwrap();
        let mut buffer = [0; 64];
        assert_eq!(far.receive(&mut buffer).unwrap(), None);
        near.send(&[0x45; 20]).unwrap();
        near.send(&[0x46; 24]).unwrap();
        assert_eq!(far.receive(&mut buffer).unwrap(), Some(20));
        assert_eq!(far.receive(&mut buffer).unwrap(), Some(24));
        assert_eq!(buffer[..24], [0x46; 24]);
        assert_eq!(far.receive(&mut buffer).unwrap(), None);
    }

    #[test]
    fn a_full_wire_says_so() {
        let (mut near, _far) = PairedDevice::pair().unwrap();
        let refused = (0..100_000).find_map(|_| near.send(&[0; 1500]).err());
        assert_eq!(refused.map(|error| error.kind()), Some(io::ErrorKind::WouldBlock));
    }

    #[test]
    fn a_scripted_host_cuts_what_is_too_long_and_keeps_what_it_gets() {
        let mut host = ScriptedDevice::new([vec![1; 30], vec![2; 3]]).unwrap();
        let mut buffer = [0; 20];
        assert_eq!(host.receive(&mut buffer).unwrap(), Some(20));
        assert_eq!(host.receive(&mut buffer).unwrap(), Some(3));
        assert_eq!(host.receive(&mut buffer).unwrap(), None);
        host.send(&[7]).unwrap();
        assert_eq!(host.sent, [[7]]);
    }
}
