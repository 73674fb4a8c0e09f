"""Campaigns by dask-jobqueue: a stand-in for SLURM runs its job scripts as processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cellrate
from conftest import PAIR
from test_campaigns import contents, until

# It takes SIGINT for itself when it is imported.
_before = signal.getsignal(signal.SIGINT)
pytest.importorskip("dask_jobqueue")
signal.signal(signal.SIGINT, _before)

SBATCH = """#!/bin/sh
# SLURM copies the script, and runs it in a session of its own, whatever becomes of the file.
cp "$1" {place}/script
setsid sh {place}/script >{place}/log 2>&1 </dev/null &
echo $! >>{place}/jobs
echo "Submitted batch job $!"
"""

SCANCEL = """#!/bin/sh
for job; do kill -TERM -- -"$job" 2>/dev/null; done
exit 0
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with sbatch and scancel, first in PATH."""
    place = tmp_path / "slurm"
    place.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (place / name).write_text(text.format(place=place))
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    yield place
    jobs = (place / "jobs").read_text().split() if (place / "jobs").exists() else []
    subprocess.run([place / "scancel", *jobs], check=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_jobs_of_slurm_run_a_campaign_with_the_same_bytes(
    slurm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask_jobqueue import SLURMCluster

    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(PAIR)
    over = {"defaults.abr.nrm": [8, 32, 128]}
    cellrate.sweep("study.toml", over=over, seeds=2, out="here", workers=1, progress=False)
    local: dict[str, Any] = {
        "scheduler_options": {"host": "127.0.0.1", "dashboard": False},
        "local_directory": str(slurm),
    }
    with SLURMCluster(cores=2, processes=2, memory="2 GB", walltime="00:10:00", **local) as cluster:
        script = cluster.job_script()
        assert "#SBATCH --cpus-per-task=2" in script
        assert "#SBATCH -t 00:10:00" in script
        cluster.scale(jobs=1)
        with cluster.get_client() as client:
            client.wait_for_workers(2, timeout=120)
            cellrate.sweep("study.toml", over=over, seeds=2, out="there", executor=client, progress=False)
    assert "dask_worker" in (slurm / "script").read_text()
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    jobs = (slurm / "jobs").read_text().split()
    assert len(jobs) == 1
    # The cluster takes its jobs with it.
    until(lambda: not Path(f"/proc/{jobs[0]}").exists())
