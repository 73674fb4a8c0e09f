"""Estimators of the Hurst parameter, on noise whose parameter is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cellrate import CellrateError
from cellrate.hurst import estimates, not_stationary, read_series
from cellrate.hurst.spectral import fractional_gaussian_density
from conftest import command, output


def fractional_gaussian_noise(hurst: float, n: int, seed: int) -> np.ndarray:
    """Exact noise by circulant embedding (Davies and Harte 1987)."""
    lags = np.arange(n + 1.0)
    covariance = 0.5 * ((lags + 1) ** (2 * hurst) - 2 * lags ** (2 * hurst) + np.abs(lags - 1) ** (2 * hurst))
    eigenvalues = np.fft.fft(np.concatenate([covariance, covariance[-2:0:-1]])).real
    generator = np.random.default_rng(seed)
    gaussian = generator.normal(size=2 * n) + 1j * generator.normal(size=2 * n)
    return np.fft.fft(np.sqrt(eigenvalues / (2 * n)) * gaussian).real[:n]


def random_walk(values: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(1).normal(size=values))


def test_a_series_that_is_not_stationary_has_no_interval_where_the_search_ends(tmp_path: Path) -> None:
    found = {one.method: one for one in estimates(random_walk(4096))}
    for name in ("local Whittle", "Whittle, fractional Gaussian noise"):
        assert (found[name].interval, found[name].remark) == (None, "at the border of its search")
    for name in ("log-periodogram", "wavelet"):
        assert found[name].hurst > 1
        assert (found[name].interval, found[name].remark) == (None, "not between 0 and 1")
    said = not_stationary(list(found.values()))
    assert said is not None
    assert "local Whittle" in said
    np.savetxt(tmp_path / "walk.txt", random_walk(4096))
    assert "The series is not stationary" in command("hurst", tmp_path / "walk.txt").stdout
    told = json.loads(command("hurst", tmp_path / "walk.txt", "--json").stdout)
    assert "not stationary" in told["warnings"][0]
    assert told["estimates"][3]["remark"] == "at the border of its search"


def test_differences_of_differences_end_at_the_other_border() -> None:
    found = estimates(np.diff(np.random.default_rng(1).normal(size=8192), 2))
    assert [one.remark for one in found if "Whittle" in one.method] == ["at the border of its search"] * 2
    assert not_stationary(found) is not None


def test_a_stationary_series_has_no_remark() -> None:
    found = estimates(np.random.default_rng(1).normal(size=4096))
    assert [one.remark for one in found] == [None] * 6
    assert not_stationary(found) is None


def test_an_estimator_with_nothing_to_fit_gives_no_number() -> None:
    alternating = np.array([1.0, -1.0] * 4096)
    found = {one.method: one for one in estimates(alternating)}
    assert all(one.interval is None for one in found.values() if one.remark is not None)
    assert np.isnan(found["aggregated variance"].hurst) == (found["aggregated variance"].remark == "nothing to fit")


@pytest.mark.parametrize("hurst", [0.5, 0.6, 0.75, 0.9])
def test_means_over_seeds_are_right_and_intervals_cover(hurst: float) -> None:
    runs = [estimates(fractional_gaussian_noise(hurst, 4096, seed)) for seed in range(25)]
    # Bias of the two without theory grows with H (Taqqu, Teverovsky and Willinger 1995, tables 1 and 2).
    allowed = (0.1, 0.1, 0.06, 0.02, 0.01, 0.02)
    for place, bias in enumerate(allowed):
        of_one = [run[place] for run in runs]
        assert np.mean([one.hurst for one in of_one]) == pytest.approx(hurst, abs=bias), of_one[0].method
        intervals = [one.interval for one in of_one]
        if place < 2:
            assert intervals == [None] * 25
        else:
            assert sum(low <= hurst <= high for low, high in filter(None, intervals)) >= 20, of_one[0].method


def test_the_density_is_that_of_the_noise() -> None:
    # Of white noise it is flat; of H = 0.8 its logarithm falls by 1 - 2 H for each factor e of frequency near 0.
    frequencies = np.linspace(0.01, 3.1, 50)
    flat = fractional_gaussian_density(frequencies, 0.5)
    assert flat / flat.mean() == pytest.approx(np.ones(50), rel=2e-3)
    low = fractional_gaussian_density(np.array([1e-4, 1e-3]), 0.8)
    assert np.log(low[1] / low[0]) / np.log(10) == pytest.approx(-0.6, abs=1e-3)


def test_a_linear_trend_does_not_move_wavelets() -> None:
    noise = fractional_gaussian_noise(0.6, 8192, 3)
    plain, tilted = estimates(noise)[-1], estimates(noise + np.linspace(0, 10, 8192))[-1]
    assert tilted.hurst == pytest.approx(plain.hurst, abs=1e-6)


def test_scale_and_mean_do_not_matter() -> None:
    noise = fractional_gaussian_noise(0.7, 1024, 1)
    for one, other in zip(estimates(noise), estimates(noise * 1e150 + 1e150), strict=True):
        assert one.hurst == pytest.approx(other.hurst, abs=1e-4), one.method


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.ones(1000), "all values of the series are equal"),
        (np.arange(255.0), "255 values"),
        (np.r_[np.arange(300.0), np.nan], "value 301 of the series is nan"),
        (np.ones((300, 2)), "one dimension"),
    ],
)
def test_a_series_that_says_nothing_is_refused(values: np.ndarray, said: str) -> None:
    with pytest.raises(CellrateError, match=said):
        estimates(values)


def test_files_are_read_as_people_write_them(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\ufefftime_s, octets\n# a comment\n\n0.0, 12\n0.1; 13.5\n0.2 1e3\n")
    assert read_series(file, column=2).tolist() == [12.0, 13.5, 1000.0]
    file.write_text("1\n2\nx\n")
    with pytest.raises(CellrateError, match=r"row 3: 'x'; a number is due"):
        read_series(file)
    file.write_text("1\n2 3\n")
    with pytest.raises(CellrateError, match="row 1: no column 2"):
        read_series(file, column=2)
    for path in ("/dev/zero", tmp_path):
        with pytest.raises(CellrateError, match=f"{path} is not a plain file"):
            read_series(path)


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "noise.txt"
    np.savetxt(file, fractional_gaussian_noise(0.8, 2048, 2))

    content = output("hurst", file, "--json")
    assert content["values"] == 2048
    assert [row["method"] for row in content["estimates"]][3:5] == [
        "local Whittle",
        "Whittle, fractional Gaussian noise",
    ]
    table = command("hurst", file, "--every", "4").stdout
    assert "512 values" in table
    assert "none that holds" in table
    assert command("hurst", file, "--column", "2").returncode == 2
