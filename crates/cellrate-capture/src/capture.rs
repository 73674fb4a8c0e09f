//! A capture in a folder: cells.pcapng with every cell, pdus.pcapng with every AAL5 PDU that the cells make up.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use cellrate_proto::Time;
use cellrate_proto::wire::{CELL_OCTETS, PAYLOAD_OCTETS};

use crate::erf::{self, MAX_PDU_OCTETS, PREFIX_OCTETS};
use crate::pcapng::{Interface, PacketCounts, Writer, packet_octets};
use crate::pdus::Pdus;

const PS_PER_NS: u64 = 1000;
/// An interface statistics block with its two counts.
const STATISTICS_OCTETS: u64 = 52;

/// A port to capture at; its number is its place in the list given to [`Capture::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPort {
    /// Its name: `frame.interface_name` in Wireshark.
    pub name: String,
    /// The rate of its line \[bit/s\], if known.
    pub bits_per_s: Option<u64>,
}

impl CapturedPort {
    /// A port whose rate is not said.
    pub fn new(name: impl Into<String>) -> CapturedPort {
        CapturedPort { name: name.into(), bits_per_s: None }
    }
}

/// Which cells a capture keeps, and how it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Write cells.pcapng. Default true.
    pub cells: bool,
    /// Write pdus.pcapng. Default true.
    pub pdus: bool,
    /// First instant of the capture; cells seen earlier are left out. Default 0.
    pub from: Time,
    /// End of the capture; cells seen at or after it are left out. Default never.
    pub until: Time,
    /// Most octets of a file; what would not fit any more is counted and left out. Default `None`, without limit.
    pub file_octets: Option<u64>,
    /// Wall-clock time of instant 0 \[ns since 1970\]: the beginning of a live run, 0 in simulated time. Default 0.
    pub origin_ns: u64,
    /// Comment that names the captured run, as `capinfos` shows it. Default empty.
    pub comment: String,
    /// Names of hosts by address, for Wireshark's name resolution. Default none.
    pub hosts: Vec<(Ipv4Addr, String)>,
}

impl Default for CaptureOptions {
    fn default() -> CaptureOptions {
        CaptureOptions {
            cells: true,
            pdus: true,
            from: Time::ZERO,
            until: Time::NEVER,
            file_octets: None,
            origin_ns: 0,
            comment: String::new(),
            hosts: Vec::new(),
        }
    }
}

/// Takes cells, and writes them into a folder. Files get their names when they are whole ([`Capture::finish`]); a
/// capture that is dropped before leaves nothing.
///
/// Memory is bounded: a buffer of 256 KiB per file and one PDU per VC and port. Time is expected not to go backwards at
/// a port; Wireshark is content with any order between ports.
#[derive(Debug)]
pub struct Capture {
    cells: Option<Output>,
    pdus: Option<Output>,
    reassembly: Pdus,
    from: Time,
    until: Time,
    origin_ns: u64,
}

/// Files and counts that a capture leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The files, cells before PDUs.
    pub files: Vec<CapturedFile>,
}

/// A file of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Cells or PDUs in it.
    pub records: u64,
    /// Its length \[octets\].
    pub octets: u64,
    /// Cells or PDUs that did not fit any more ([`CaptureOptions::file_octets`]).
    pub left_out: u64,
}

/// The file system did not want it.
#[derive(Debug)]
pub struct CaptureError {
    /// The file or folder.
    pub path: PathBuf,
    /// The error that the operating system gave.
    pub source: io::Error,
}

