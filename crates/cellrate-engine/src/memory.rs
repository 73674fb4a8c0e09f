//! Memory that a run may still take.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Memory that this process may still allocate \[octets\]: as much as the machine has available, and as the limits of
/// the process (`ulimit -v` and `-d`) and of its control groups leave. `None` where the system says none of it: Linux
/// alone does.
pub fn left() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    [available(), limits(), groups_left(&groups, Path::new("/sys/fs/cgroup"))].into_iter().flatten().min()
}

/// MemAvailable: free memory, and what the system can take back from its caches.
fn available() -> Option<u64> {
    line_of(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Room within the limits of the process \[octets\].
fn limits() -> Option<u64> {
    limits_left(&read_to_string("/proc/self/limits").ok()?, &read_to_string("/proc/self/status").ok()?)
}

/// Room within limits of a process in its state \[octets\], as the system words both. The allocator reserves far more
/// than it has handed out, a gigabyte at first: half of the untouched memory counts, since a list needs one piece.
fn limits_left(limits: &str, status: &str) -> Option<u64> {
    let data = line_of(status, "VmData:")?;
    let untouched = data.saturating_sub(line_of(status, "RssAnon:")?);
    let left = |limit: &str, taken: u64| {
        let limit = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        // "unlimited" is no number.
        let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(taken).saturating_add(untouched / 2))
    };
    [left("Max address space", line_of(status, "VmSize:")?), left("Max data size", data)]
        .into_iter()
        .flatten()
        .min()
}

/// Room that is left in the control groups of a process, and in those that these are in \[octets\]. `groups` is what
/// the system says of the process, and `top` the folder of all groups. Pages of files that a group holds can be taken
/// back.
fn groups_left(groups: &str, top: &Path) -> Option<u64> {
    let left_in = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (top, files) = match controllers {
            "" => (top.to_path_buf(), ["memory.max", "memory.current", "file"]),
            _ if controllers.split(',').any(|one| one == "memory") => {
                let files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"];
                (top.join("memory"), files)
            }
            _ => return None,
        };
        let own = top.join(path);
        own.ancestors()
            .take_while(|group| group.starts_with(&top))
            .filter_map(|at| group_left(at, files))
            .min()
    };
    groups.lines().filter_map(left_in).min()
}

fn group_left(group: &Path, [limit, taken, cache]: [&str; 3]) -> Option<u64> {
    let read = |file: &str| read_to_string(PathBuf::from(group).join(file)).ok();
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let taken: u64 = read(taken)?.trim().parse().ok()?;
    let statistics = read("memory.stat").unwrap_or_default();
    let of_cache = |line: &str| line.strip_prefix(cache)?.strip_prefix(' ')?.trim().parse::<u64>().ok();
    let cache = statistics.lines().find_map(of_cache).unwrap_or(0);
    Some(limit.saturating_sub(taken.saturating_sub(cache)))
}

/// The number of kilooctets behind `key` in a file of the system \[octets\].
fn line_of(text: &str, key: &str) -> Option<u64> {
    let number = text.lines().find_map(|line| line.strip_prefix(key))?.trim().strip_suffix("kB")?;
    number.trim().parse::<u64>().ok().map(|kilooctets| kilooctets << 10)
}

/// Memory that is left, looked at again and again while something grows that could not be foreseen.
#[derive(Debug, Default)]
pub struct Outlook {
    first: Option<u64>,
    /// Octets that were left, and octets in use, at the last look.
    last: Option<(u64, u64)>,
    /// The most that went between two looks.
    step: u64,
}

/// Memory that is kept for the end of a run, and for whatever else is at work \[octets\].
const RESERVE: u64 = 256 << 20;

impl Outlook {
    /// Looks anew; gives what is left \[octets\] where that is too little to go on.
    ///
    /// Lists grow by doubling: before the old one is freed, the new one needs four times what the last step took. Where
    /// nothing has grown, however little is left is enough.
    pub fn too_little(&mut self) -> Option<u64> {
        let left = left()?;
        let touched =
            read_to_string("/proc/self/status").ok().and_then(|status| line_of(&status, "RssAnon:"));
        self.is_too_little(left, touched.unwrap_or(0)).then_some(left)
    }

