//! Greedy connections around one port with ERICA, Phantom, or consistent marking: where their rates settle, and what
//! feedback may do.
//!
//! The loop is sampled: in each averaging interval a connection sends its rate's worth of cells, says its rate in one
//! FRM, and takes the ER of one BRM for the next interval, limited by what it can send (a connection that is held back
//! elsewhere). The queue is what came and did not fit the line.

use std::sync::Arc;

use cellrate_proto::switch::{
    ActiveSources, AgingConfig, AveragingInterval, ConsistentMarkingConfig, EfciConfig, EricaConfig, FORMS,
    Fairness, Feedback, LoadAveraging, PhantomConfig, PortControl, PortControlConfig, QueueControl, Slot,
    SwitchAlgorithmConfig, VcAtPort,
};
use cellrate_proto::{CellRate, Cells, Duration, RateCode, Time};
use proptest::prelude::*;

/// 149.76 Mb/s.
const LINE: f64 = 353_207.547;
const INTERVAL: Duration = Duration::from_ms(5);
const CELLS_PER_INTERVAL: f64 = LINE * 5e-3;

struct Connection {
    slot: Slot,
    /// Highest rate that it can send [cells/s].
    demand: f64,
    /// It may send so much whatever ER says [cells/s].
    mcr: f64,
    rate: f64,
    /// Part of a cell left over from the last interval.
    carry: f64,
}

struct Loop {
    port: PortControl,
    connections: Vec<Connection>,
    queue: f64,
    /// CBR that is served first [cells/s].
    guaranteed: f64,
    now: Time,
}

impl Loop {
    fn new(config: EricaConfig, start: &[(f64, f64)], guaranteed: f64) -> Loop {
        Loop::with(erica(config), start.iter().map(|&(demand, rate)| (demand, rate, vc())), guaranteed)
    }

    /// Connections with their demands, first rates and what the port learns of them.
    fn with(
        algorithm: SwitchAlgorithmConfig,
        start: impl Iterator<Item = (f64, f64, VcAtPort)>,
        guaranteed: f64,
    ) -> Loop {
        algorithm.check().expect("in range");
        let mut port = PortControl::new(
            &PortControlConfig { algorithm, ..PortControlConfig::default() },
            CellRate::new(LINE),
        );
        let connections = start
            .map(|(demand, rate, vc)| Connection {
                slot: port.connect(&vc),
                mcr: vc.mcr.as_cells_per_s().min(demand),
                demand,
                rate: rate.max(vc.mcr.as_cells_per_s()).min(demand),
                carry: 0.0,
            })
            .collect();
        Loop { port, connections, queue: 0.0, guaranteed, now: Time::ZERO }
    }

    fn interval(&mut self) {
        let guaranteed = self.guaranteed * INTERVAL.as_secs_f64();
        (0..guaranteed.round() as u64).for_each(|_| self.port.on_guaranteed_cell());
        let mut input = 0.0;
        for connection in &mut self.connections {
            let cells = connection.rate * INTERVAL.as_secs_f64() + connection.carry;
            connection.carry = cells.fract();
            input += cells.floor();
            (0..cells as u64).for_each(|_| self.port.on_abr_cell(self.now, connection.slot));
            self.port.on_forward_rm(self.now, connection.slot, CellRate::new(connection.rate));
        }
        self.queue = (self.queue + input + guaranteed - CELLS_PER_INTERVAL).max(0.0);
        let queue = Cells(self.queue as u64);
        self.now = self.port.next_deadline();
        self.port.end_intervals(self.now, |_| queue);
        for connection in &mut self.connections {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.port.on_backward_rm(self.now, connection.slot, queue, &mut feedback);
            let er = feedback.explicit_rate().rate().as_cells_per_s();
            connection.rate = er.min(connection.demand).max(connection.mcr);
        }
    }

    /// Mean rate of each connection over `intervals`.
    fn mean_rates(&mut self, intervals: u32) -> Vec<f64> {
        let mut sums = vec![0.0; self.connections.len()];
        for _ in 0..intervals {
            self.interval();
            self.connections.iter().zip(&mut sums).for_each(|(connection, sum)| *sum += connection.rate);
        }
        sums.iter().map(|sum| sum / f64::from(intervals)).collect()
    }
}

fn erica(config: EricaConfig) -> SwitchAlgorithmConfig {
    let interval = AveragingInterval::of_time(INTERVAL);
    SwitchAlgorithmConfig::Erica(Arc::new(EricaConfig { interval, ..config }))
}

fn vc() -> VcAtPort {
    VcAtPort { pcr: CellRate::new(LINE), mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO }
}

