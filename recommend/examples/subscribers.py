"""Make `subscribers.csv`: who cancels a subscription? A table as awkward as real ones.

It has missing values, categories, numbers on different scales, a date and a free-form plan name; the target
depends on a few of them, non-linearly, with noise. To write it again:

    python recommend/examples/subscribers.py
"""

from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 1000  # enough to tell configurations apart in seconds


def make(rows: int = ROWS, seed: int = 20) -> pd.DataFrame:
    """The table; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    signup = pd.Timestamp("2021-01-04") + pd.to_timedelta(rng.integers(0, 1400, rows), unit="D")
    months = np.round((pd.Timestamp("2025-01-01") - signup).days / 30.4, 1)
    plan = rng.choice(["basic", "plus", "family", "business"], rows, p=[0.45, 0.3, 0.15, 0.1])
    price = pd.Series(plan).map({"basic": 8.0, "plus": 14.0, "family": 19.0, "business": 42.0}).to_numpy()
    price = (price * rng.choice([1.0, 0.8], rows, p=[0.75, 0.25])).round(2)
    hours = rng.gamma(2.0, 6.0, rows).round(2)
    tickets = rng.poisson(0.8, rows)
    channel = rng.choice(["search", "friend", "advert", "partner"], rows, p=[0.4, 0.25, 0.25, 0.1])
    autopay = rng.choice(["yes", "no"], rows, p=[0.6, 0.4])
    satisfaction = np.clip(np.round(rng.normal(3.6, 1.0, rows) - 0.4 * tickets), 1, 5)
    risk = (
        1.2 * (hours < 5)
        + 0.7 * (tickets >= 2)
        - 1.0 * (autopay == "yes")
        - 0.6 * (satisfaction >= 4)
        + 0.9 * ((plan == "basic") & (months > 24))
        + 0.02 * (price - 14)
        + rng.normal(0, 0.8, rows)
    )
    frame = pd.DataFrame(
        {
            "signed_up": signup.strftime("%Y-%m-%d"),
            "months": months,
            "plan": plan,
            "monthly_price": price,
            "hours_per_month": hours,
            "support_tickets": tickets,
            "channel": channel,
            "autopay": autopay,
            "satisfaction": satisfaction,
            "cancelled": np.where(risk > 0.3, "yes", "no"),
        }
    )
    for column, share in {"hours_per_month": 0.06, "satisfaction": 0.22, "channel": 0.04}.items():
        frame.loc[rng.random(rows) < share, column] = np.nan
    return frame


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("subscribers.csv"), index=False)
