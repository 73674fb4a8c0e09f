//! Networks that are run, against closed forms, published figures and one another: all in one binary, since to link one
//! takes longer than to run most of them.

#[path = "../plain/mod.rs"]
mod plain;
#[path = "../random_world/mod.rs"]
mod random_world;
#[path = "../world/mod.rs"]
mod world;

mod algorithms;
mod becn;
mod both_ways;
mod changing;
mod channels;
mod conditioning;
mod congested;
mod conservation;
mod custom_algorithms;
mod diagnoses;
mod ecn;
mod equivalent;
mod fingerprints;
mod flows;
mod frames;
mod gfr;
mod in_band;
mod linux;
mod loopback;
mod mpeg2;
mod ns3;
mod pages;
mod phase_effects;
mod police;
mod queueing;
mod request_response;
mod segments;
mod small_world;
mod steps;
mod tap;
mod tcp;
mod tcp_grid;
mod ties;
mod trees;
mod unsettled;
mod watching;
mod weighted_shares;
