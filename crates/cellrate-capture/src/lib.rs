//! Cells and AAL5 PDUs as pcapng files with ERF records, one interface per port, as Wireshark reads them.
//!
//! The crate knows formats only: what a cell is comes from `cellrate-proto`, where it was seen from the caller, and where
//! the octets go is any [`std::io::Write`].
