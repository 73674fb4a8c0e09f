//! Request-response traffic from end to end: the cycle time is what the arithmetic of lines and rates says.

use crate::world::*;
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::{Category, RequestResponse, Traffic};

/// One request and one response of 16 cells; 1 ms between cycles.
fn conversation() -> RequestResponse {
    RequestResponse {
        request: 16,
        response: 16,
        requests: 1,
        request_gap: Duration::ZERO,
        cycle_gap: Duration::from_ms(1),
        server_time: Duration::ZERO,
        rate: OC3.to_cell_rate(),
        start: Time::ZERO,
        end: Time::NEVER,
        record: 1_000,
    }
}

/// A client and a server behind two switches, each line 1 ms.
fn world(category: Category, model: RequestResponse) -> World {
    let mut world = World::new(Duration::from_secs(1));
    world.delay = Duration::from_ms(1);
    let path = ["client", "sw1", "sw2", "server"];
    let traffic = Traffic::RequestResponse(model);
    match category {
        Category::Abr => world.abr("web", &path, traffic),
        _ => world.other("web", category, &path, traffic),
    };
    world
}

#[test]
fn a_cycle_without_rate_control_takes_two_bursts_two_paths_and_the_gap() {
    let result = world(Category::Ubr, conversation()).run();
    // One way: 16 cells onto the first line, two more hops for the last of them, 3 ms of propagation.
    let cell = OC3.cell_time().as_secs_f64();
    let one_way = 18.0 * cell + 0.003;
    let [requests, responses] = &result.summary.bursts[..] else { panic!("{:?}", result.summary.bursts) };
    assert_eq!((requests.vc.as_str(), requests.role, requests.size_cells), ("web", "request", 16));
    assert_eq!((responses.vc.as_str(), responses.role), ("web (back)", "response"));
    assert!((requests.mean_response_s.unwrap() - 16.0 * cell).abs() < 1e-9);
    assert!((requests.mean_throughput_bps.unwrap() / 149.76e6 - 1.0).abs() < 1e-6);
    // 1 s holds floor(1 / cycle) + 1 requests.
    let cycle = 2.0 * one_way + 0.001;
    assert_eq!(requests.count, (1.0 / cycle) as u64 + 1);
    let list = &result.summary.burst_list;
    assert_eq!(list.len() as u64, requests.count + responses.count);
    assert!((list[1].start_s - list[0].start_s - cycle).abs() < 1e-9, "{:?}", &list[..2]);
    assert!((list[0].delivery_s.unwrap() - one_way).abs() < 1e-9);
    let first_response = list.iter().find(|burst| burst.role == "response").unwrap();
    assert!((first_response.start_s - one_way).abs() < 1e-9, "{first_response:?}");
    assert!(result.summary.vcs.iter().all(|row| row.dropped == 0));
}

#[test]
fn an_abr_burst_leaves_at_acr() {
    // ICR = PCR/4 and nothing raises it: RIF is at its smallest. 16 cells and an FRM now and then, at that spacing.
    let mut world = world(Category::Abr, conversation());
    let connection = &mut world.scenario.connections[0];
    for flow in [&mut connection.forward, &mut connection.backward] {
        let parameters = parameters_of(flow).expect("abr");
        parameters.icr = CellRate::new(parameters.pcr.as_cells_per_s() / 4.0);
        parameters.rif = cellrate_proto::parameters::PowerOfTwo::from_negative_exponent(15).unwrap();
    }
    let result = world.run();
    for row in &result.summary.bursts {
        assert!(row.count > 100, "{row:?}");
        // 15 to 18 spacings of four cell times, and the last cell: 16 of 61 to 16 of 73 of the line rate.
        let share = row.mean_throughput_bps.unwrap() / 149.76e6;
        assert!(share > 16.0 / 73.0 && share < 16.0 / 61.0, "{share}");
    }
}

#[test]
fn nothing_is_listed_unless_asked_for() {
    let result = world(Category::Ubr, RequestResponse { record: 0, ..conversation() }).run();
    assert_eq!((result.summary.burst_list.len(), result.summary.bursts.len()), (0, 2));
    assert!(result.summary.bursts[0].count > 100);
}

#[test]
fn other_traffic_has_no_bursts() {
    let result = n_sources(1, Duration::from_us(10), Duration::from_ms(10)).run();
    assert!(result.summary.bursts.is_empty() && result.summary.burst_list.is_empty());
}
