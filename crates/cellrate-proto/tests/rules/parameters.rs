//! The parameters of a connection (TM 4.0, table 5-5; paper abr-parameters, table 1): defaults, and what follows from
//! them. Their ranges are tested beside their checks.

use cellrate_proto::parameters::{MAX_FRTT, MAX_TBE, MRM, RmPlacement, TCR};
use cellrate_proto::{AbrParameters, CellRate, Cells, Duration};

use crate::world::{Busy, parameters, power};

#[test]
fn parameters_have_the_defaults_of_the_standard() {
    let expected = AbrParameters {
        pcr: CellRate::new(100_000.0),
        mcr: CellRate::ZERO,
        icr: CellRate::new(100_000.0),
        nrm: 32,
        rm: RmPlacement::OwnCells,
        trm: Duration::from_ms(100),
        rif: power(4),
        rdf: power(4),
        adtf: Duration::from_ms(500),
        tbe: Cells(16_777_215),
        crm: None,
        cdf: Some(power(4)),
        frtt: Duration::ZERO,
    };
    assert_eq!(parameters(100_000.0), expected);
    assert_eq!((TCR, MRM), (10.0, 2));
    // 16,777,215 / 32 = 524,287.97.
    assert_eq!(expected.effective_crm(), 524_288);
}

#[test]
fn parameters_that_no_code_can_carry_are_refused() {
    let refused = |parameters: AbrParameters| parameters.check().map_err(|error| error.name);
    let good = parameters(100_000.0);
    assert_eq!(refused(AbrParameters { tbe: Cells(MAX_TBE), frtt: MAX_FRTT, ..good.clone() }), Ok(()));
    assert_eq!(refused(AbrParameters { tbe: Cells(MAX_TBE + 1), ..good.clone() }), Err("tbe"));
    let too_long = MAX_FRTT + Duration::from_ps(1);
    assert_eq!(refused(AbrParameters { frtt: too_long, ..good.clone() }), Err("frtt"));
    assert_eq!(refused(AbrParameters { adtf: Duration::from_ms(15), ..good.clone() }), Err("adtf"));
    assert_eq!(refused(AbrParameters { cdf: Some(power(7)), ..good.clone() }), Err("cdf"));
    assert_eq!(refused(AbrParameters { nrm: 96, ..good }), Err("nrm"));
}

#[test]
fn parameters_crm_below_1_counts_as_1() {
    // TBE = 0 makes CRM = 0. Taken as 1, the first FRM still says ICR, and the second is the first to be cut.
    for change in [(Some(0), Cells(MAX_TBE)), (None, Cells(0)), (Some(1), Cells(MAX_TBE))] {
        let (crm, tbe) = change;
        let mut busy = Busy::new(&AbrParameters { crm, tbe, ..parameters(65_536.0) });
        assert_eq!(busy.next_frm().1.current_cell_rate.rate(), CellRate::new(65_536.0));
        assert_eq!(busy.next_frm().1.current_cell_rate.rate(), CellRate::new(61_440.0));
    }
}
