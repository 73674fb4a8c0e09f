//! Properties that hold under any order of events.
//!
//! One end is driven at random: data comes, FRMs come to be turned around, BRMs come with any fields, time passes, and
//! the end sends what it may. Every cell that leaves is judged by a [`Judge`] that knows the rules and nothing of the
//! code. Three canaries, each with one fault, prove that it sees.

use cellrate_proto::parameters::{PowerOfTwo, RmPlacement};
use cellrate_proto::uili::UiliConfig;
use cellrate_proto::{
    AbrParameters, CellRate, Cells, Destination, DestinationConfig, Direction, Duration, Emission, RateCode,
    RmCell, Source, Time,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

use crate::world::{frm, just_before, power, source};

const OUT_OF_RATE_SPACING: Duration = Duration::from_ms(100);

/// Events at an end of a connection.
#[derive(Clone, Debug)]
enum Event {
    Data(u8),
    BackwardRm {
        er: u16,
        ci: bool,
        ni: bool,
        bn: bool,
    },
    ForwardRm {
        out_of_rate: bool,
    },
    Wait(Duration),
    /// Send at this instant, if anything may leave.
    Try,
    /// Pass on to the instant that the end names, and send.
    Deadline,
}

/// The calls of a source, so that a faulty one can take its place.
trait Sender {
    fn new(source: Source) -> Self;
    fn source(&mut self) -> &mut Source;
    fn next_transmission(&mut self, now: Time, data: bool) -> Time {
        self.source().next_transmission(now, |from| if data { from } else { Time::NEVER })
    }
    fn transmit(&mut self, now: Time, data: bool) -> Option<Emission> {
        self.source().transmit(now, data)
    }
}

struct Good(Source);

impl Sender for Good {
    fn new(source: Source) -> Good {
        Good(source)
    }
    fn source(&mut self) -> &mut Source {
        &mut self.0
    }
}

/// Canary: its clock runs twice as fast, so that every spacing is halved.
struct FastClock(Source);

impl Sender for FastClock {
    fn new(source: Source) -> FastClock {
        FastClock(source)
    }
    fn source(&mut self) -> &mut Source {
        &mut self.0
    }
    fn next_transmission(&mut self, now: Time, data: bool) -> Time {
        let inner = Time::from_ps(2 * now.as_ps());
        match self.0.next_transmission(inner, |from| if data { from } else { Time::NEVER }) {
            Time::NEVER => Time::NEVER,
            at => Time::from_ps(at.as_ps().div_ceil(2)),
        }
    }
    fn transmit(&mut self, now: Time, data: bool) -> Option<Emission> {
        self.0.transmit(Time::from_ps(2 * now.as_ps()), data)
    }
}

/// Canary: sends the turned-around cell before the last one.
struct Stale(Source, Option<RmCell>);

impl Sender for Stale {
    fn new(source: Source) -> Stale {
        Stale(source, None)
    }
    fn source(&mut self) -> &mut Source {
        &mut self.0
    }
    fn transmit(&mut self, now: Time, data: bool) -> Option<Emission> {
        match self.0.transmit(now, data) {
            Some(Emission::BackwardRm(rm)) => {
                let older = self.1.replace(rm).unwrap_or(rm);
                Some(Emission::BackwardRm(older))
            }
            other => other,
        }
    }
}

/// Canary: every FRM but the first leaves as data.
struct FewFrms(Source, bool);

impl Sender for FewFrms {
    fn new(source: Source) -> FewFrms {
        FewFrms(source, false)
    }
    fn source(&mut self) -> &mut Source {
        &mut self.0
    }
    fn transmit(&mut self, now: Time, data: bool) -> Option<Emission> {
        match self.0.transmit(now, data) {
            Some(Emission::ForwardRm(rm)) if !rm.out_of_rate && self.1 && data => Some(Emission::Data),
            Some(Emission::ForwardRm(rm)) => {
                self.1 |= !rm.out_of_rate;
                Some(Emission::ForwardRm(rm))
            }
            other => other,
        }
    }
}

/// The past of an end as the rules need to know it.
struct Judge {
    parameters: AbrParameters,
    last_in_rate: Option<Time>,
    last_frm: Time,
    cells_since_frm: u32,
    brm_since_frm: bool,
    last_out_of_rate: Option<Time>,
    /// Number of the newest turned-around contents that left.
    newest_left: Option<u16>,
}

impl Judge {
    /// Whether rules 2 and 3 a ask for an FRM at `now`.
    fn frm_is_due(&self, now: Time) -> bool {
        let elapsed = now.since(self.last_frm);
        self.last_in_rate.is_none()
            || self.cells_since_frm >= self.parameters.nrm - 1
            || (self.cells_since_frm >= 2 && elapsed >= self.parameters.trm)
    }

    /// A cell left at `now`; before it ACR was `acr`, `data` and `brm` say what waited.
    fn left(
        &mut self,
        now: Time,
        emission: &Emission,
        acr: CellRate,
        data: bool,
        brm: bool,
    ) -> Result<(), String> {
        if let Emission::ForwardRm(rm) = emission
            && rm.out_of_rate
        {
            holds(acr < CellRate::new(10.0), "rule 11: an ACR of TCR or more")?;
            let apart = self.last_out_of_rate.is_none_or(|last| now.since(last) >= OUT_OF_RATE_SPACING);
            holds(apart, "rule 11: out-of-rate FRMs less than 100 ms apart")?;
            self.last_out_of_rate = Some(now);
            return Ok(());
        }
        // The spacing that counts is that of the ACR before the later cell: an FRM that lowers ACR itself (rules 5 and
        // 6) only binds the cells after it (rule 7).
        let apart = self.last_in_rate.is_none_or(|last| now.since(last) >= acr.interval());
        holds(apart && acr > CellRate::ZERO, "rule 1: spacing below 1/ACR")?;
        let due = self.frm_is_due(now);
        self.last_in_rate = Some(now);
        match emission {
            Emission::ForwardRm(_) => {
                holds(due, "rule 3 a: an FRM too early")?;
                (self.last_frm, self.cells_since_frm, self.brm_since_frm) = (now, 0, false);
                return Ok(());
            }
            Emission::BackwardRm(rm) => {
                holds(!due, "rule 3 a: an FRM is due")?;
                holds(!(self.brm_since_frm && data), "rule 3 b: a second BRM before data")?;
                holds(!rm.out_of_rate, "rule 4: CLP = 1 in rate")?;
                self.brm_since_frm = true;
                self.backward_left(rm)?;
            }
            Emission::DataWithRm(_) => return Err("RM values in a data cell".into()),
            Emission::Data => {
                holds(!due, "rule 3 a: an FRM is due")?;
                holds(data, "rule 3 c: no data waits")?;
                holds(!brm || self.brm_since_frm, "rule 3 b: the BRM goes first")?;
            }
        }
        self.cells_since_frm += 1;
        Ok(())
    }

    fn backward_left(&mut self, rm: &RmCell) -> Result<(), String> {
        let number = rm.current_cell_rate.bits();
        holds(self.newest_left.is_none_or(|newest| number >= newest), "destination rule 4: older contents")?;
        self.newest_left = Some(number);
        Ok(())
    }
}

fn holds(condition: bool, otherwise: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise.into()) }
}

