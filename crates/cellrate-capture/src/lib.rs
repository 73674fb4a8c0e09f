//! Cells and AAL5 PDUs as pcapng files with ERF records, one interface per port, as Wireshark reads them.
//!
//! The crate knows formats only: what a cell is comes from `cellrate-proto`, where it was seen from the caller, and
//! where the octets go is any [`std::io::Write`]. [`Capture`] is what a simulator or a live engine hands its cells to;
//! [`pcapng::Writer`] and [`erf`] are the two formats by themselves.
//!
//! ```
//! use cellrate_capture::{Capture, CaptureOptions, CapturedPort};
//! use cellrate_proto::Time;
//! use cellrate_proto::wire::{Cell, Header, Path, PayloadType};
//!
//! let folder = std::env::temp_dir().join(format!("cellrate-capture-{}", std::process::id()));
//! let ports = [CapturedPort::new("sw1->sw2")];
//! let mut capture = Capture::new(&folder, &ports, CaptureOptions::default())?;
//! let payload_type = PayloadType::User { efci: false, user_bit: true };
//! let header = Header { path: Path::uni(0), vci: 32, payload_type, clp: false };
//! let cell = Cell { header, payload: &[0; 48] };
//! capture.cell(0, Time::from_ps(3_000_000), &cell.emit(), None)?;
//! let captured = capture.finish()?;
//! assert_eq!(captured.files[0].records, 1); // cells.pcapng; pdus.pcapng holds the PDU of that one cell
//! # std::fs::remove_dir_all(folder).ok();
//! # Ok::<(), cellrate_capture::CaptureError>(())
//! ```

mod capture;
pub mod erf;
pub mod pcapng;
mod pdus;

pub use capture::{Capture, CaptureError, CaptureOptions, Captured, CapturedFile, CapturedPort};
