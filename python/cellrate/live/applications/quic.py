"""HTTP/3 over QUIC with throughput advice (SCONE): a player and a download, by aioquic."""

from __future__ import annotations

import importlib.util
import json
import statistics
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...errors import CellrateError
from ..process import Program, Ready, Running
from .planned import Application, Plan, Surroundings, program_words

FIRST_PORT = 4430
NAME = "cellrate"
"""The server's name in its certificate."""
LONGEST_SCONE_PACKET, QUIC_DATAGRAM, HEADERS = 47, 1200, 28
"""A datagram of aioquic, with a SCONE packet of the longest connection IDs, and the headers of IP and UDP [octets]."""
INDICATION = 2


def check(application: Application) -> None:
    """See that aioquic is installed.

    Raises
    ------
    CellrateError
        If it is not.
    """
    if importlib.util.find_spec("aioquic") is None:
        raise CellrateError(
            f'application "{application.name}": {application.kind} needs aioquic, which is not installed; '
            'pip install "cellrate[quic]"'
        )


def plan(application: Application, around: Surroundings) -> Plan:
    """The server on the host, the player or the download on the peer.

    Raises
    ------
    CellrateError
        If the MTU has no room for a datagram of QUIC behind a SCONE packet.
    """
    check(application)
    needed = QUIC_DATAGRAM + LONGEST_SCONE_PACKET + INDICATION + HEADERS
    if around.mtu_octets < needed:
        raise CellrateError(
            f'application "{application.name}": the MTU of {around.host.name} and {around.peer.name} is '
            f"{around.mtu_octets} octets; {application.kind} needs at least {needed}"
        )
    settings = application.settings
    result = around.folder / "fetched.json"
    certificate, key = around.folder / "certificate.pem", around.folder / "key.pem"
    common = {
        "server": around.host.address,
        "client": around.peer.address,
        "port": FIRST_PORT + around.number,
        "certificate": str(certificate),
        "key": str(key),
        "congestion_control": settings["congestion_control"],
    }
    server = Program(
        "server",
        around.host,
        program_words("quic_peer", json.dumps({**common, "do": "serve"}), *packages()),
        ready=Ready(pattern="listening"),
    )
    fetching = {
        **common,
        **settings,
        "do": "play" if application.kind == "quic-player" else "download",
        "seconds": application.end_s - application.start_s,
        "result": str(result),
    }
    client = Program("client", around.peer, program_words("quic_peer", json.dumps(fetching), *packages()))

    def prepare() -> None:
        make_certificate(certificate, key)

    def read(_: Mapping[str, Running]) -> dict[str, Any]:
        fetched = json.loads(result.read_text()) if result.exists() else {}
        return play_summary(fetched) if application.kind == "quic-player" else download_summary(fetched, settings)

    return Plan([server], [client], prepare, read, scratch=[certificate, key])


def packages() -> list[str]:
    """Give the places of aioquic and of the packages that it needs: programs on hosts see none that are installed."""
    names = ("aioquic", "cryptography", "pylsqpack", "OpenSSL", "service_identity", "certifi")
    found = (importlib.util.find_spec(name) for name in names)
    return [spec.origin for spec in found if spec is not None and spec.origin]


def play_summary(fetched: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize what a player fetched, as `quic_peer` writes it."""
    segments = fetched.get("segments", [])
    qualities = [segment["quality_bps"] for segment in segments]
    return {
        "segments": len(segments),
        "mean_quality_bps": statistics.fmean(qualities) if qualities else None,
        "switches": sum(one != after for one, after in pairwise(qualities)),
        "stalls": fetched.get("stalls", 0),
        "stalled_s": fetched.get("stalled_s", 0.0),
        **_told(fetched),
        "fetched": segments,
    }


def download_summary(fetched: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize a download, as `quic_peer` writes it."""
    parts = fetched.get("segments", [])
    octets = sum(part["octets"] for part in parts)
    span = parts[-1]["at_s"] + parts[-1]["took_s"] - parts[0]["at_s"] if parts else 0.0
    return {
        "octets": octets,
        "complete": octets == settings["size_octets"],
        "goodput_bps": octets * 8 / span if span else None,
        **_told(fetched),
        "fetched": parts,
    }


def _told(fetched: Mapping[str, Any]) -> dict[str, Any]:
    told = fetched.get("told", [])
    return {
        "error": fetched.get("error"),
        "advice_received": len(told),
        "advice_refused": fetched.get("refused", 0),
        "least_advice_bps": min((one["advice_bps"] for one in told), default=None),
        "told": told,
    }


def make_certificate(certificate: Path, key: Path) -> None:
    """Make a server's key and a certificate that it signs itself, for two days."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    own = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(own, hashes.SHA256())
    )
    pem, unencrypted = serialization.Encoding.PEM, serialization.NoEncryption()
    certificate.write_bytes(signed.public_bytes(pem))
    key.write_bytes(own.private_bytes(pem, serialization.PrivateFormat.PKCS8, unencrypted))