/// An end at work: the sender, its destination, what waits, and the judge.
struct Run<S> {
    sender: S,
    destination: Destination,
    data: u64,
    now: Time,
    frms_received: u16,
    judge: Judge,
}

impl<S: Sender> Run<S> {
    fn new(parameters: &AbrParameters, config: DestinationConfig) -> Run<S> {
        Run {
            sender: S::new(source(parameters)),
            destination: Destination::new(config),
            data: 0,
            now: Time::ZERO,
            frms_received: 0,
            judge: Judge {
                parameters: parameters.clone(),
                last_in_rate: None,
                last_frm: Time::ZERO,
                cells_since_frm: 0,
                brm_since_frm: false,
                last_out_of_rate: None,
                newest_left: None,
            },
        }
    }

    fn happens(&mut self, event: &Event) -> Result<(), String> {
        match *event {
            Event::Data(cells) => self.data += u64::from(cells),
            Event::BackwardRm { er, ci, ni, bn } => {
                let rm = RmCell {
                    direction: Direction::Backward,
                    backward_notification: bn,
                    congestion_indication: ci,
                    no_increase: ni,
                    explicit_rate: RateCode::from_bits(er),
                    ..frm(0.0)
                };
                let before = self.sender.source().acr();
                self.sender.source().on_backward_rm(self.now, &rm);
                let after = self.sender.source().acr();
                holds(after <= before || !(ci || ni), "rule 8: a rise against CI or NI")?;
            }
            Event::ForwardRm { out_of_rate } => {
                self.frms_received += 1;
                let current_cell_rate = RateCode::from_bits(self.frms_received);
                let rm = RmCell { out_of_rate, current_cell_rate, ..frm(1_024.0) };
                if let Some(at_once) = self.destination.on_forward_rm(&rm, self.sender.source()) {
                    holds(at_once.out_of_rate, "CLP = 0 out of rate")?;
                    self.judge.backward_left(&at_once)?;
                }
            }
            Event::Wait(span) => self.now += span,
            Event::Try => {
                self.send()?;
            }
            Event::Deadline => self.deadline()?,
        }
        let AbrParameters { mcr, pcr, .. } = self.judge.parameters;
        let acr = self.sender.source().acr();
        holds(mcr <= acr && acr <= pcr, "rule 1: ACR outside MCR to PCR")
    }