impl Capture {
    /// A capture at `ports` into `folder`, which is made if it is not there. Files of an earlier capture stay until the
    /// new ones are whole.
    ///
    /// # Errors
    /// [`CaptureError`] when folder or files cannot be made.
    pub fn new(
        folder: &Path,
        ports: &[CapturedPort],
        options: CaptureOptions,
    ) -> Result<Capture, CaptureError> {
        fs::create_dir_all(folder).map_err(|source| CaptureError { path: folder.to_path_buf(), source })?;
        let output =
            |name, wanted: bool| wanted.then(|| Output::new(folder, name, ports, &options)).transpose();
        let cells = output("cells.pcapng", options.cells)?;
        let pdus = output("pdus.pcapng", options.pdus)?;
        let CaptureOptions { from, until, origin_ns, .. } = options;
        let reassembly = Pdus::new(from == Time::ZERO);
        Ok(Capture { cells, pdus, reassembly, from, until, origin_ns })
    }

    /// `port` sent a cell whose last bit left at `at`. Its octets are those on the wire, HEC and all; user cells with
    /// the AAL user bit end PDUs. `comment` is shown with the cell.
    ///
    /// # Errors
    /// [`CaptureError`], after which the capture is of no use.
    ///
    /// # Panics
    /// When there is no such port.
    #[inline]
    pub fn cell(
        &mut self,
        port: usize,
        at: Time,
        octets: &[u8; CELL_OCTETS],
        comment: Option<&str>,
    ) -> Result<(), CaptureError> {
        let [a, b, c, d, _hec, payload @ ..] = octets;
        self.cell_without_hec(port, at, [*a, *b, *c, *d], payload, comment)
    }

    /// Writes a cell whose HEC is not at hand: the first four octets of its header, and its payload.
    ///
    /// # Errors
    /// [`CaptureError`].
    ///
    /// # Panics
    /// When there is no such port.
    pub fn cell_without_hec(
        &mut self,
        port: usize,
        at: Time,
        header: [u8; 4],
        payload: &[u8; PAYLOAD_OCTETS],
        comment: Option<&str>,
    ) -> Result<(), CaptureError> {
        self.cell_without_aal(port, at, header, payload, comment)?;
        if self.covers(at)
            && let Some(output) = &mut self.pdus
            && let Some(pdu) = self.reassembly.push(port as u32, header, payload)
        {
            output.pdu(port, self.origin_ns + at.as_ps() / PS_PER_NS, header, pdu)?;
        }
        Ok(())
    }

    /// Writes a cell that is no part of a PDU, whatever its header says.
    ///
    /// # Errors
    /// [`CaptureError`].
    ///
    /// # Panics
    /// When there is no such port.
    pub fn cell_without_aal(
        &mut self,
        port: usize,
        at: Time,
        header: [u8; 4],
        payload: &[u8; PAYLOAD_OCTETS],
        comment: Option<&str>,
    ) -> Result<(), CaptureError> {
        let covered = self.covers(at);
        match &mut self.cells {
            Some(output) if covered => {
                let instant_ns = self.origin_ns + at.as_ps() / PS_PER_NS;
                let record = erf::cell(instant_ns, header, payload);
                output.record(port, instant_ns, &[&record], record.len(), comment)
            }
            _ => Ok(()),
        }
    }

    /// `port` sent a whole PDU, padding and trailer included, whose last cell left at `at` with the first four octets
    /// `header`: for ports that know PDUs and no cells.
    ///
    /// # Errors
    /// [`CaptureError`].
    ///
    /// # Panics
    /// When there is no such port.
    pub fn pdu(&mut self, port: usize, at: Time, header: [u8; 4], pdu: &[u8]) -> Result<(), CaptureError> {
        let covered = self.covers(at);
        match &mut self.pdus {
            Some(output) if covered => output.pdu(port, self.origin_ns + at.as_ps() / PS_PER_NS, header, pdu),
            _ => Ok(()),
        }
    }

    /// Whether what is seen at `at` is of interest.
    #[inline]
    pub fn covers(&self, at: Time) -> bool {
        self.from <= at && at < self.until
    }

    /// Ends the files and gives them their names.
    ///
    /// # Errors
    /// [`CaptureError`]; no file is left half written then.
    pub fn finish(self) -> Result<Captured, CaptureError> {
        let files = self.cells.into_iter().chain(self.pdus).map(Output::finish).collect::<Result<_, _>>()?;
        Ok(Captured { files })
    }
}