/// Max-min shares of `capacity`: the smallest demands first, each at most an equal share of what is left.
fn max_min(capacity: f64, demands: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by(|&i, &j| demands[i].total_cmp(&demands[j]));
    let mut shares = vec![0.0; demands.len()];
    let (mut left, mut sharers) = (capacity, demands.len() as f64);
    for i in order {
        shares[i] = demands[i].min(left / sharers);
        left -= shares[i];
        sharers -= 1.0;
    }
    shares
}

/// Weighted max-min shares of `capacity` above MCRs: the lowest common level at which all of it is used, by bisection.
fn weighted_max_min(capacity: f64, start: &[(f64, f64)], vcs: &[VcAtPort]) -> Vec<f64> {
    let at = |level: f64| -> Vec<f64> {
        let shares = start.iter().zip(vcs);
        shares.map(|(&(demand, _), vc)| (vc.mcr.as_cells_per_s() + vc.weight * level).min(demand)).collect()
    };
    let (mut low, mut high) = (0.0, 4.0 * LINE);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if at(middle).iter().sum::<f64>() < capacity { low = middle } else { high = middle }
    }
    at(low)
}

/// (demand, first rate) of 1 to 8 connections; some are held back elsewhere, at least one is not.
fn connections() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let demand = prop_oneof![Just(LINE), 5_000.0..LINE];
    prop::collection::vec((demand, 1_000.0..LINE), 1..8).prop_map(|mut connections| {
        connections[0].0 = LINE;
        connections
    })
}

