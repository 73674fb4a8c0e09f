//! The nodes and the applications of a scenario.

use cellrate_scenario::{Application, ApplicationKind, NodeKind, Ready, Scenario as Resolved};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::scenario::Scenario;

/// Name, whether it is a host, and the address for datagrams, of every node.
type NodeRow = (String, bool, Option<String>);

/// The nodes of a scenario, in their order.
#[pyfunction]
pub fn nodes(py: Python<'_>, scenario: &Scenario) -> PyResult<Vec<NodeRow>> {
    let scenario = scenario.resolved(py)?;
    let address = |number: usize| scenario.live.addresses.get(number).copied().flatten();
    let rows = scenario.nodes.iter().enumerate().map(|(number, node)| {
        (node.name.clone(), node.kind == NodeKind::Host, address(number).map(|address| address.to_string()))
    });
    Ok(rows.collect())
}

/// The applications of a scenario as JSON text.
#[pyfunction]
pub fn applications(py: Python<'_>, scenario: &Scenario) -> PyResult<String> {
    let scenario = scenario.resolved(py)?;
    let list: Value = scenario.applications.iter().map(|one| application(one, &scenario)).collect();
    Ok(list.to_string())
}

fn application(one: &Application, scenario: &Resolved) -> Value {
    let node = |index: cellrate_scenario::NodeIndex| &scenario.node(index).name;
    json!({
        "name": one.name,
        "kind": one.kind.name(),
        "host": node(one.host),
        "peer": one.peer.map(node),
        "start_s": one.start.as_secs_f64(),
        "end_s": one.end.as_secs_f64(),
        "settings": settings(&one.kind),
    })
}

/// The unit ends the key, as in results.
fn settings(kind: &ApplicationKind) -> Value {
    match kind {
        ApplicationKind::Ftp(ftp) => json!({ "size_octets": ftp.size.map(|size| size.0) }),
        ApplicationKind::Web(web) => json!({
            "pages": web.pages,
            "html_octets": web.html.0,
            "image_octets": web.image.0,
            "gap_s": web.gap.as_secs_f64(),
        }),
        ApplicationKind::Video(video) => json!({
            "rate_bps": video.rate.as_bps(),
            "frame_rate": video.frame_rate,
            "send_every": video.send_every,
            "acr_share": video.follow_acr,
            "buffer_octets": video.buffer.0,
            "prebuffer_s": video.prebuffer.as_secs_f64(),
            "wait": video.wait,
        }),
        ApplicationKind::Voice(voice) => json!({
            "packet_s": voice.packet.as_secs_f64(),
            "redundancy": voice.redundancy,
            "playout_delay_s": voice.playout_delay.as_secs_f64(),
        }),
        ApplicationKind::Iperf3(iperf3) => json!({
            "udp": iperf3.udp,
            "rate_bps": iperf3.rate.map(|rate| rate.as_bps()),
            "streams": iperf3.streams,
            "length_octets": iperf3.length.map(|length| length.0),
        }),
        ApplicationKind::Ping(ping) => json!({
            "interval_s": ping.interval.as_secs_f64(),
            "size_octets": ping.size.0,
        }),
        ApplicationKind::Player(player) => json!({
            "by": player.by,
            "qualities_bps": player.qualities.iter().map(|rate| rate.as_bps()).collect::<Vec<_>>(),
            "share": player.share,
            "segment_s": player.segment.as_secs_f64(),
            "buffer_s": player.buffer.as_secs_f64(),
            "prebuffer_s": player.prebuffer.as_secs_f64(),
            "pace": player.sending.pace,
            "congestion_control": player.sending.congestion_control,
        }),
        ApplicationKind::Download(download) => json!({
            "size_octets": download.size.0,
            "part_octets": download.part.0,
            "pace": download.sending.pace,
            "congestion_control": download.sending.congestion_control,
        }),
        ApplicationKind::Command(command) => {
            let ready = command.ready.as_ref().map(|ready| match ready {
                Ready::Port(port) => json!({ "port": port }),
                Ready::Pattern(pattern) => json!({ "pattern": pattern }),
                Ready::File(file) => json!({ "file": file }),
            });
            json!({
                "words": command.words,
                "background": command.background,
                "ready": ready,
                "ready_within_s": command.ready_within.as_secs_f64(),
            })
        }
    }
}
