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
        println!("cargo::rerun-if-changed=../../{folder}");
        copy(&root.join(folder), &data.join(folder))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?
        } else {
            fs::copy(entry.path(), &target).map(drop)?
        }
    }
    Ok(())
}