    /// Whether `left` is too little, where `touched` octets are in use: what the allocator had reserved before leaves a
    /// limit no less when a list grows into it.
    fn is_too_little(&mut self, left: u64, touched: u64) -> bool {
        if let Some((last, before)) = self.last {
            self.step = self.step.max(last.saturating_sub(left)).max(touched.saturating_sub(before));
        }
        let first = *self.first.get_or_insert(left);
        self.last = Some((left, touched));
        left < RESERVE.min(first.saturating_sub(left)).saturating_add(self.step.saturating_mul(4))
    }
}

/// So many octets for people: "3.2 GB".
pub fn shown(octets: u64) -> String {
    match octets {
        0..1_000_000_000 => format!("{:.0} MB", octets as f64 / 1e6),
        _ => format!("{:.1} GB", octets as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outlook_is_bad_where_another_doubling_would_not_fit() {
        let looks = |seen: &[u64]| {
            let mut outlook = Outlook::default();
            seen.iter().map(|&left| outlook.is_too_little(left << 20, 0)).collect::<Vec<_>>()
        };
        assert_eq!(looks(&[4000, 3000, 4500, 4300, 4200]), [false, true, false, false, false]);
        assert_eq!(looks(&[1000, 900, 800, 700, 600]), [false, false, false, false, true]);
        // What is left is enough where nothing grows, and what is given back is no step.
        assert_eq!(looks(&[100, 100, 90, 900, 899]), [false, false, false, false, false]);
        // A list that grows into what was reserved counts with all that it takes.
        let mut outlook = Outlook::default();
        let seen = [(800, 100), (790, 200), (700, 400)];
        assert_eq!(
            seen.map(|(left, taken)| outlook.is_too_little(left << 20, taken << 20)),
            [false, false, true]
        );
    }

    #[test]
    fn half_of_what_is_reserved_and_not_touched_is_left_by_a_limit() {
        let status = "VmSize:\t 1100 kB\nVmData:\t 1000 kB\nRssAnon:\t 200 kB\n";
        let limits = |space: &str, data: &str| {
            let text = format!(
                "Max data size             {data} unlimited bytes\nMax address space         {space} unlimited bytes\n"
            );
            limits_left(&text, status)
        };
        assert_eq!(limits("unlimited", "unlimited"), None);
        assert_eq!(limits("2048000", "unlimited"), Some(2_048_000 - (1100 << 10) + (400 << 10)));
        assert_eq!(limits("2048000", "1048576"), Some((24 << 10) + (400 << 10)));
        assert_eq!(limits("1024", "unlimited"), Some(400 << 10));
        assert_eq!(limits_left("Max address space 1 2 bytes", "VmSize: 3 kB"), None);
    }

    #[test]
    fn a_machine_with_memory_says_so() {
        assert!(left().is_none_or(|octets| octets > 1 << 20));
        assert_eq!((shown(21_600_000_000), shown(4_000_000)), ("21.6 GB".into(), "4 MB".into()));
    }

    #[test]
    fn a_control_group_leaves_what_it_and_those_around_it_leave() {
        let top = std::env::temp_dir().join(format!("cellrate-groups-{}", std::process::id()));
        let write = |group: &str, files: [(&str, &str); 3]| {
            std::fs::create_dir_all(top.join(group)).unwrap();
            files
                .into_iter()
                .for_each(|(file, text)| std::fs::write(top.join(group).join(file), text).unwrap());
        };
        let second = |limit, taken| {
            [
                ("memory.max", limit),
                ("memory.current", taken),
                ("memory.stat", "anon 1\nfile_mapped 7\nfile 200\n"),
            ]
        };
        write("a", second("5000\n", "1000\n"));
        write("a/b", second("max\n", "900\n"));
        assert_eq!(groups_left("0::/a/b\n", &top), Some(4200));
        write("a/b", second("3000\n", "900\n"));
        assert_eq!(groups_left("0::/a/b\n", &top), Some(2300));
        assert_eq!(groups_left("0::/elsewhere\n", &top), None);
        let first = [
            ("memory.limit_in_bytes", "700\n"),
            ("memory.usage_in_bytes", "600\n"),
            ("memory.stat", "cache 1\ntotal_cache 50\n"),
        ];
        write("memory/c", first);
        assert_eq!(groups_left("3:cpu,cpuacct:/c\n5:memory:/c\n0::/\n", &top), Some(150));
        std::fs::remove_dir_all(top).unwrap();
    }
}
