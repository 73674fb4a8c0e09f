//! Commands that set up a namespace: kernel settings, then addresses, routes and the device.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use cellrate_scenario::HostSettings;

use super::{DEVICE, HostError};

/// Sets up the namespace of the calling thread.
pub(super) fn apply(settings: &HostSettings) -> Result<(), HostError> {
    for (file, value) in kernel_settings(settings) {
        if let Err(error) = fs::write(&file, &value) {
            // A kernel built without IPv6 has nothing to switch off.
            if error.kind() == io::ErrorKind::NotFound && file.contains("/ipv6/") {
                continue;
            }
            return Err(HostError::Setting { file, value, error });
        }
    }
    let commands = ip_commands(settings);
    let mut ip = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(HostError::Ip)?;
    if let Some(mut stdin) = ip.stdin.take() {
        stdin.write_all(commands.as_bytes()).map_err(HostError::Ip)?;
    }
    let done = ip.wait_with_output().map_err(HostError::Ip)?;
    if done.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    Err(HostError::Refused { commands, output })
}

/// Files below /proc/sys, which show the namespace of the thread that opens them, and what they are set to.
fn kernel_settings(settings: &HostSettings) -> Vec<(String, String)> {
    let tcp = &settings.tcp;
    let flag = |on: bool| if on { "1" } else { "0" }.to_string();
    let mut list = vec![
        // Neighbour and router messages of IPv6 would be traffic beside that of the scenario.
        ("ipv6/conf/all/disable_ipv6", "1".to_string()),
        ("ipv6/conf/default/disable_ipv6", "1".to_string()),
        // A connection must not begin with what one before it found out.
        ("ipv4/tcp_no_metrics_save", "1".to_string()),
        ("ipv4/tcp_mtu_probing", "0".to_string()),
        ("ipv4/tcp_sack", flag(tcp.sack)),
        ("ipv4/tcp_timestamps", flag(tcp.timestamps)),
    ];
    if let Some(window) = tcp.receive_window {
        // The kernel charges a buffer with more than the payload: up to four times, with short segments.
        let room = (window.0 * 4).max(131_072);
        list.push(("ipv4/tcp_rmem", format!("4096 {room} {room}")));
        // It would raise the window that the route gives to what the buffer has room for.
        list.push(("ipv4/tcp_moderate_rcvbuf", "0".to_string()));
    }
    if let Some(buffer) = tcp.send_buffer {
        list.push(("ipv4/tcp_wmem", format!("4096 {0} {0}", buffer.0)));
    }
    list.into_iter().map(|(file, value)| (format!("/proc/sys/net/{file}"), value)).collect()
}

/// A command a line, for `ip -batch`.
///
/// The congestion control stands at the route: inside a namespace the kernel allows none but reno as the
/// default (EPERM), but takes whatever it has loaded with a route or a socket.
fn ip_commands(settings: &HostSettings) -> String {
    let HostSettings { address, mtu, transmit_queue, tcp, adapter_tcp, .. } = settings;
    let mut text = format!(
        "link set dev lo up\n\
         link set dev {DEVICE} mtu {} txqueuelen {transmit_queue} up\n\
         address add {address}/32 dev {DEVICE}\n\
         route add default dev {DEVICE} src {address} congctl {}",
        mtu.0, tcp.congestion_control
    );
    let mut add = |word: &str, value: Option<u64>| {
        if let Some(value) = value {
            let _ = write!(text, " {word} {value}");
        }
    };
    add("window", tcp.receive_window.map(|window| window.0));
    add("advmss", tcp.mss.map(|mss| mss.0));
    add("initcwnd", tcp.initial_window.map(u64::from));
    // The adapter delays what the host sends at once.
    add("quickack", (!tcp.delayed_ack || adapter_tcp.delayed_ack.is_some()).then_some(1));
    if let Some(rto) = tcp.minimum_rto {
        let _ = write!(text, " rto_min {}ms", rto.as_ps() / 1_000_000_000);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::{Duration, Octets};
    use cellrate_scenario::DelayedAck;
    use std::sync::Arc;

    #[test]
    fn a_host_without_wishes_gets_reno_by_its_route() {
        let commands = ip_commands(&HostSettings::of_host(1));
        assert_eq!(
            commands.lines().collect::<Vec<_>>(),
            [
                "link set dev lo up",
                "link set dev atm0 mtu 9180 txqueuelen 1000 up",
                "address add 10.0.0.2/32 dev atm0",
                "route add default dev atm0 src 10.0.0.2 congctl reno",
            ]
        );
        let files = kernel_settings(&HostSettings::of_host(1));
        assert!(files.contains(&("/proc/sys/net/ipv4/tcp_no_metrics_save".into(), "1".into())));
        assert!(!files.iter().any(|(file, _)| file.contains("mem")), "{files:?}");
    }

    #[test]
    fn a_host_whose_adapter_delays_acks_sends_them_at_once() {
        let mut settings = HostSettings::of_host(0);
        settings.adapter_tcp.delayed_ack = Some(DelayedAck::Timer(Duration::from_ms(50)));
        assert!(ip_commands(&settings).ends_with("congctl reno quickack 1\n"));
    }

    #[test]
    fn every_wish_reaches_the_kernel() {
        let mut settings = HostSettings::of_host(0);
        let tcp = Arc::make_mut(&mut settings.tcp);
        tcp.congestion_control = "cubic".into();
        tcp.receive_window = Some(Octets(262_144));
        tcp.send_buffer = Some(Octets(100_000));
        tcp.mss = Some(Octets(1000));
        tcp.initial_window = Some(1);
        tcp.delayed_ack = false;
        tcp.minimum_rto = Some(Duration::from_ms(400));
        tcp.sack = false;
        let route = ip_commands(&settings).lines().last().unwrap_or_default().to_string();
        assert_eq!(
            route,
            "route add default dev atm0 src 10.0.0.1 congctl cubic window 262144 advmss 1000 initcwnd 1 quickack 1 rto_min 400ms"
        );
        let files = kernel_settings(&settings);
        for (file, value) in [
            ("tcp_rmem", "4096 1048576 1048576"),
            ("tcp_moderate_rcvbuf", "0"),
            ("tcp_wmem", "4096 100000 100000"),
            ("tcp_sack", "0"),
        ] {
            assert!(files.contains(&(format!("/proc/sys/net/ipv4/{file}"), value.into())), "{files:?}");
        }
    }
}
