"""Column names that suggest a target, by strength.

The last word of a name says what it is (`loan_status` is a status). The lists were made by hand, in English,
German, French, Spanish, Portuguese, Italian and Dutch, without accents.
"""

import re
import unicodedata

# Words for the target in machine learning and statistics.
_TARGETS = """
    outcome target
    alvo cible doelvariabele objetivo ziel zielgroesse zielgrosse zielvariable
"""
# Events and judgements: known afterwards, and hardly ever recorded for another purpose.
_OUTCOMES = """
    approved attrition bankrupt bankruptcy canceled cancellation cancelled churn churned classes
    classification clicked conversion converted deceased defaulted died exited fraud fraudulent
    label malignancy malignant phishing purchase purchased readmission readmitted recidivism recurrence
    relapse relapsed response spam survival survived vote voted y
    abgelehnt ausfall betrug gekuendigt gekundigt gestorben kuendigung kundigung storniert ueberlebt
    uberlebt verstorben
    deces etiquette fraude mort survecu survie
    abandono aprobado aprovado cancelado etiqueta evasao fallecido fuga inadimplencia inadimplente
    morte muerte obito rotulo sobreviveu sobrevivio
    abbandono deceduto esito etichetta frode opgezegd overleden sopravvissuto
"""
# Often predicted, and as often a feature.
_RESULTS = """
    accepted admission admitted approve arrested bought choice class cultivar damaged dead death decision
    declined default delayed diagnosis disease failure hired infected insured mortality participated popular
    quality rejected released repaid result risk satisfaction sentiment severity species status success
    variety verdict win winner won
    diagnose entscheidung ergebnis klasse krankheit qualitaet qualitat risiko
    classe espece maladie qualite resultat risque statut
    calidad clase diagnostico doenca enfermedad especie qualidade resultado riesgo risco
    diagnosi malattia qualita resultaat rischio risultato soort specie uitkomst
"""
# Often predicted as numbers; as classes they are more likely features.
_PRICES = """
    mpg price prices salary wage wages
    gehalt lohn precio preco preis prezzo prijs prix salaire salario stipendio
"""
# The same, if only the last column's name suggests a target.
_AMOUNTS = """
    charges consumption demand earnings profit revenue sales yield
    umsatz vendas ventas ventes vendite verbrauch
"""
_SCORES = """
    points rating score
    punkte
"""
# Kinds and numbers of anything.
_KINDS = """
    category cost count cnt duration genre grade group income level strength type value
    bewertung categoria categorie coste costo cout einkommen kategorie kosten nota note renda revenu tipo
    typ valeur valor valore wert
"""
# Time, place, part of the data, or comments of a row.
_CIRCUMSTANCES = """
    address batch city comment comments country county date datetime day description district email fold hour
    lat latitude lng lon long longitude minute month name note notes place postcode quarter region remark
    remarks second site source split state time timestamp town url village week weekday year zip zipcode
    bemerkung bemerkungen datum jahr kommentar land monat ort plz stadt stunde tag
    annee commentaire commentaires heure jour mois pays remarque ville
    ano anno ciudad cidade citta comentario comentarios data dia fecha mes mese paese pais
"""
_TIERS = {
    word: tier
    for tier, listed in enumerate((_TARGETS, _OUTCOMES, _RESULTS + _PRICES, _AMOUNTS + _SCORES, _KINDS))
    for word in listed.split()
}
_MEASURED = frozenset((_PRICES + _AMOUNTS).split())
_TIMES_PLACES_NOTES = frozenset(_CIRCUMSTANCES.split())
_FILLERS = frozenset({
    "attribute", "binary", "column", "event", "final", "flag", "has", "indicator", "is", "variable", "was",
    "brl", "chf", "eur", "euro", "gbp", "inr", "jpy", "usd", "kwh", "mwh", "kg", "pct", "percent",
})  # fmt: skip
_NO_OUTCOME = frozenset({
    "civil", "employment", "former", "marital", "past", "prev", "previous", "prior", "smoking",
})  # fmt: skip
_MOST_WORDS = 3

_WORD_BOUNDARY_IN_CAMEL_CASE = re.compile(r"([a-z0-9])([A-Z])")


def words(name: str) -> list[str]:
    """Split a name, in camel case or with separators, into lower-case words without accents.

    >>> words("finalScore"), words("Überlebt?")
    (['final', 'score'], ['uberlebt'])
    """
    spaced = _WORD_BOUNDARY_IN_CAMEL_CASE.sub(r"\1 \2", name)
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", spaced.casefold()) if not unicodedata.combining(c)
    )
    return re.findall(r"[^\W_]+", plain)


def name_weakness(name: str) -> int | None:
    """Weakness from 0, a name that only targets have, to 6, one that many columns have; None for other names.

    >>> [name_weakness(name) for name in ("target", "is_fraud", "status", "loan_status", "age")]
    [0, 1, 2, 3, None]
    """
    found = words(name)
    kept = [word for word in found if word not in _FILLERS]
    if not 1 <= len(kept) <= _MOST_WORDS or kept[-1] not in _TIERS or _NO_OUTCOME.intersection(kept):
        return None
    return _TIERS[kept[-1]] + len(kept) - 1


def names_amount(name: str) -> bool:
    """Whether a name is that of an amount that is usually predicted as a number, such as a price."""
    return not _MEASURED.isdisjoint(words(name)[-1:])


def names_circumstances(name: str) -> bool:
    """Whether a name says the time, place or source of a row, or that it is a comment."""
    found = words(name)
    is_moment = len(found) == 2 and found[-1] == "at"  # created_at
    return is_moment or (1 <= len(found) <= 2 and found[-1] in _TIMES_PLACES_NOTES)