/// A file on its way.
#[derive(Debug)]
struct Output {
    /// `None` once it is closed.
    writer: Option<Writer<File>>,
    partial: PathBuf,
    path: PathBuf,
    room: u64,
    counts: Vec<PacketCounts>,
    full: bool,
}

impl Output {
    fn new(
        folder: &Path,
        name: &str,
        ports: &[CapturedPort],
        options: &CaptureOptions,
    ) -> Result<Output, CaptureError> {
        let partial = folder.join(format!(".{name}.{}.partial", std::process::id()));
        let interfaces: Vec<Interface> = ports
            .iter()
            .map(|port| Interface {
                name: port.name.clone(),
                link_type: erf::LINK_TYPE,
                bits_per_s: port.bits_per_s,
            })
            .collect();
        let writer = File::create(&partial)
            .and_then(|file| Writer::new(file, &options.comment, &interfaces, &options.hosts))
            .map_err(|source| CaptureError { path: partial.clone(), source })?;
        let counts = (0..ports.len() as u32)
            .map(|interface| PacketCounts { interface, until_ns: options.origin_ns, seen: 0, left_out: 0 })
            .collect();
        let reserved = STATISTICS_OCTETS * ports.len() as u64;
        let room = options.file_octets.map_or(u64::MAX, |octets| octets.saturating_sub(reserved));
        Ok(Output { writer: Some(writer), partial, path: folder.join(name), room, counts, full: false })
    }

    fn pdu(&mut self, port: usize, instant_ns: u64, header: [u8; 4], pdu: &[u8]) -> Result<(), CaptureError> {
        let prefix = erf::pdu_prefix(instant_ns, header, pdu.len());
        let kept = &pdu[..pdu.len().min(MAX_PDU_OCTETS)];
        self.record(port, instant_ns, &[&prefix, kept], PREFIX_OCTETS + pdu.len(), None)
    }

    fn record(
        &mut self,
        port: usize,
        instant_ns: u64,
        pieces: &[&[u8]],
        on_wire: usize,
        comment: Option<&str>,
    ) -> Result<(), CaptureError> {
        let count = &mut self.counts[port];
        count.seen += 1;
        count.until_ns = instant_ns;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let octets = packet_octets(pieces.iter().map(|piece| piece.len()).sum(), comment);
        // Once something is left out, everything after it is: a file with holes would mislead.
        self.full |= writer.octets() + octets as u64 > self.room;
        if self.full {
            count.left_out += 1;
            return Ok(());
        }
        writer
            .packet(port as u32, instant_ns, pieces, on_wire as u32, comment)
            .map_err(|source| CaptureError { path: self.partial.clone(), source })
    }