    fn deadline(&mut self) -> Result<(), String> {
        let waits = self.data > 0 || self.sender.source().has_waiting_brm();
        let next = self.sender.next_transmission(self.now, self.data > 0);
        if !waits {
            return holds(next == Time::NEVER, "a deadline although nothing waits");
        }
        holds(next != Time::NEVER, "no deadline although something waits")?;
        holds(next >= self.now, "a deadline in the past")?;
        if next > self.now {
            self.now = just_before(next);
            holds(!self.send()?, "a cell left before next_transmission")?;
            self.now = next;
        }
        holds(self.send()?, "nothing left at next_transmission")
    }

    /// Whether a cell left.
    fn send(&mut self) -> Result<bool, String> {
        let (data, brm) = (self.data > 0, self.sender.source().has_waiting_brm());
        let acr = self.sender.source().acr();
        let Some(emission) = self.sender.transmit(self.now, data) else { return Ok(false) };
        if let Emission::ForwardRm(rm) = emission {
            let ccr = RateCode::floor(self.sender.source().acr());
            holds(rm.current_cell_rate == ccr, "rule 7: CCR is not ACR")?;
        }
        self.judge.left(self.now, &emission, acr, data, brm)?;
        self.data -= u64::from(emission == Emission::Data);
        Ok(true)
    }
}

/// Parameters in their ranges, with the ends of each range likely.
fn any_parameters() -> impl Strategy<Value = AbrParameters> {
    let rates = (prop_oneof![1.0..1e6_f64, 1.0..100.0_f64], ends(0.0, 1.0), ends(0.0, 1.0)).prop_map(
        |(pcr, mcr, icr)| {
            let mcr = mcr * pcr;
            (CellRate::new(pcr), CellRate::new(mcr), CellRate::new((mcr + icr * (pcr - mcr)).clamp(mcr, pcr)))
        },
    );
    let cdf = prop_oneof![Just(None), (0_u8..=6).prop_map(PowerOfTwo::from_negative_exponent)];
    let counts = (1_u32..=8, 0_u32..=7, 0_u8..=15, 0_u8..=15);
    let limits = (1_u64..=1023, prop_oneof![0_u64..2_000, Just(16_777_215)], prop::option::of(0_u32..6), cdf);
    let frtt = prop_oneof![Just(0_u64), 1_u64..16_777_215];
    (rates, counts, limits, frtt).prop_map(
        |((pcr, mcr, icr), (nrm, trm, rif, rdf), (adtf, tbe, crm, cdf), frtt)| AbrParameters {
            pcr,
            mcr,
            icr,
            nrm: 1 << nrm,
            rm: RmPlacement::OwnCells,
            trm: Duration::from_ps(100_000_000_000 >> trm),
            rif: power(rif),
            rdf: power(rdf),
            adtf: Duration::from_ms(10 * adtf),
            tbe: Cells(tbe),
            crm,
            cdf,
            frtt: Duration::from_us(frtt),
        },
    )
}

fn ends(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![Just(low), Just(high), low..high]
}

fn any_event() -> impl Strategy<Value = Event> {
    let er = prop_oneof![4 => 0x4000_u16..=0x7fff, 1 => Just(0), 1 => any::<u16>()];
    let ci = prop::bool::weighted(0.2);
    let wait = prop_oneof![1_u64..1_000_000, 1_u64..1_000_000_000_000, Just(100_000_000_000)];
    prop_oneof![
        2 => (1_u8..80).prop_map(Event::Data),
        2 => (er, ci, any::<bool>(), prop::bool::weighted(0.2))
            .prop_map(|(er, ci, ni, bn)| Event::BackwardRm { er, ci, ni, bn }),
        3 => prop::bool::weighted(0.2).prop_map(|out_of_rate| Event::ForwardRm { out_of_rate }),
        1 => wait.prop_map(|ps| Event::Wait(Duration::from_ps(ps))),
        1 => Just(Event::Try),
        12 => Just(Event::Deadline),
    ]
}

