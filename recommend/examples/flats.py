"""Make `flats.csv`: the prices of flats, in a table as awkward as real ones.

It has missing values, categories, numbers on different scales and a date. The price, in thousands, is a
product of the flat's properties, so it is skewed: most flats are cheap, and a few are expensive. To write it
again:

    python recommend/examples/flats.py
"""

from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 600


def make(rows: int = ROWS, seed: int = 7) -> pd.DataFrame:
    """The table; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    sold = pd.Timestamp("2023-01-02") + pd.to_timedelta(rng.integers(0, 720, rows), unit="D")
    area = np.clip(rng.lognormal(4.1, 0.45, rows), 15, 320).round(1)
    rooms = np.clip(np.round(area / 26 + rng.normal(0, 0.6, rows)), 1, 9).astype(int)
    district = rng.choice(
        ["centre", "harbour", "hill", "north", "old town"], rows, p=[0.2, 0.15, 0.15, 0.35, 0.15]
    )
    level = pd.Series(district).map(
        {"centre": 0.3, "harbour": 0.15, "hill": 0.45, "north": 0.0, "old town": 0.2}
    )
    distance = rng.gamma(2.0, 2.0, rows).round(2)
    built = rng.integers(1890, 2024, rows)
    heating = rng.choice(["gas", "district", "heat pump", "oil"], rows, p=[0.45, 0.25, 0.15, 0.15])
    furnished = rng.choice(["yes", "no"], rows, p=[0.25, 0.75])
    floor = rng.poisson(2.0, rows)
    log_price = (
        1.0
        + 1.05 * np.log(area)
        + level.to_numpy()
        - 0.035 * distance
        + 0.25 * (built > 2010)
        + 0.15 * ((built < 1920) & (district == "old town"))
        + 0.14 * (furnished == "yes")
        - 0.08 * (heating == "oil")
        - 0.02 * np.maximum(floor - 3, 0) * (built < 1960)
        + rng.normal(0, 0.16, rows)
    )
    frame = pd.DataFrame(
        {
            "sold": sold.strftime("%Y-%m-%d"),
            "area": area,
            "rooms": rooms,
            "district": district,
            "distance_to_centre": distance,
            "floor": floor,
            "built": built.astype(float),
            "heating": heating,
            "furnished": furnished,
            "price": np.exp(log_price).round(1),
        }
    )
    for column, share in {"built": 0.12, "heating": 0.06, "distance_to_centre": 0.03}.items():
        frame.loc[rng.random(rows) < share, column] = np.nan
    return frame


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("flats.csv"), index=False)
