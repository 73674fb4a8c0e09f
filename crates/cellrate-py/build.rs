//! Puts the ready scenarios and the papers' folders where maturin takes them into the wheel from (pyproject.toml,
//! `include`).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let data = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    for folder in ["scenarios", "papers"] {
        let from = root.join(folder);
        copy(&from, &data.join(folder)).map_err(|error| {
            let said = format!("{error}: {} (a source distribution has it too)", from.display());
            io::Error::new(error.kind(), said)
        })?;
    }
    Ok(())
}

/// Copies a folder, and has cargo look at each of its files: bytecode that Python leaves beside its source is neither
/// copied nor a reason to build again.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name() == "__pycache__" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?
        } else {
            println!("cargo::rerun-if-changed={}", entry.path().display());
            fs::copy(entry.path(), &target).map(drop)?
        }
    }
    Ok(())
}
