#!/bin/sh
# Tries a wheel on a bare Debian, as one finds it on a new machine: installs it there, runs a first scenario with its
# plots, writes the lab. Says how long each takes, and how large it is. Needs root, debootstrap and a mirror of Debian.
#
#   tools/bare_debian.sh dist/cellrate-*.whl [RELEASE]
#
# Nothing of it stays: the system lies in a folder of its own below $TMPDIR, and what is mounted in it ends with it.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -f "$1" ]; then
    echo "usage: $0 WHEEL [RELEASE], such as dist/cellrate-*.whl bookworm" >&2
    exit 2
fi
wheel=$1 release=${2:-bookworm}
for program in debootstrap unshare chroot; do
    if ! command -v "$program" >/dev/null; then
        echo "$0: $program is missing; as root: apt-get install debootstrap util-linux coreutils" >&2
        exit 3
    fi
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/cellrate-bare-XXXXXX")
trap 'rm -rf --one-file-system "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
root=$folder/root

# Says how long the words behind a title take.
timed() {
    title=$1
    shift
    began=$(date +%s%N)
    if ! "$@" >"$folder/said" 2>&1; then
        echo "$0: $title failed:" >&2
        tail -n 20 "$folder/said" >&2
        exit 1
    fi
    echo "$title: $((($(date +%s%N) - began) / 100000000))" | sed -E 's/: ([0-9]*)([0-9])$/: \1.\2 s/; s/: \./: 0./'
}

# Runs a command in the new system, which sees its own processes and no folder of this one.
inside() {
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -ec "$1"' "$root" "$1"
}

size() {
    echo "$1: $(du -sm --one-file-system "$root" | cut -f1) MB"
}

timed "Debian $release with Python" debootstrap --variant=minbase --include=python3-venv,ca-certificates "$release" "$root"
size "its disk"
mkdir "$root/wheel"
cp "$wheel" "$root/wheel/"
# An index and certificates of one's own, where this machine has them.
for own in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -f "$own" ] || cp "$own" "$root$own"
done
timed "pip install" inside 'python3 -m venv /v && /v/bin/pip install --no-cache-dir /wheel/*.whl'
size "with cellrate"
timed "a first run with plots" inside 'cd /root && /v/bin/cellrate run two-source-transient --out out --plot && test -s out/plot.png'
timed "a second run" inside 'cd /root && /v/bin/cellrate run two-source-transient --out again --json'
timed "the lab as files" inside 'cd /root && /v/bin/cellrate lab --write lab && test -s lab/kernel.js'
