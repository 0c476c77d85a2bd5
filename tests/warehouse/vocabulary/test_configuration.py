"""Equality of configurations."""

from hypothesis import given
from hypothesis import strategies as st

from warehouse.vocabulary.configuration import Configuration

values = st.dictionaries(
    st.text(max_size=3),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    max_size=4,
)


@given(values)
def test_the_order_of_the_values_does_not_matter(known: dict[str, bool | int | float | str | None]) -> None:
    one, other = Configuration("f", known), Configuration("f", dict(reversed(known.items())))
    assert one == other
    assert hash(one) == hash(other)


def test_values_of_another_type_are_different() -> None:
    different = {Configuration("f", {"a": value}) for value in (1, 1.0, True, "1", None)}
    assert len(different) == 5
