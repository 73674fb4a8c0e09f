//! Files that a scenario names: read where it may name them, and never more than a trace needs.
//!
//! A scenario may come from anywhere. It names regular files in its own folder or below it; what is elsewhere has to be
//! allowed by whoever runs it. A pipe or a device is told at once and not waited for. A file that is refused is not
//! read, and errors quote files of the scenario's own folder alone.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::text::quantity::shortened;

/// The largest file that is read \[octets\].
const MOST: u64 = 256 << 20;

/// A fault, and its remedy.
pub(crate) type Wrong = (String, String);

/// A file that was read.
pub(crate) struct Contents {
    pub octets: Vec<u8>,
    /// Whether it is in the folder of the scenario.
    is_own: bool,
}

impl Contents {
    /// A part of the file for an error; who allowed a folder need not have meant that all who see the error read it.
    pub fn quoted(&self, part: &str) -> String {
        match self.is_own {
            true => format!("\"{}\"", shortened(part)),
            false => "what stands there".into(),
        }
    }
}

/// Where files may be: in the folder of the scenario, from which their names are seen, and in others that are allowed.
pub(crate) struct Folders<'a> {
    /// The folder of the scenario.
    pub own: &'a Path,
    /// The others.
    pub allowed: &'a [PathBuf],
}

impl Folders<'_> {
    /// The file of that name.
    ///
    /// # Errors
    /// A file that is not there, elsewhere, not a regular one, or too large.
    pub fn read(&self, name: &str) -> Result<Contents, Wrong> {
        let cannot = |what: String, remedy: &str| (format!("{} {what}", shortened(name)), remedy.to_owned());
        let there = "Write its place as seen from the folder of the scenario";
        let failed = |error: std::io::Error| cannot(format!("cannot be read: {error}"), there);
        // Where it really is, behind all symbolic links.
        let place = self.own.join(name);
        let Ok(place) = place.canonicalize() else {
            // What is not inside may not even be asked whether it is there.
            return Err(match is_below(Path::new(name)) {
                true => {
                    failed(place.canonicalize().err().unwrap_or_else(|| std::io::ErrorKind::NotFound.into()))
                }
                false => elsewhere(name),
            });
        };
        let holds = |folder: &Path| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            folder.canonicalize().is_ok_and(|folder| place.starts_with(folder))
        };
        let is_own = holds(self.own);
        if !is_own && !self.allowed.iter().any(|folder| holds(folder)) {
            return Err(elsewhere(name));
        }
        let file = open(&place).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if !facts.is_file() {
            return Err(cannot("is not a regular file".into(), there));
        }
        if facts.len() > MOST {
            let what = format!("has {} MB; at most {} are read", facts.len() >> 20, MOST >> 20);
            return Err(cannot(what, "Cut it, or take every so many-th frame"));
        }
        let mut octets = Vec::new();
        file.take(MOST).read_to_end(&mut octets).map_err(failed)?;
        Ok(Contents { octets, is_own })
    }
}

/// Whether a name can only lead to what is below the folder that it is seen from, but for symbolic links.
fn is_below(name: &Path) -> bool {
    name.components()
        .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir))
}

fn elsewhere(name: &str) -> Wrong {
    let message = format!("{} is not in the folder of the scenario", shortened(name));
    let remedy = "Copy it there, or allow its folder: --allow-files FOLDER, allow_files=[...] in Python";
    (message, remedy.to_owned())
}

/// Opens a file for reading without waiting, as one would for who writes into a pipe.
#[cfg(unix)]
fn open(place: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    File::options().read(true).custom_flags(flags.bits() as i32).open(place)
}

#[cfg(not(unix))]
fn open(place: &Path) -> std::io::Result<File> {
    File::open(place)
}
