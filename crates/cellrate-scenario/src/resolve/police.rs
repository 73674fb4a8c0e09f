//! Policers of connections: what they are held to, and where.

use cellrate_proto::policing::contract::{Contract, Definition};
use cellrate_proto::policing::dynamic::AbrContract;
use cellrate_proto::policing::frame::FrameContract;
use cellrate_proto::policing::usage::{Action, Rule, UsageConfig};
use cellrate_proto::{CellRate, Duration};

use super::network::Network;
use crate::format::{Conformance, DEFINITIONS, Method, Police};
use crate::model::{Category, Connection, Link, Policing, Sender};
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};
use crate::text::written::Written;

/// The tables `police` of the two directions of a connection, its `scr`, and its `mbs` and `mfs` \[cells\].
#[derive(Default)]
pub(super) struct Asked {
    tables: [Vec<Node>; 2],
    scr: Option<CellRate>,
    frames: [Option<u64>; 2],
}

/// MFS of a GFR connection that does not say it \[cells\]: the largest datagram of IP over ATM by default, 9180 octets,
/// with LLC/SNAP and the trailer of AAL5 (RFC 2225).
const MFS: u64 = 192;

impl Asked {
    /// Policers that a connection asks for, forward and backward.
    pub fn read(table: &Table, scr: Option<CellRate>) -> Result<Asked, Fault> {
        let reverse = table.node("reverse").and_then(Node::table);
        // One table, a list of them, or the word "off".
        let of = |table: &Table| -> Vec<Node> {
            let Some(node) = table.node("police") else { return Vec::new() };
            match node.list() {
                Some(list) => list.to_vec(),
                None => Some(node).filter(|node| node.table().is_some()).cloned().into_iter().collect(),
            }
        };
        let cells = |key: &str| optional(table, key, |node| check::integer(node, 1, i64::from(u32::MAX)));
        let frames = [cells("mbs")?, cells("mfs")?].map(|cells| cells.map(|cells| cells as u64));
        Ok(Asked { tables: [of(table), reverse.map(of).unwrap_or_default()], scr, frames })
    }
}

/// Gives every connection its policers, by the parameters that were agreed on at set-up.
pub(super) fn build<'a>(
    network: &Network,
    connections: &mut [Connection],
    asked: impl Iterator<Item = &'a Asked>,
) -> Result<(), Fault> {
    for (connection, asked) in connections.iter_mut().zip(asked) {
        for (backward, nodes) in [false, true].into_iter().zip(&asked.tables) {
            let mut places: Vec<Policing> = Vec::new();
            for node in nodes {
                let Some(table) = node.table() else { continue };
                let keys = Police::read(&Written::of(node))?;
                let reader = Reader { network, connection, backward, asked, node, table, keys };
                for policing in reader.policing()? {
                    if places.iter().any(|other| other.hop == policing.hop) {
                        return Err(reader.policed_twice(policing.hop));
                    }
                    places.push(policing);
                }
            }
            places.sort_by_key(|policing| policing.hop);
            connection.policing.extend(places);
        }
    }
    Ok(())
}

/// Reads one table.
struct Reader<'a> {
    network: &'a Network,
    connection: &'a Connection,
    backward: bool,
    asked: &'a Asked,
    node: &'a Node,
    table: &'a Table,
    keys: Police,
}

