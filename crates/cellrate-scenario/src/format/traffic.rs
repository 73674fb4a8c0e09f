//! The keys of traffic.

use super::custom::{NAME_KEY, PARAMETERS_KEY};
use super::timing::{END_KEY, PERIOD, START_KEY};
use super::{CELLS, Dimension, Kind, POSITIVE_RATE, RATE, Shape, TIME, Tagged};
use super::{frames, key, required, tcp, video};

const WINDOW: Shape = Shape {
    name: "window",
    about: "A window of greedy traffic.",
    keys: &[
        START_KEY,
        key(
            "end",
            TIME,
            "never",
            "Data is gone from this instant on; what is unsent is dropped by the application.",
        ),
        key("cells", CELLS, "no limit", "At most so many data cells."),
    ],
};

pub(super) const TRAFFIC: Tagged = Tagged {
    name: "traffic",
    default: Some("greedy"),
    variants: &[
        (
            "greedy",
            Shape {
                name: "greedy",
                about: "Always more data, as fast as the sender may; in windows, or in the one window of start, end and cells.",
                keys: &[
                    key(
                        "windows",
                        Kind::List(&Kind::Table(&WINDOW), 1),
                        "always",
                        "When there is data; in order, apart.",
                    ),
                    START_KEY,
                    END_KEY,
                    key("cells", CELLS, "no limit", "At most so many data cells."),
                ],
            },
        ),
        (
            "limited",
            Shape {
                name: "limited",
                about: "Data at no more than a rate that changes in time, without backlog.",
                keys: &[
                    key(
                        "steps",
                        Kind::List(&Kind::Pair(&TIME, &Kind::Or(&[RATE, Kind::Choice(&["unlimited"])])), 1),
                        "required: this or rate",
                        "[instant, rate] from each instant on, in order; before the first nothing is sent.",
                    ),
                    key("rate", RATE, "required: this or steps", "One rate from the start on."),
                ],
            },
        ),
        (
            "constant",
            Shape {
                name: "constant",
                about: "One cell every 1/rate; what the sender may not yet send waits.",
                keys: &[required("rate", POSITIVE_RATE, "Rate of data cells."), START_KEY, END_KEY],
            },
        ),
        (
            "on-off",
            Shape {
                name: "on-off",
                about: "On and off by turns, the first cell at the very start of each on period: one of length t has t * rate cells, rounded up. What the sender may not yet send waits.",
                keys: &[
                    required("rate", POSITIVE_RATE, "Rate of data cells while on."),
                    required("on", PERIOD, "How long it is on each time."),
                    required("off", PERIOD, "How long it is off each time."),
                    START_KEY,
                    END_KEY,
                ],
            },
        ),
        (
            "timed",
            Shape {
                name: "timed",
                about: "So many cells at each of these instants.",
                keys: &[required(
                    "cells",
                    Kind::List(&Kind::Pair(&TIME, &Kind::Integer(1, u32::MAX as i64)), 1),
                    "[instant, number of cells], in order.",
                )],
            },
        ),
        (
            "request-response",
            Shape {
                name: "request-response",
                about: "A client sends requests, the server at the other end of the path answers each when it is whole, and the next cycle begins after the last answer (paper uili, section 7.2.1). The reverse direction carries the answers. Nothing is sent again: a burst is whole with its last cell, whatever was lost of it before, and a conversation whose last cell of a burst is lost stands still from then on.",
                keys: &[
                    required(
                        "response",
                        Kind::Positive(Dimension::Cells),
                        "Length of a response, 1 cell or more.",
                    ),
                    key(
                        "request",
                        Kind::Positive(Dimension::Cells),
                        "\"16 cells\"",
                        "Length of a request, 1 cell or more.",
                    ),
                    key("requests", Kind::Integer(1, 1_000_000), "1", "Requests in a cycle."),
                    key(
                        "request_gap",
                        TIME,
                        "\"0 ms\"",
                        "From the end of one request to the next in its cycle.",
                    ),
                    key(
                        "cycle_gap",
                        TIME,
                        "\"1 ms\"",
                        "From the arrival of a cycle's last response to the next cycle.",
                    ),
                    key("server_time", TIME, "\"0 ms\"", "From the arrival of a request to its response."),
                    key(
                        "rate",
                        POSITIVE_RATE,
                        "pcr",
                        "Rate of the cells of a burst as the application hands it over.",
                    ),
                    key(
                        "record",
                        Kind::Integer(0, u32::MAX as i64),
                        "0",
                        "How many bursts of each direction the results list one by one.",
                    ),
                    START_KEY,
                    key("end", TIME, "never", "No cycle begins at or after this."),
                ],
            },
        ),
        ("tcp", tcp::TCP),
        ("video", video::VIDEO),
        ("frames", frames::FRAMES),
        (
            "custom",
            Shape {
                name: "custom",
                about: "Traffic that is not built in. The run is given it by its name (docs/guides/sources.md).",
                keys: &[NAME_KEY, PARAMETERS_KEY],
            },
        ),
        (
            "none",
            Shape {
                name: "none",
                about: "No data of its own; for abr, RM cells only. In a live run the packets that the two hosts send each other.",
                keys: &[],
            },
        ),
    ],
};
