//! The wire formats against `vectors/`, whose values were derived by other means than this code (`vectors/derive.py`).

use std::fs;
use std::path::Path as FilePath;

use cellrate_proto::wire::{
    AddressedRmCell, Crc32, Encapsulation, Gfc, Header, Interface, NniVpi, Path, PayloadType, Reassembler,
    RmCellError, Segments, cells_for, crc10, hec,
};
use cellrate_proto::{CellRate, Cells, Direction, Octets, RateCode, RmCell};
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn load<T: DeserializeOwned>(name: &str) -> T {
    let path = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Octets written in hexadecimal, white space ignored.
fn octets(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u32> = hexadecimal
        .chars()
        .filter(|digit| !digit.is_whitespace())
        .map(|digit| digit.to_digit(16).expect("a hexadecimal digit"))
        .collect();
    let (pairs, rest) = digits.as_chunks::<2>();
    assert!(rest.is_empty(), "an odd number of digits: {hexadecimal}");
    pairs.iter().map(|[high, low]| (high * 16 + low) as u8).collect()
}

fn array<const N: usize>(hexadecimal: &str) -> [u8; N] {
    octets(hexadecimal)
        .try_into()
        .unwrap_or_else(|octets: Vec<u8>| panic!("{} octets, not {N}", octets.len()))
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum InterfaceName {
    Uni,
    Nni,
}

impl InterfaceName {
    fn interface(self) -> Interface {
        match self {
            InterfaceName::Uni => Interface::Uni,
            InterfaceName::Nni => Interface::Nni,
        }
    }

    fn path(self, gfc: u8, vpi: u16) -> Path {
        match self {
            InterfaceName::Uni => Path::Uni { gfc: Gfc::new(gfc).unwrap(), vpi: vpi.try_into().unwrap() },
            InterfaceName::Nni => Path::Nni { vpi: NniVpi::new(vpi).unwrap() },
        }
    }
}

#[test]
fn checksums() {
    #[derive(Deserialize)]
    struct File {
        checksum: Vec<Checksum>,
    }
    #[derive(Deserialize)]
    struct Checksum {
        name: String,
        algorithm: String,
        octets: String,
        value: u32,
    }
    for vector in load::<File>("checksums.toml").checksum {
        let message = octets(&vector.octets);
        let value = match vector.algorithm.as_str() {
            "hec" => hec(array(&vector.octets)).into(),
            "crc10" => crc10(&message).into(),
            "crc32" => {
                let mut crc = Crc32::new();
                crc.update(&message);
                crc.value()
            }
            other => panic!("{}: no algorithm {other}", vector.name),
        };
        assert_eq!(value, vector.value, "{} of {}", vector.algorithm, vector.name);
    }
}

#[test]
fn rate_codes() {
    #[derive(Deserialize)]
    struct File {
        code: Vec<Code>,
        floor: Vec<Floor>,
    }
    #[derive(Deserialize)]
    struct Code {
        bits: u16,
        rate: f64,
    }
    #[derive(Deserialize)]
    struct Floor {
        rate: [u64; 2],
        bits: u16,
    }
    let file = load::<File>("rate_codes.toml");
    for Code { bits, rate } in file.code {
        assert_eq!(RateCode::from_bits(bits).rate(), CellRate::new(rate), "{bits:#06x}");
    }
    for Floor { rate: [numerator, denominator], bits } in file.floor {
        let rate = CellRate::new(numerator as f64 / denominator as f64);
        assert_eq!(RateCode::floor(rate), RateCode::from_bits(bits), "{numerator}/{denominator}");
    }
}

#[test]
fn headers() {
    #[derive(Deserialize)]
    struct File {
        header: Vec<HeaderVector>,
    }
    #[derive(Deserialize)]
    struct HeaderVector {
        name: String,
        interface: InterfaceName,
        gfc: Option<u8>,
        vpi: u16,
        vci: u16,
        pti: u8,
        clp: u8,
        octets: String,
    }
    for vector in load::<File>("headers.toml").header {
        let header = Header {
            path: vector.interface.path(vector.gfc.unwrap_or(0), vector.vpi),
            vci: vector.vci,
            payload_type: PayloadType::from_bits(vector.pti),
            clp: vector.clp == 1,
        };
        let octets = array(&vector.octets);
        assert_eq!(header.emit(), octets, "{}", vector.name);
        assert_eq!(Header::parse(vector.interface.interface(), &octets), Ok(header), "{}", vector.name);
    }
}

#[test]
fn rm_cells() {
    #[derive(Deserialize)]
    struct File {
        rm_cell: Vec<RmVector>,
        refused: Vec<Refused>,
    }
    #[derive(Deserialize)]
    struct RmVector {
        name: String,
        interface: InterfaceName,
        vpi: u16,
        vci: u16,
        clp: u8,
        dir: u8,
        bn: u8,
        ci: u8,
        ni: u8,
        er: u16,
        ccr: u16,
        mcr: u16,
        octets: String,
    }
    #[derive(Deserialize)]
    struct Refused {
        name: String,
        interface: InterfaceName,
        reason: String,
        octets: String,
    }
    let file = load::<File>("rm_cells.toml");
    for vector in file.rm_cell {
        let rm = RmCell {
            direction: if vector.dir == 0 { Direction::Forward } else { Direction::Backward },
            backward_notification: vector.bn == 1,
            congestion_indication: vector.ci == 1,
            no_increase: vector.ni == 1,
            explicit_rate: RateCode::from_bits(vector.er),
            current_cell_rate: RateCode::from_bits(vector.ccr),
            minimum_cell_rate: RateCode::from_bits(vector.mcr),
            out_of_rate: vector.clp == 1,
        };
        let cell = AddressedRmCell { path: vector.interface.path(0, vector.vpi), vci: vector.vci, rm };
        let octets = array(&vector.octets);
        assert_eq!(cell.emit(), octets, "{}", vector.name);
        let parsed = AddressedRmCell::parse(vector.interface.interface(), &octets);
        assert_eq!(parsed, Ok(cell), "{}", vector.name);
    }
    for vector in file.refused {
        let octets = array(&vector.octets);
        let error = AddressedRmCell::parse(vector.interface.interface(), &octets).unwrap_err();
        let reason = match error {
            RmCellError::Hec(_) => "hec",
            RmCellError::NotResourceManagement(_) => "pti",
            RmCellError::Crc => "crc",
            RmCellError::UnknownId(_) => "id",
        };
        assert_eq!(reason, vector.reason, "{}", vector.name);
    }
}

#[test]
fn aal5_pdus() {
    #[derive(Deserialize)]
    struct File {
        pdu: Vec<Pdu>,
    }
    #[derive(Deserialize)]
    struct Pdu {
        name: String,
        sdu: Option<String>,
        octet: Option<String>,
        repeated: Option<usize>,
        user_to_user: u8,
        cpi: u8,
        cells: u64,
        last_cell: String,
    }
    let mut reassembler = Reassembler::new(65_535);
    for vector in load::<File>("aal5.toml").pdu {
        let name = &vector.name;
        let sdu = match (&vector.sdu, &vector.octet, vector.repeated) {
            (Some(sdu), None, None) => octets(sdu),
            (None, Some(octet), Some(repeated)) => octets(octet).repeat(repeated),
            _ => panic!("{name}: either sdu, or octet and repeated"),
        };
        let last_cell = array(&vector.last_cell);
        assert_eq!(
            cells_for(Octets(sdu.len() as u64), Encapsulation::VcMultiplexed),
            Cells(vector.cells),
            "{name}"
        );

        let mut cells: Vec<_> = Segments::new(&sdu).unwrap().with_user_to_user(vector.user_to_user).collect();
        assert_eq!(cells.len() as u64, vector.cells, "{name}");
        let last = cells.last_mut().unwrap();
        if vector.cpi == 0 {
            assert_eq!(last.payload, last_cell, "{name}");
        }
        // A CPI other than zero is never sent, but it is taken.
        last.payload = last_cell;
        let mut received = None;
        for cell in &cells {
            if let Some(sdu) = reassembler.push(&cell.payload, cell.last).unwrap() {
                received = Some((sdu.octets.to_vec(), sdu.user_to_user));
            }
        }
        assert_eq!(received, Some((sdu, vector.user_to_user)), "{name}");
    }
}
