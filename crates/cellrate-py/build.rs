//! Puts the ready scenarios and the papers' folders where maturin takes them into the wheel from (pyproject.toml,
//! `include`), and tells the crate by `cfg(live)` whether it can have live runs.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(live)");
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if is_linux && env::var_os("CARGO_FEATURE_LIVE").is_some() {
        println!("cargo::rustc-cfg=live");
    }
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
