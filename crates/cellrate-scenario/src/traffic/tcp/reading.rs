//! TCP as a checked table describes it.

use cellrate_proto::Duration;

use super::config::{
    CongestionControl, MAX_MSS, MAX_WINDOW, Recovery, SlowStart, TIMESTAMPS_OCTETS, TcpConfig,
};
use super::presets::Preset;
use crate::keys::MOST_HEADER;
use crate::text::error::{Fault, Place};
use crate::text::tree::Table;
use crate::text::written::Written;

pub(super) fn config(place: Place, table: &Table, preset: &Preset) -> Result<TcpConfig, Fault> {
    let config = TcpConfig::read(&Written::new(table, place), &preset.tcp())?;
    check_config(&config, table, place)?;
    Ok(config)
}

/// Checks that the values of TCP fit together.
fn check_config(config: &TcpConfig, table: &Table, place: Place) -> Result<(), Fault> {
    let at = |keys: &[&str]| keys.iter().find_map(|key| table.node(key)).map_or(place, |node| node.place);
    let refuse = |keys: &[&str], message: String, remedy: &str| Err(Fault::new(at(keys), message, remedy));
    check_segments(config, &refuse)?;
    check_mechanisms(config, &refuse)?;
    check_timeout(config, &refuse)
}

/// An error at the first of some keys that is given: keys, message, remedy.
type Refuse<'a> = &'a dyn Fn(&[&str], String, &str) -> Result<(), Fault>;

/// Checks octets: segments, headers and windows.
fn check_segments(config: &TcpConfig, refuse: Refuse<'_>) -> Result<(), Fault> {
    let TcpConfig { mss, header, window, initial_window, .. } = *config;
    if mss.0 == 0 || mss.0 > MAX_MSS {
        return refuse(&["mss"], format!("mss is {mss}"), "It must be from 1 to 65000 octets");
    }
    if config.timestamps && mss <= TIMESTAMPS_OCTETS {
        let message = format!("mss is {mss}, and timestamps take {TIMESTAMPS_OCTETS} of it");
        return refuse(
            &["mss", "timestamps"],
            message,
            "Write an mss above 12 octets, or timestamps = false",
        );
    }
    if config.timestamps && header.0 > MOST_HEADER - TIMESTAMPS_OCTETS.0 {
        let message = format!("header is {header}, and timestamps take {TIMESTAMPS_OCTETS} more");
        return refuse(&["header"], message, "It must be at most 108 octets with timestamps");
    }
    if header.0 > MOST_HEADER {
        return refuse(&["header"], format!("header is {header}"), "It must be at most 120 octets");
    }
    if window.0 > MAX_WINDOW {
        return refuse(&["window"], format!("window is {window}"), "It must be at most 1 GiB");
    }
    if !config.window_scaling && window.0 > 0xffff {
        let remedy = "Write at most 65535 octets, or window_scaling = true";
        return refuse(&["window"], format!("window is {window} without window scaling"), remedy);
    }
    if config.offered_window() < mss {
        let message = format!("the window that is offered, {}, is below mss, {mss}", config.offered_window());
        return refuse(&["window", "mss"], message, "Write a window of one segment or more");
    }
    if initial_window < mss {
        let message = format!("initial_window is {initial_window}, and mss is {mss}");
        return refuse(&["initial_window", "mss"], message, "Write one segment or more");
    }
    Ok(())
}

/// Checks that each mechanism has the one that it needs.
fn check_mechanisms(config: &TcpConfig, refuse: Refuse<'_>) -> Result<(), Fault> {
    let timeout = config.timeout;
    if config.congestion_control == CongestionControl::Dctcp && !config.ecn {
        let message = "congestion_control = \"dctcp\" needs ecn = true: it acts on marks".to_owned();
        return refuse(
            &["ecn", "congestion_control"],
            message,
            "Write ecn = true, or another congestion_control",
        );
    }
    let by_sack =
        [("prr", config.rate_reduction.is_some(), "\"none\""), ("rack_tlp", config.rack_tlp, "false")];
    for (key, given, without) in by_sack.into_iter().filter(|_| config.recovery != Recovery::Sack) {
        if given {
            let message = format!("{key} needs recovery = \"sack\": it goes by selective ACKs");
            let remedy = format!("Write recovery = \"sack\", or {key} = {without}");
            return refuse(&[key, "recovery"], message, &remedy);
        }
    }
    if config.slow_start != SlowStart::Standard && !config.timestamps {
        let message = "slow_start other than \"standard\" needs timestamps = true: it takes a round trip from every ACK".to_owned();
        let remedy = "Write timestamps = true, or slow_start = \"standard\"";
        return refuse(&["slow_start", "timestamps"], message, remedy);
    }
    if config.slow_start != SlowStart::Standard && timeout.granularity > Duration::from_ms(1) {
        let message =
            format!("slow_start looks for delays of 4 ms, and timer_granularity is {}", timeout.granularity);
        let remedy = "It must be at most 1 ms, or slow_start = \"standard\"";
        return refuse(&["timer_granularity", "slow_start"], message, remedy);
    }
    Ok(())
}

/// Checks the clock and the bounds of the retransmission timeout.
fn check_timeout(config: &TcpConfig, refuse: Refuse<'_>) -> Result<(), Fault> {
    let timeout = config.timeout;
    let granularity = timeout.granularity;
    if granularity < Duration::from_us(1) || granularity > Duration::from_secs(1) {
        let message = format!("timer_granularity is {granularity}");
        return refuse(&["timer_granularity"], message, "It must be from 1 us to 1 s");
    }
    if timeout.minimum > timeout.maximum {
        let message =
            format!("minimum_rto is {}, above maximum_rto, which is {}", timeout.minimum, timeout.maximum);
        return refuse(&["minimum_rto", "maximum_rto"], message, "Write a larger maximum_rto");
    }
    Ok(())
}
