//! Policies and traffic that are not built in, which go by all that they are told; and networks that have them.

use std::sync::Arc;

use cellrate_proto::uili::{BackwardRmContext, ForwardRmContext, UiliPolicy};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::{Custom, CustomParameter, Flow, Scenario, Sender, Traffic};
use cellrate_sim::random::{Owner, Random, Stream};
use cellrate_sim::traffic::{Burst, TrafficSource};
use cellrate_sim::{Plugins, SendingEnd};

/// Plugins that make both.
pub fn plugins() -> Plugins<'static> {
    Plugins { policies: &policy, traffic: &traffic, ..Plugins::default() }
}

fn policy(custom: &Custom, end: SendingEnd<'_>) -> Option<Box<dyn UiliPolicy + Send>> {
    (custom.name == "wavering").then(|| Box::new(Wavering { told: end.seed }) as _)
}

fn traffic(custom: &Custom, end: SendingEnd<'_>) -> Option<Box<dyn TrafficSource + Send>> {
    let [(_, CustomParameter::Integer(most))] = custom.parameters[..] else { return None };
    (custom.name == "attentive").then(|| Box::new(Attentive { told: end.seed, most: most as u64 }) as _)
}

/// Mixes what it is told into what it was told before.
fn mix(told: u64, more: u64) -> u64 {
    (told ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// A policy that lowers ACR and forbids increases now and then: when depends on all that it has been told so far.
struct Wavering {
    told: u64,
}

impl UiliPolicy for Wavering {
    fn on_forward_rm(&mut self, context: &ForwardRmContext) -> CellRate {
        let &ForwardRmContext { now, acr, decreased, icr, cells, elapsed } = context;
        for more in [
            now.as_ps(),
            acr.as_cells_per_s().to_bits(),
            decreased.into(),
            icr.as_cells_per_s().to_bits(),
            cells.into(),
            elapsed.as_ps(),
        ] {
            self.told = mix(self.told, more);
        }
        if self.told.is_multiple_of(3) { acr * 0.75 } else { acr }
    }

    fn on_backward_rm(&mut self, context: &BackwardRmContext) -> bool {
        let &BackwardRmContext { now, acr, er, increase } = context;
        for more in
            [now.as_ps(), acr.as_cells_per_s().to_bits(), er.as_cells_per_s().to_bits(), increase.into()]
        {
            self.told = mix(self.told, more);
        }
        !self.told.is_multiple_of(5)
    }
}

/// Traffic whose next burst depends on all that it has been told so far.
struct Attentive {
    told: u64,
    most: u64,
}

impl TrafficSource for Attentive {
    fn next(&mut self, now: Time, acr: CellRate, queue: Cells) -> Option<Burst> {
        for more in [now.as_ps(), acr.as_cells_per_s().to_bits(), queue.0] {
            self.told = mix(self.told, more);
        }
        if self.told.is_multiple_of(97) {
            return None;
        }
        // Whole cell times now and then, so that things happen at the same instant.
        let times = [1, 50_000, 2_831_094, 2_831_094 * 3, 20_000_000, 400_000_000];
        let part = |shift: u32, of: u64| (self.told >> shift) % of;
        Some(Burst {
            at: now + Duration::from_ps(times[part(7, 6) as usize]),
            cells: part(13, self.most) as u32,
            spacing: Duration::from_ps([0, 0, 2_831_094, 9_000_000][part(23, 4) as usize]),
        })
    }
}

/// `scenario`, with such policies at some sources, and such traffic at some ends that send none that is answered.
pub fn own_sources(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 20")));
    let mut pick = |count: u64| (dice.uniform() * count as f64) as u64;
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Flow { sender, traffic, .. } = flow;
            let own = !matches!(traffic, None | Some(Traffic::Tcp(_) | Traffic::RequestResponse(_)));
            let parameters = vec![("most".into(), CustomParameter::Integer(1 + pick(40) as i64))];
            if pick(3) > 0 && own {
                *traffic = Some(Traffic::Custom(Arc::new(Custom { name: "attentive".into(), parameters })));
            }
            if let (Sender::Abr(abr), 0) = (sender, pick(2)) {
                let custom = Custom { name: "wavering".into(), parameters: Vec::new() };
                Arc::make_mut(abr).custom_uili = Some(Arc::new(custom));
            }
        }
    }
    scenario
}