    fn finish(mut self) -> Result<CapturedFile, CaptureError> {
        let seen: u64 = self.counts.iter().map(|count| count.seen).sum();
        let left_out: u64 = self.counts.iter().map(|count| count.left_out).sum();
        if let Some(writer) = self.writer.take() {
            writer
                .finish(&self.counts)
                .map_err(|source| CaptureError { path: self.partial.clone(), source })?;
        }
        let failed = |source| CaptureError { path: self.path.clone(), source };
        fs::rename(&self.partial, &self.path).map_err(failed)?;
        let octets = fs::metadata(&self.path).map_err(failed)?.len();
        Ok(CapturedFile { path: self.path.clone(), records: seen - left_out, octets, left_out })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // After `finish` there is none, and that nothing can be done about a failure is what it shares with all drops.
        let _ = fs::remove_file(&self.partial);
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the capture {}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::Duration;
    use cellrate_proto::wire::{Cell, Header};
    use cellrate_proto::wire::{Encapsulation, Path as CellPath, Segments};

    /// A folder of its own for each test, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("cellrate-capture-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> = fs::read_dir(&self.0)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// The cells of one packet of `octets`.
    fn packet(octets: usize) -> Vec<[u8; 53]> {
        let packet = vec![0x45; octets];
        let cells = Segments::encapsulated(Encapsulation::LlcSnapIpv4, &packet).unwrap().map(|segment| {
            let payload_type = segment.payload_type();
            let header = Header { path: CellPath::uni(0), vci: 32, payload_type, clp: false };
            Cell { header, payload: &segment.payload }.emit()
        });
        cells.collect()
    }

    fn capture(folder: &Folder, options: CaptureOptions) -> Capture {
        Capture::new(&folder.0, &[CapturedPort::new("a->b"), CapturedPort::new("b->a")], options).unwrap()
    }

    #[test]
    fn cells_and_the_pdus_they_make_up_are_in_files_that_appear_whole() {
        let folder = Folder::new("whole");
        let mut capture = capture(&folder, CaptureOptions::default());
        let cells = packet(100);
        assert_eq!(cells.len(), 3, "100 + 8 + 8 = 116 octets");
        for (number, cell) in (0..).zip(&cells) {
            capture.cell(0, at(number), cell, None).unwrap();
        }
        assert!(folder.names().iter().all(|name| name.ends_with(".partial")), "{:?}", folder.names());
        let captured = capture.finish().unwrap();
        assert_eq!(folder.names(), ["cells.pcapng", "pdus.pcapng"]);
        let records: Vec<u64> = captured.files.iter().map(|file| file.records).collect();
        assert_eq!(records, [3, 1]);
        let pdus = fs::read(&captured.files[1].path).unwrap();
        let whole: Vec<u8> = cells.iter().flat_map(|cell| cell[5..].to_vec()).collect();
        assert!(pdus.windows(whole.len()).any(|window| window == whole));
        assert_eq!(captured.files[1].octets, pdus.len() as u64);
    }

    #[test]
    fn a_capture_that_is_dropped_leaves_nothing() {
        let folder = Folder::new("dropped");
        let mut capture = capture(&folder, CaptureOptions::default());
        capture.cell(0, at(1), &packet(1)[0], None).unwrap();
        drop(capture);
        assert!(folder.names().is_empty());
    }

    #[test]
    fn the_span_takes_its_beginning_and_not_its_end() {
        let folder = Folder::new("span");
        let options = CaptureOptions { from: at(10), until: at(20), ..CaptureOptions::default() };
        let mut capture = capture(&folder, options);
        let cell = packet(1)[0];
        for us in [9, 10, 19, 20] {
            capture.cell(1, at(us), &cell, None).unwrap();
        }
        let captured = capture.finish().unwrap();
        let records: Vec<u64> = captured.files.iter().map(|file| file.records).collect();
        assert_eq!(records, [2, 1], "the PDU that ends first may have begun before");
    }

    #[test]
    fn a_file_never_grows_beyond_its_limit_and_says_what_is_missing() {
        let folder = Folder::new("limit");
        let write = |file_octets| {
            let mut capture =
                capture(&folder, CaptureOptions { file_octets, pdus: false, ..Default::default() });
            for us in 0..100 {
                capture.cell(0, at(us), &packet(1)[0], None).unwrap();
            }
            capture.finish().unwrap().files.remove(0)
        };
        let all = write(None);
        assert_eq!((all.records, all.left_out), (100, 0));
        let exact = write(Some(all.octets));
        assert_eq!(exact, all, "what fits exactly fits");
        let less = write(Some(all.octets - 1));
        assert_eq!((less.records, less.left_out), (99, 1));
        assert_eq!(less.octets, all.octets - 100, "a block of a cell is 32 + 68 octets");
        let none = write(Some(0));
        assert_eq!((none.records, none.left_out), (0, 100));
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = Folder::new("file");
        fs::write(&folder.0, "a file").unwrap();
        let error = Capture::new(&folder.0.join("below"), &[], CaptureOptions::default()).unwrap_err();
        assert!(error.to_string().contains("below"), "{error}");
        fs::remove_file(&folder.0).unwrap();
    }
}
