#!/bin/sh
# What the build needs and this machine lacks, all at once, before anything is installed.
# Called by the Makefile as: prerequisites.sh PYTHON LEAST_RUST, such as prerequisites.sh python3 1.90
set -u
python=$1
least_rust=$2
missing=""

lacks() {
    missing="$missing
  - $1"
}

# Whether version $1 is at least version $2.
at_least() {
    test "$(printf '%s\n%s\n' "$2" "$1" | sort -t . -k 1,1n -k 2,2n -k 3,3n | head -n 1)" = "$2"
}

for tool in cargo rustc; do
    if ! command -v $tool > /dev/null; then
        lacks "$tool $least_rust or later, which is not here: install Rust with rustup (Debian's is too old)"
        continue
    fi
    found=$($tool --version 2> /dev/null | sed -n 's/^[a-z]* \([0-9][0-9.]*\).*/\1/p')
    if [ -z "$found" ]; then
        lacks "$tool $least_rust or later; \`$tool --version\` says: $($tool --version 2>&1 | head -n 1)"
    elif ! at_least "$found" "$least_rust"; then
        lacks "$tool $least_rust or later, not $found ($(command -v $tool)): rustup update, or install Rust with rustup"
    fi
done

if ! command -v "$python" > /dev/null; then
    lacks "Python 3.11 or later, and there is no $python: PYTHON=/path/to/python make ..., or apt-get install python3"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
    lacks "Python 3.11 or later, not $("$python" --version 2>&1): PYTHON=/path/to/python make ..."
fi

# Root on Debian gets these two by the Makefile.
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    "$python" -c 'import ensurepip, venv' 2> /dev/null || lacks "Python's venv; as root: apt-get install python3-venv"
    command -v cc > /dev/null || lacks "a C compiler (cc); as root: apt-get install gcc libc6-dev"
fi

[ -z "$missing" ] && exit 0
echo "cellrate cannot be built here. It needs:$missing" >&2
exit 1
