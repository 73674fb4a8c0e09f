//! The series of each cluster.

use cellrate_engine::segments::VirtualEnd;
use cellrate_scenario::{FlowSource, Quantity, Scenario};

use super::place::Place;
use cellrate_engine::sampler::{Subject, Track};

/// The series of each cluster.
pub(super) fn build_tracks(
    scenario: &Scenario,
    ports: &[Option<Place>],
    endpoints: &[Place],
    virtual_ends: &[(VirtualEnd, Place)],
    clusters: usize,
) -> Vec<Vec<Track>> {
    let mut tracks: Vec<Vec<Track>> = (0..clusters).map(|_| Vec::new()).collect();
    for (number, probe) in scenario.probes.iter().enumerate() {
        let mut add = |place: Place, subject: Subject| {
            tracks[place.cluster as usize].push(Track::new(number, subject, probe.every, scenario.duration));
        };
        match probe.quantity {
            Quantity::Port { quantity, port } => {
                if let Some(place) = ports[port.index()] {
                    add(place, Subject::Port(quantity, place.index));
                }
            }
            // They are counted for all clusters together.
            Quantity::Demand { .. } => {}
            Quantity::VirtualSource { quantity, flow, switch } => {
                let at = |(end, _): &&(VirtualEnd, Place)| (end.flow, end.switch) == (flow, switch);
                if let Some(&(_, place)) = virtual_ends.iter().find(at) {
                    add(place, Subject::Sender(quantity, place.index));
                }
            }
            Quantity::Flow { quantity, flow } => match quantity.source() {
                FlowSource::Receiver => {
                    let place = endpoints[flow.other().index()];
                    add(place, Subject::Receiver(quantity, place.index));
                }
                FlowSource::Network => {
                    for cluster in 0..clusters as u32 {
                        add(Place { cluster, index: 0 }, Subject::Drops(flow));
                    }
                }
                FlowSource::RmCells | FlowSource::Sender | FlowSource::SenderTcp => {
                    let place = endpoints[flow.index()];
                    add(place, Subject::Sender(quantity, place.index));
                }
            },
        }
    }
    tracks
}