/// Ten greedy connections, one held back at 5,000 and one at 10,000 cells/s, beside CBR of 40 % of the line: 211,924.5
/// cells/s are left, 196,924.5 of them to ten: 19,692.45 each.
#[test]
fn erica_plus_gives_ten_greedy_connections_what_the_others_leave() {
    let mut start = vec![(LINE, 2_000.0); 10];
    start.extend([(5_000.0, 5_000.0), (10_000.0, 10_000.0)]);
    let mut world = Loop::new(EricaConfig::erica_plus(), &start, 0.4 * LINE);
    world.mean_rates(400);
    let rates = world.mean_rates(200);
    for (rate, share) in rates.iter().zip([[19_692.45; 10].as_slice(), &[5_000.0, 10_000.0]].concat()) {
        assert!((rate - share).abs() <= 0.01 * share, "{rates:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// With the queue in the loop, ERICA+ hands out the whole line, and the shares are max-min fair. Its rates may
    /// swing about them as the queue swings about its target; a connection held back within the swing loses one half of
    /// it. Of 80,108 rates in 20,000 cases drawn like these, 95 were more than 1 % off their share, and the worst by
    /// 6.4 %.
    #[test]
    fn erica_plus_settles_at_the_max_min_shares_of_the_line(start in connections(), guaranteed in 0.0..0.5 * LINE) {
        let demands: Vec<f64> = start.iter().map(|&(demand, _)| demand).collect();
        let shares = max_min(LINE - guaranteed, &demands);
        let mut world = Loop::new(EricaConfig::erica_plus(), &start, guaranteed);
        world.mean_rates(400);
        let rates = world.mean_rates(200);
        for (rate, share) in rates.iter().zip(&shares) {
            prop_assert!((rate - share).abs() <= 0.10 * share, "{rates:?}, max-min {shares:?}");
        }
    }

    /// ERICA takes z up to 1 + delta for no overload: it may rest anywhere in that band, and there the shares are the
    /// max-min ones of what it hands out.
    #[test]
    fn erica_settles_at_max_min_shares_within_its_band(start in connections()) {
        let config = EricaConfig::erica();
        let mut world = Loop::new(config, &start, 0.0);
        world.mean_rates(400);
        let rates = world.mean_rates(200);
        let demands: Vec<f64> = start.iter().map(|&(demand, _)| demand).collect();
        let total: f64 = rates.iter().sum();
        prop_assert!(total >= 0.99 * 0.9 * LINE && total <= 1.01 * (1.0 + config.delta) * 0.9 * LINE, "{rates:?}");
        let shares = max_min(total, &demands);
        for (rate, share) in rates.iter().zip(&shares) {
            prop_assert!((rate - share).abs() <= 0.01 * share, "{rates:?}, max-min {shares:?}");
        }
    }

    /// With the effective number of connections FairShare is the max-min share, and there is no band.
    #[test]
    fn erica_with_the_effective_number_settles_at_the_max_min_shares_of_its_target(
        start in connections(),
        guaranteed in 0.0..0.5 * LINE,
    ) {
        let active_sources = ActiveSources { effective: true, ..ActiveSources::default() };
        let config = EricaConfig { active_sources, ..EricaConfig::erica() };
        let mut world = Loop::new(config, &start, guaranteed);
        world.mean_rates(400);
        let demands: Vec<f64> = start.iter().map(|&(demand, _)| demand).collect();
        let shares = max_min(0.9 * LINE - guaranteed, &demands);
        let rates = world.mean_rates(100);
        for (rate, share) in rates.iter().zip(&shares) {
            prop_assert!((rate - share).abs() <= 0.01 * share, "{rates:?}, max-min {shares:?}");
        }
    }

    /// Phantom leaves the share of one connection more, a fifth of what the others have, and the shares of all of them
    /// are max-min fair, but for the rate codes, of 1/512 at most.
    #[test]
    fn phantom_settles_at_the_max_min_shares_of_its_connections_and_the_phantom(
        start in connections(),
        guaranteed in 0.0..0.5 * LINE,
    ) {
        let interval = AveragingInterval::of_time(INTERVAL);
        // 1/40 at most is stable with eight connections, of which each has five times what is left.
        let config = PhantomConfig { interval, alpha: 1.0 / 64.0, ..PhantomConfig::new() };
        let connections = start.iter().map(|&(demand, rate)| (demand, rate, vc()));
        let mut world = Loop::with(SwitchAlgorithmConfig::Phantom(Arc::new(config)), connections, guaranteed);
        world.mean_rates(400);
        let counted = (guaranteed * INTERVAL.as_secs_f64()).round() / INTERVAL.as_secs_f64();
        // A fifth of what the others have is what one of weight 1/5 has.
        let mut sharers = start.clone();
        sharers.push((LINE, 0.0));
        let mut vcs = vec![vc(); sharers.len()];
        vcs[start.len()].weight = 0.2;
        let shares = weighted_max_min(LINE - counted, &sharers, &vcs);
        for (rate, share) in world.mean_rates(200).iter().zip(&shares) {
            prop_assert!((rate - share).abs() <= 0.005 * share, "{rate} of {share}");
        }
    }

    /// Consistent marking hands out its target, in max-min shares, to the last rate code.
    #[test]
    fn consistent_marking_settles_at_the_max_min_shares_of_its_target(
        start in connections(),
        guaranteed in 0.0..0.5 * LINE,
    ) {
        let config = SwitchAlgorithmConfig::ConsistentMarking(Arc::default());
        let connections = start.iter().map(|&(demand, rate)| (demand, rate, vc()));
        let mut world = Loop::with(config, connections, guaranteed);
        world.mean_rates(50);
        let demands: Vec<f64> = start.iter().map(|&(demand, _)| demand).collect();
        let counted = (guaranteed * INTERVAL.as_secs_f64()).round() / INTERVAL.as_secs_f64();
        let shares = max_min(0.95 * LINE - counted, &demands);
        for (rate, share) in world.mean_rates(10).iter().zip(&shares) {
            prop_assert!(*rate <= share * (1.0 + 1e-9) && *rate > share * (1.0 - 1.0 / 256.0), "{rate} of {share}");
        }
    }

    /// Consistent marking with MCRs and weights.
    #[test]
    fn weighted_consistent_marking_settles_at_the_weighted_max_min_shares_of_its_target(
        start in connections(),
        entitled in prop::collection::vec((prop_oneof![Just(0.0), 0.0..0.08], 0.5..4.0_f64), 8),
    ) {
        let config = ConsistentMarkingConfig { fairness: Fairness::Weighted, ..ConsistentMarkingConfig::new() };
        let vcs: Vec<VcAtPort> = entitled[..start.len()]
            .iter()
            .map(|&(mcr, weight)| VcAtPort { mcr: CellRate::new(mcr * LINE), weight, ..vc() })
            .collect();
        let with_vcs = start.iter().zip(&vcs).map(|(&(demand, rate), &vc)| (demand, rate, vc));
        let mut world = Loop::with(SwitchAlgorithmConfig::ConsistentMarking(Arc::new(config)), with_vcs, 0.0);
        world.mean_rates(50);
        let shares = weighted_max_min(0.95 * LINE, &start, &vcs);
        for (rate, share) in world.mean_rates(10).iter().zip(&shares) {
            prop_assert!(*rate <= share * (1.0 + 1e-9) && *rate > share * (1.0 - 1.0 / 256.0), "{rate} of {share}");
        }
    }

    /// With MCRs and weights the shares are the weighted max-min ones above MCRs, of all that is handed out.
    #[test]
    fn weighted_erica_settles_at_weighted_max_min_shares_within_its_band(
        start in connections(),
        entitled in prop::collection::vec((prop_oneof![Just(0.0), 0.0..0.08], 0.5..4.0_f64), 8),
    ) {
        let config = EricaConfig { fairness: Fairness::Weighted, ..EricaConfig::erica() };
        let vcs: Vec<VcAtPort> = entitled[..start.len()]
            .iter()
            .map(|&(mcr, weight)| VcAtPort { mcr: CellRate::new(mcr * LINE), weight, ..vc() })
            .collect();
        let with_vcs = start.iter().zip(&vcs).map(|(&(demand, rate), &vc)| (demand, rate, vc));
        let mut world = Loop::with(erica(config), with_vcs, 0.0);
        world.mean_rates(400);
        let rates = world.mean_rates(200);
        let total: f64 = rates.iter().sum();
        prop_assert!(total >= 0.99 * 0.9 * LINE && total <= 1.01 * (1.0 + config.delta) * 0.9 * LINE, "{rates:?}");
        let shares = weighted_max_min(total, &start, &vcs);
        for (rate, share) in rates.iter().zip(&shares) {
            prop_assert!((rate - share).abs() <= 0.01 * share, "{rates:?}, shares {shares:?}");
        }
    }

    /// Whatever happens at a port, an RM cell leaves it with no higher ER and no bit cleared.
    #[test]
    fn feedback_never_raises_er_and_never_clears_a_bit(
        algorithm in algorithms(),
        came in (any::<u16>(), any::<bool>(), any::<bool>()),
        steps in prop::collection::vec((0_u32..3, 0_u64..20_000_000, 0_u32..4, 0.0..1e6_f64, 0_u64..5_000), 1..200),
    ) {
        let efci = Some(EfciConfig { high: Cells(127), low: Cells(100) });
        let config = PortControlConfig { efci, algorithm, ..PortControlConfig::default() };
        prop_assert_eq!(config.check(), Ok(()));
        let mut port = PortControl::new(&config, CellRate::new(LINE));
        let slots = [(); 3].map(|()| port.connect(&vc()));
        let mut now = Time::ZERO;
        for (slot, ns, event, ccr, queue) in steps {
            now += Duration::from_ns(ns);
            let slot = slots[slot as usize];
            if port.interval_due(now) {
                port.end_intervals(now, |_| Cells(queue));
                prop_assert!(port.next_deadline() > now);
            }
            match event {
                0 => port.on_abr_cell(now, slot),
                1 => port.on_guaranteed_cell(),
                2 => port.on_forward_rm(now, slot, CellRate::new(ccr)),
                _ => {
                    let (bits, ci, ni) = came;
                    let er = RateCode::from_bits(bits);
                    let mut feedback = Feedback::new(er, ci, ni);
                    port.on_backward_rm(now, slot, Cells(queue), &mut feedback);
                    prop_assert!(feedback.explicit_rate() <= er);
                    prop_assert!(feedback.congestion_indication() >= ci);
                    prop_assert!(feedback.no_increase() >= ni);
                }
            }
            port.metrics(|name, value| assert!(!value.is_nan(), "{name}"));
        }
    }
}

fn algorithms() -> impl Strategy<Value = SwitchAlgorithmConfig> {
    let averaging = prop_oneof![
        Just(LoadAveraging::None),
        Just(LoadAveraging::Ratio { alpha: 0.3 }),
        Just(LoadAveraging::Components { alpha: 0.3 }),
        Just(LoadAveraging::Rates { alpha: 0.3 }),
    ];
    let control = prop_oneof![Just(QueueControl::erica()), Just(QueueControl::erica_plus())];
    let options = (averaging, control, any::<[bool; 7]>(), prop::option::of(1_u32..20));
    let erica = options.prop_map(
        |(
            load_averaging,
            queue_control,
            [bidirectional, fades, immediate, measured, aged, weighted, effective],
            cells,
        )| {
            SwitchAlgorithmConfig::Erica(Arc::new(EricaConfig {
                interval: AveragingInterval { time: INTERVAL, cells },
                queue_control,
                delta: 0.1,
                active_sources: ActiveSources { bidirectional, decay: fades.then_some(0.9), effective },
                load_averaging,
                immediate_fair_share: immediate,
                measured_ccr: measured,
                aging: aged.then_some(AgingConfig::new()),
                fairness: if weighted { Fairness::Weighted } else { Fairness::Equal },
                ..EricaConfig::erica()
            }))
        },
    );
    let declared = (0..FORMS.len(), prop::collection::vec(0.0..1.0, 64)).prop_map(|(form, draws)| {
        let mut draws = draws.into_iter().cycle();
        SwitchAlgorithmConfig::drawn(&FORMS[form], None, &mut || draws.next().expect("for ever"))
    });
    prop_oneof![1 => Just(SwitchAlgorithmConfig::None), 6 => declared, 12 => erica]
}
