//! Rows of results about pages that were fetched over TCP.

use cellrate_proto::Time;
use cellrate_scenario::{ConnectionIndex, FlowIndex, Pages, Scenario};

use super::{ExchangeRow, ExchangeSummary, PageSummary};
use crate::assembly::Assembly;
use crate::transport::{Adapter, Client, Exchange, Server};

/// Rows of all clients.
#[derive(Default)]
pub(crate) struct Rows {
    /// One per client and object of its page.
    pub exchanges: Vec<ExchangeSummary>,
    /// One per client.
    pub pages: Vec<PageSummary>,
    /// Single objects, as many as were asked for.
    pub list: Vec<ExchangeRow>,
}

/// Rows of the clients of `scenario`.
pub(crate) fn collect(scenario: &Scenario, assembly: &Assembly) -> Rows {
    let mut rows = Rows::default();
    for (index, connection) in (0..).map(ConnectionIndex).zip(&scenario.connections) {
        let forward = FlowIndex::of(index, false);
        let [near, far] = [assembly.sender(forward), assembly.receiver(forward)];
        let (Some(pages), Some(at_clients), Some(at_servers), Some(own), Some(other)) = (
            connection.pages(),
            &near.interface,
            &far.interface,
            near.end.supply.adapter(),
            far.end.supply.adapter(),
        ) else {
            continue;
        };
        let both = at_clients.stack.clients().iter().zip(at_servers.stack.servers());
        for (number, (client, server)) in (1..=u16::MAX).zip(both) {
            let of = Of { vc: &connection.name, number, pages };
            rows.exchanges.extend(of.exchanges(client));
            rows.pages.push(of.page(client));
            rows.list.extend(of.singles(client, server, [own, other]));
        }
    }
    rows
}

/// A client by its name.
struct Of<'a> {
    vc: &'a str,
    /// From 1 on.
    number: u16,
    pages: &'a Pages,
}

impl Of<'_> {
    fn exchanges(&self, client: &Client) -> impl Iterator<Item = ExchangeSummary> {
        let objects = self.pages.objects.iter().zip(client.of_objects());
        (1..).zip(objects).map(|(number, (object, [responses, cells]))| ExchangeSummary {
            vc: self.vc.to_owned(),
            client: self.number,
            object: number,
            request_octets: object.request.0,
            response_octets: object.response.0,
            count: responses.count(),
            mean_response_s: responses.mean_s(),
            deviation_response_s: responses.deviation_s(),
            p50_response_s: responses.quantile_s(0.5),
            p99_response_s: responses.quantile_s(0.99),
            max_response_s: responses.max_s(),
            mean_cell_response_s: cells.mean_s(),
            deviation_cell_response_s: cells.deviation_s(),
            p50_cell_response_s: cells.quantile_s(0.5),
            p99_cell_response_s: cells.quantile_s(0.99),
            max_cell_response_s: cells.max_s(),
        })
    }

    fn page(&self, client: &Client) -> PageSummary {
        let spans = client.of_pages();
        PageSummary {
            vc: self.vc.to_owned(),
            client: self.number,
            count: spans.count(),
            mean_load_s: spans.mean_s(),
            deviation_load_s: spans.deviation_s(),
            p50_load_s: spans.quantile_s(0.5),
            p99_load_s: spans.quantile_s(0.99),
            max_load_s: spans.max_s(),
        }
    }

    /// `adapters` are those of the client and of the server.
    fn singles(&self, client: &Client, server: &Server, adapters: [&Adapter; 2]) -> Vec<ExchangeRow> {
        let single = |(index, exchange): (usize, &Exchange)| {
            // What has left and was answered by nothing yet is still with the adapter.
            let departed =
                adapters[0].requests.iter().find(|(of, _)| of + 1 == self.number).map(|&(_, at)| at);
            let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
            ExchangeRow {
                vc: self.vc.to_owned(),
                client: self.number,
                connection: exchange.incarnation + 1,
                page: exchange.page + 1,
                object: exchange.object as u32 + 1,
                start_s: exchange.start.as_secs_f64(),
                opened_s: seconds(exchange.opened),
                request_cell_s: seconds(exchange.request_cell.or(departed)),
                request_delivered_s: seconds(server.requests().get(index).copied()),
                response_departed_s: seconds(
                    adapters[1].responses.get(&(self.number - 1, index as u32)).copied(),
                ),
                first_octet_s: seconds(exchange.first_octet),
                last_octet_s: seconds(exchange.last_octet),
                response_s: exchange.response_time().map(|span| span.as_secs_f64()),
                cell_response_s: exchange.cell_response_time().map(|span| span.as_secs_f64()),
            }
        };
        client.list().enumerate().map(single).collect()
    }
}