type Case = (AbrParameters, bool, Vec<Event>);

fn any_case() -> impl Strategy<Value = Case> {
    (any_parameters(), any::<bool>(), prop::collection::vec(any_event(), 1..400))
}

fn judged<S: Sender>((parameters, send_waiting_out_of_rate, events): Case) -> Result<(), TestCaseError> {
    let config = DestinationConfig { send_waiting_out_of_rate, ..DestinationConfig::default() };
    let mut run = Run::<S>::new(&parameters, config);
    for event in &events {
        run.happens(event).map_err(TestCaseError::fail)?;
    }
    Ok(())
}

/// Runs `cases` cases of a fixed sequence; the same ones each time.
fn runs<S: Sender>(cases: u32) -> Result<(), String> {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    match TestRunner::new_with_rng(config.clone(), fixed_rng(&config)).run(&any_case(), judged::<S>) {
        Err(TestError::Fail(reason, case)) => Err(format!("{reason}: {case:?}")),
        Err(abort) => Err(format!("{abort}")),
        Ok(()) => Ok(()),
    }
}

fn fixed_rng(config: &Config) -> proptest::test_runner::TestRng {
    proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm)
}

#[test]
fn under_any_order_of_events_every_rule_holds() {
    runs::<Good>(2_000).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn canary_a_source_with_halved_spacing_is_caught() {
    let broken = runs::<FastClock>(2_000).expect_err("half the spacing");
    assert!(broken.contains("spacing below 1/ACR") || broken.contains("less than 100 ms apart"), "{broken}");
}

#[test]
fn canary_a_source_that_sends_older_contents_is_caught() {
    let broken = runs::<Stale>(2_000).expect_err("older contents");
    assert!(broken.contains("destination rule 4"), "{broken}");
}

#[test]
fn canary_a_source_that_forgets_frms_is_caught() {
    let broken = runs::<FewFrms>(2_000).expect_err("no FRMs");
    assert!(broken.contains("an FRM is due"), "{broken}");
}

#[test]
fn rounds_that_leave_at_once_are_those_that_leave_cell_by_cell() {
    const TEN_US: Duration = Duration::from_us(10);
    let parameters = AbrParameters { nrm: 8, ..AbrParameters::new(CellRate::new(100_000.0)) };
    let few = |crm| AbrParameters { crm: Some(crm), ..parameters.clone() };
    // FRMs that leave before the sixth or the seventh change ACR, and so does one after the ADTF.
    let soon = AbrParameters { adtf: TEN_US * 7, ..parameters.clone() };
    for (parameters, before, expected) in
        [(parameters.clone(), 7, 5), (parameters.clone(), 6, 0), (few(6), 7, 0), (few(7), 7, 5), (soon, 7, 0)]
    {
        let [mut slow, mut fast] = [(); 2].map(|()| Source::new(parameters.clone(), &UiliConfig::None));
        for source in [&mut slow, &mut fast] {
            (0..=before).for_each(|number| _ = source.transmit(Time::ZERO + TEN_US * number, true));
        }
        let at = Time::ZERO + TEN_US * (before + 1);
        let rounds = fast.whole_rounds(at, at + TEN_US * 47);
        assert_eq!(rounds, expected, "{parameters:?}, {before}");
        if rounds > 0 {
            let sent: Vec<_> =
                (0..40).map(|number| slow.transmit(at + TEN_US * number, true).expect("a cell")).collect();
            let first = Emission::ForwardRm(fast.transmit_rounds(rounds, at));
            let is_frm = |number: usize| number.is_multiple_of(8);
            let expected = (0..40).map(|number| if is_frm(number) { first } else { Emission::Data });
            assert!(expected.eq(sent));
            assert_eq!(format!("{slow:?}"), format!("{fast:?}"));
        }
    }
    let mut answering = Source::new(AbrParameters::new(CellRate::new(100_000.0)), &UiliConfig::None);
    (0..32).for_each(|number| _ = answering.transmit(Time::ZERO + TEN_US * number, true));
    let (at, until) = (Time::ZERO + TEN_US * 32, Time::ZERO + TEN_US * 1_000);
    assert_eq!((answering.whole_rounds(at, at), answering.whole_rounds(at, until)), (0, 30));
    assert_eq!(answering.turn_around(frm(1.0)), None);
    assert_eq!(answering.whole_rounds(at, until), 0, "a BRM leaves among them");
}