impl Reader<'_> {
    fn policing(&self) -> Result<Vec<Policing>, Fault> {
        let &Reader { connection, backward, .. } = self;
        let is_silent = !connection.carries_data(backward) && !connection.carries_packets();
        if connection.category != Category::Abr && is_silent {
            let message = "police needs cells to hold to the contract, and this direction carries none";
            return Err(Fault::new(self.node.place, message, "Leave it out, or give the direction traffic"));
        }
        let mut list = Vec::new();
        for hop in self.hops()? {
            let usage = self.usage(hop)?;
            check::configuration(usage.check(), |name| self.key(name), self.node.place)?;
            list.push(Policing { backward, hop, usage });
        }
        Ok(list)
    }

    /// The switch at the far end of `hop` has a policer by another table already.
    fn policed_twice(&self, hop: usize) -> Fault {
        let step = self.connection.step(self.backward, hop);
        let name = self.network.name(self.network.tail(step.turned()));
        let message = format!("{name} polices this direction by another table of the list");
        Fault::new(self.place("at"), message, "Write at = [...] with other switches, each once")
    }

    /// The key that says a parameter of a contract.
    fn key(&self, parameter: &str) -> Option<&Node> {
        self.table.node(&parameter.to_lowercase())
    }

    /// The hops at whose far ends cells are policed, in their order.
    fn hops(&self) -> Result<Vec<usize>, Fault> {
        let heads: Vec<_> =
            self.connection.steps(self.backward).map(|step| self.network.tail(step.turned())).collect();
        let Some(written) = &self.keys.at else {
            if heads.len() == 1 {
                let message = "the path of the connection passes no switch that could police it";
                return Err(Fault::new(self.node.place, message, "Leave police out"));
            }
            return Ok(vec![0]);
        };
        let mut hops = Vec::new();
        for name in check::list(written)? {
            let node = self.network.node(name)?;
            let hop = heads.iter().position(|&head| head == node && !self.network.is_host(node));
            let Some(hop) = hop else {
                let message = format!("{} is not a switch on the path of the connection", name.plain());
                let switches: Vec<&str> =
                    heads[..heads.len() - 1].iter().map(|&head| self.network.name(head)).collect();
                let remedy = if switches.is_empty() {
                    "It passes none: leave police out".to_string()
                } else {
                    format!("It passes {}", switches.join(", "))
                };
                return Err(Fault::new(name.place, message, remedy));
            };
            if hops.contains(&hop) {
                let message = format!("{} is written twice", name.plain());
                return Err(Fault::new(name.place, message, "Name each switch once"));
            }
            hops.push(hop);
        }
        hops.sort_unstable();
        Ok(hops)
    }

    fn usage(&self, hop: usize) -> Result<UsageConfig, Fault> {
        let conformance = self.conformance()?;
        if let Some(node) = conformance.foreign().iter().find_map(|key| self.table.entry(key)) {
            let message = format!("{} is not a parameter of \"{}\"", node.key, conformance.name);
            let remedy = match (conformance.method, &*node.key) {
                (Method::Dynamic, "pcr") => "Leave it out: it is abr.pcr",
                (Method::Frames { .. }, "mbs") => "Leave it out: it is mbs of the connection",
                _ => "Leave it out",
            };
            return Err(Fault::new(node.place, message, remedy));
        }
        let between =
            || self.connection.steps(self.backward).take(hop + 1).map(|step| self.network.link(step));
        let cdvt = self.keys.cdvt.map_or_else(|| self.default_cdvt(hop), Ok)?;
        let sender = &self.connection.flow(self.backward).sender;
        let rule = match conformance.method {
            Method::Fixed(definition) => self.fixed(definition, sender.pcr(), cdvt)?,
            Method::Frames { tags } => {
                let [mbs, mfs] = self.asked.frames;
                let mfs = mfs.unwrap_or(MFS);
                let (mcr, mbs) = (self.connection.queue.mcr, mbs.unwrap_or(mfs));
                let pcr = self.keys.pcr.unwrap_or(sender.pcr());
                Rule::Frames(FrameContract { tags, pcr, cdvt, mcr, mbs, mfs })
            }
            Method::Dynamic => {
                let sum = |spans: &mut dyn Iterator<Item = Duration>| {
                    spans.fold(Duration::ZERO, Duration::saturating_add)
                };
                let fixed = sum(&mut between().map(Link::shortest_delay)).saturating_mul(2);
                let more = |link: &Link| link.longest_delay() - link.shortest_delay();
                let changes = sum(&mut between().map(more)).saturating_mul(2);
                let tau3 = self.keys.tau3.unwrap_or(fixed);
                let cells = sum(&mut between().map(Link::longest_cell_time));
                Rule::Abr(AbrContract {
                    pcr: sender.pcr(),
                    mcr: sender.mcr(),
                    icr: sender.icr(),
                    cdvt,
                    longest_delay: self
                        .keys
                        .tau2
                        .unwrap_or(tau3.saturating_add(changes).saturating_add(cells)),
                    shortest_delay: tau3,
                })
            }
        };
        Ok(UsageConfig { rule, action: self.action(conformance)? })
    }

    /// CDVT where none is written: a cell time of the last link before the policer, and by how much delays between
    /// change: where one falls, cells on the way come closer than they left.
    ///
    /// # Errors
    /// A source with a bucket. A link between whose rate changes: cells that wait before it while it is slow come close
    /// together later, and how many there are depends on what the source is allowed then.
    fn default_cdvt(&self, hop: usize) -> Result<Duration, Fault> {
        if matches!(&self.connection.flow(self.backward).sender, Sender::Abr(abr) if abr.mbs > 1) {
            let message = "cdvt has no default for a source with abr.mbs: cells of a burst leave at PCR, closer than ACR says, and by how much depends on ACR";
            let remedy = "Write cdvt in police: (mbs - 1)(1/ACR - 1/PCR) at the least ACR lets all bursts pass; or leave abr.mbs out";
            return Err(Fault::new(self.node.place, message, remedy));
        }
        let steps: Vec<_> = self.connection.steps(self.backward).take(hop + 1).collect();
        let links = || steps.iter().map(|step| self.network.link(*step));
        let sum =
            |spans: &mut dyn Iterator<Item = Duration>| spans.fold(Duration::ZERO, Duration::saturating_add);
        let last = links().next_back().map_or(Duration::ZERO, Link::longest_cell_time);
        let default =
            last.saturating_add(sum(&mut links().map(|link| link.longest_delay() - link.shortest_delay())));
        let slack = sum(&mut steps.iter().map(|step| self.network.link(*step).longest_slack(step.end)));
        let Some(changing) =
            steps.iter().find(|step| self.network.link(**step).longest_slack(step.end) > Duration::ZERO)
        else {
            return Ok(default);
        };
        let message = format!(
            "the rate of the link of {} changes before the policer, so that cdvt has no default: cells that wait while it is slow come close together when it is fast",
            self.network.port_name(changing.port())
        );
        let most = default.saturating_add(slack).as_ps().div_ceil(1_000_000);
        let remedy = format!(
            "Write cdvt in police: cdvt = \"{most} us\" lets all pass that a source at the fastest rate can have waiting there"
        );
        Err(Fault::new(self.node.place, message, remedy))
    }

    /// The conformance definition that the table names, or the first of the connection's category.
    fn conformance(&self) -> Result<&'static Conformance, Fault> {
        let category = self.connection.category;
        let of_category = || DEFINITIONS.iter().filter(move |other| other.category == category);
        let name = self.keys.definition.as_deref();
        if let Some(one) = of_category().find(|one| name.is_none_or(|name| name == one.name)) {
            return Ok(one);
        }
        let (name, category) = (name.unwrap_or_default(), category.word());
        let message = format!("definition is \"{name}\", and the connection is one of {category}");
        let own: Vec<String> = of_category().map(|one| format!("\"{}\"", one.name)).collect();
        Err(Fault::new(self.place("definition"), message, format!("Write {}", own.join(" or "))))
    }

    fn fixed(&self, definition: Definition, peak: CellRate, cdvt: Duration) -> Result<Rule, Fault> {
        let needed = |key: &'static str, about: &str| check::missing(self.node.place, key, about);
        let (scr, mbs) = if definition.is_vbr() {
            let shaping =
                self.connection.flow(self.backward).conditioning.as_ref().and_then(|own| own.shaping);
            let scr = self.keys.scr.or(self.asked.scr).or(shaping.map(|shaping| shaping.scr));
            let mbs = self.keys.mbs.or(shaping.map(|shaping| shaping.mbs));
            (
                scr.ok_or_else(|| needed("scr", "the sustainable cell rate of the contract"))?,
                mbs.ok_or_else(|| needed("mbs", "the maximum burst size in cells"))?.into(),
            )
        } else {
            (CellRate::ZERO, 0)
        };
        let (pcr, coupling) = (self.keys.pcr.unwrap_or(peak), self.keys.coupling);
        Ok(Rule::Fixed(Contract { definition, pcr, cdvt, scr, mbs, coupling }))
    }

    fn action(&self, conformance: &Conformance) -> Result<Action, Fault> {
        let &Conformance { name, method, .. } = conformance;
        let tags = conformance.tags();
        let (message, remedy) = match (self.keys.action, method) {
            (Some(Action::Count), _) => return Ok(Action::Count),
            (Some(Action::Tag), Method::Dynamic) => return Ok(Action::Tag),
            (Some(Action::Tag), _) if !tags => (
                format!("action is \"tag\", and {name} tags nothing"),
                "Write \"discard\" or \"count\", or a definition that tags: vbr.3, ubr.2, gfr.2 or abr.1",
            ),
            (Some(Action::Discard), _) if tags => (
                match method {
                    Method::Frames { .. } => {
                        format!("action is \"discard\", and {name} tags what is not eligible")
                    }
                    _ => format!("action is \"discard\", and {name} tags what bucket 2 refuses"),
                },
                "Write \"tag\" or \"count\", or a definition that does not tag, such as vbr.2, ubr.1 or gfr.1",
            ),
            _ => return Ok(Action::Discard),
        };
        Err(Fault::new(self.place("action"), message, remedy))
    }

    fn place(&self, key: &str) -> Place {
        super::place_of(self.table, key, self.node.place)
    }
}
