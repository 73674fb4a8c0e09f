//! Rows of results about MPEG-2 transport streams at their receivers.

use cellrate_engine::decoder::{Decoder, ReferenceRow, TransportStreamSummary};
use cellrate_engine::random::{Owner, Random, Stream};
use cellrate_engine::traffic::Mpeg2Pdus;
use cellrate_proto::Time;
use cellrate_scenario::{Scenario, Traffic};

use crate::assembly::Assembly;
use crate::cell::SEQUENCE_MASK;
use cellrate_engine::names::flow_name;

/// A row per direction with a transport stream, and the clock references that were asked for. What comes before `from`
/// is in the list alone.
pub(crate) fn collect(
    scenario: &Scenario,
    assembly: &Assembly,
    from: Time,
    end: Time,
) -> (Vec<TransportStreamSummary>, Vec<ReferenceRow>) {
    let (mut summaries, mut list) = (Vec::new(), Vec::new());
    for flow in scenario.flows() {
        let Some(Traffic::Mpeg2(model)) = &scenario.flow(flow).traffic else { continue };
        let mut decoder = Decoder::new(&flow_name(scenario, flow), model, from);
        // The encoder depends on nothing of the network: its PDUs are made once more.
        let random = Random::new(scenario.seed, Stream::Traffic(Owner::flow(scenario, flow)));
        let mut pdus = Mpeg2Pdus::new(model, random);
        let interface = assembly.receiver(flow).interface.as_ref();
        if let Some((interface, datagrams)) =
            interface.and_then(|interface| Some((interface, interface.datagrams.as_ref()?)))
        {
            let mut reassembly = interface.reassembly.clone();
            let mut last = 0;
            // Those that have not come whole: lost, if one behind them does.
            let mut missing = Vec::new();
            for &(number, at) in datagrams.ends() {
                for pdu in pdus.by_ref() {
                    last += u64::from(pdu.cells);
                    if last < number {
                        missing.push(pdu);
                        continue;
                    }
                    if reassembly.confirm((number & SEQUENCE_MASK) as u32, pdu.cells) {
                        missing.drain(..).for_each(|lost| decoder.on_loss(&lost));
                        decoder.on_pdu(at, &pdu);
                    } else {
                        missing.push(pdu);
                    }
                    break;
                }
            }
        }
        let (summary, references) = decoder.finish(end);
        summaries.push(summary);
        list.extend(references);
    }
    (summaries, list)
}
