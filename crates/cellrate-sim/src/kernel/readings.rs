//! Ports and ends of connections, as series read them.

use std::collections::BTreeMap;

use cellrate_engine::connection_end::ConnectionEnd;
use cellrate_engine::quantities::{Arrivals, EndReading, PortReading};
use cellrate_engine::sampler::Readings;
use cellrate_engine::switch_port::SwitchPort;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{FlowIndex, FlowQuantity, PortQuantity};

use crate::endpoint::Endpoint;
use crate::kernel::ports::{ABR, GUARANTEED, Port, Queues, UBR};
use crate::traffic::Supply;
use crate::transport::Client;

/// A cluster, as far as series look at it.
pub(crate) struct ClusterReadings<'a> {
    pub ports: &'a mut [Port],
    pub endpoints: &'a mut [Endpoint],
    /// Cells of each direction lost in the cluster.
    pub dropped: &'a BTreeMap<FlowIndex, u64>,
}

impl Readings for ClusterReadings<'_> {
    type Port = Port;
    type End = Endpoint;

    fn port(&mut self, place: u32) -> &mut Port {
        &mut self.ports[place as usize]
    }

    fn end(&mut self, place: u32) -> &mut Endpoint {
        &mut self.endpoints[place as usize]
    }

    fn dropped(&self, flow: FlowIndex) -> u64 {
        self.dropped.get(&flow).copied().unwrap_or(0)
    }
}

impl EndReading for Endpoint {
    type Supply = Supply;

    fn end(&self) -> &ConnectionEnd<Supply> {
        &self.end
    }

    fn end_mut(&mut self) -> &mut ConnectionEnd<Supply> {
        &mut self.end
    }

    fn of_tcp(&self, quantity: FlowQuantity) -> Option<f64> {
        let stack = &self.interface.as_ref()?.stack;
        match quantity {
            FlowQuantity::Cwnd => {
                Some(stack.all_senders().map(|sender| sender.window().0).sum::<u64>() as f64)
            }
            FlowQuantity::Rtt => {
                let measured: Vec<f64> = stack
                    .all_senders()
                    .filter_map(|sender| sender.rto().smoothed().map(|span| span.as_secs_f64()))
                    .collect();
                (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64)
            }
            FlowQuantity::Retransmissions => Some(stack.retransmitted() as f64),
            FlowQuantity::Responses => Some(stack.clients().iter().map(Client::complete).sum::<u64>() as f64),
            FlowQuantity::ResponseTime => {
                let latest = stack.clients().iter().max_by_key(|client| client.last_complete())?;
                Some(latest.last_response().as_secs_f64())
            }
            FlowQuantity::Acr
            | FlowQuantity::SourceRate
            | FlowQuantity::SourceQueue
            | FlowQuantity::ForwardRm
            | FlowQuantity::BackwardRm
            | FlowQuantity::Received
            | FlowQuantity::Drops
            | FlowQuantity::LoopbackTime
            | FlowQuantity::Delay
            | FlowQuantity::MaxDelay => unreachable!("not of TCP"),
        }
    }
}

impl PortReading for Port {
    fn total_queue(&self, now: Time) -> u64 {
        Port::total_queue(self, now).0
    }

    fn queue(&self, priority: usize, now: Time) -> u64 {
        Port::queue(self, priority, now).0
    }

    fn busy_ps(&self, now: Time) -> u64 {
        Port::busy_ps(self, now)
    }

    fn dropped(&self) -> u64 {
        Port::dropped(self)
    }

    fn figure(&self, place: usize) -> f64 {
        self.metric(place)
    }

    fn bring_figures_up_to(&mut self, now: Time) {
        if self.metered {
            self.end_intervals_before(now);
        }
    }

    fn take_ended(&mut self) -> Option<Vec<(Time, Vec<f64>)>> {
        Port::take_ended(self)
    }

    fn keeps_arrivals(&self) -> bool {
        Port::keeps_arrivals(self)
    }

    fn arrivals(&mut self) -> Option<(&mut Vec<Arrivals>, Duration)> {
        let Queues::Fifo(fifo) = &mut self.queues else { return None };
        let cell_time = fifo.cell_time();
        Some((fifo.untold()?, cell_time))
    }

    fn draining(&self, quantity: PortQuantity) -> Option<(Duration, Time)> {
        let fifo = self.fifo()?;
        let only = usize::from(self.only_priority);
        let is_its_queue = match quantity {
            PortQuantity::Queue => true,
            PortQuantity::GuaranteedQueue => only == GUARANTEED,
            PortQuantity::AbrQueue => only == ABR,
            PortQuantity::UbrQueue => only == UBR,
            // Any other quantity is read when it is due.
            _ => false,
        };
        is_its_queue.then(|| (fifo.cell_time(), fifo.busy_until()))
    }
}
