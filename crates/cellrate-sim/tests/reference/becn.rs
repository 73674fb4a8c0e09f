//! How the judge has switches originate BRMs.

use cellrate_proto::RateCode;
use cellrate_proto::switch::BecnIndication;

use super::*;

impl Network<'_> {
    /// `cell` has come to a switch, and its port, of this number, has counted it: whether a BRM goes back because of
    /// it, and where.
    pub(super) fn originate(&mut self, now: Time, number: usize, cell: &Cell) {
        let Some(becn) = self.scenario.links[number / 2].ports[number % 2].control.becn else { return };
        let config = flow_config(self.scenario, cell.flow);
        let Sender::Abr(abr) = &config.sender else { return };
        if cell.rm.is_some_and(|rm| rm.direction == Direction::Backward) {
            return;
        }
        // An averaging interval that the cell ended is over.
        self.on_interval_end(now, number);
        let port = &mut self.ports[number];
        let last = port.originated.get(&cell.flow).and_then(|instants| instants.last());
        let is_soon = last.is_some_and(|&last| now < last + Duration::from_ms(100));
        if is_soon || (port.abr_signal(now) as u64) < becn.threshold.0 {
            return;
        }
        port.originated.entry(cell.flow).or_default().push(now);
        let brm = RmCell {
            direction: Direction::Backward,
            backward_notification: true,
            congestion_indication: becn.indication == BecnIndication::Congestion,
            no_increase: becn.indication == BecnIndication::NoIncrease,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::floor(abr.parameters.mcr),
            out_of_rate: true,
        };
        let rm = Some(self.answer(now, number, cell.flow, brm));
        let flow = cell.flow ^ 1;
        let step = self.paths[flow].len() - cell.step;
        let back = Box::new(Cell {
            flow,
            step,
            sent: now,
            number: 0,
            efci: false,
            marked: false,
            rm,
            values: None,
            ends_pdu: false,
            tagged: false,
            pdu: None,
            oam: None,
        });
        let number = self.observe(now, &back);
        self.admit(now, number, back);
        self.plan_interval_end(number);
    }
}
