//! Machinery that drives the protocol values in either world, the simulated and the live one, apart from its clock:
//! traffic, randomness, the order of events, output ports with their queues, what a line loses, ends of connections,
//! what a run is given that is not built in, where switches segment control loops, originate BRMs and police cells,
//! what a source shapes and marks, OAM loopback, channels of virtual paths, what a port learns at set-up, series of
//! samples and of changes, and of results the names of things, the rows that both have and what is declared of their
//! columns; and how much memory a run may still take.

// Derives name this crate, here too.
extern crate self as cellrate_engine;

pub mod acr_integral;
pub mod becn;
pub mod beyond_lines;
pub mod branch_point;
pub mod channels;
pub mod conditioner;
pub mod connection_end;
pub mod cost;
pub mod declared;
pub mod decoder;
pub mod demand;
pub mod frame_discards;
pub mod histogram;
pub mod line;
pub mod loopback;
pub mod memory;
pub mod minima;
pub mod names;
pub mod noise;
pub mod pacer;
pub mod per_vc_queue;
pub mod plugins;
pub mod policing;
pub mod priority;
pub mod processing;
pub mod quantities;
pub mod random;
pub mod recorder;
pub mod ring;
pub mod rows;
pub mod sampler;
pub mod schedule;
pub mod segments;
pub mod served;
pub mod set_up;
pub mod shares;
pub mod supply;
pub mod switch_port;
pub mod topology;
pub mod tournament;
pub mod traffic;
pub mod virtual_source;
pub mod waiting;
pub mod wide;
