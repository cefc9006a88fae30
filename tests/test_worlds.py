"""Parameters of worlds, and what worlds measure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pytest

import agentrt as art
from agentrt.errors import DefinitionError, ParameterError
from agentrt.worlds import (
    Measures,
    Parameter,
    SimpleWorld,
    TakesParameters,
    checked_params,
    make_world,
    measure_world,
)

PARAMETERS = {
    "frogs": Parameter(2, "How many there are.", low=0, high=50),
    "frog.croak.utility": Parameter(0.5, "How much they like to croak.", low=0.0, high=1.0),
    "rain": Parameter(False, "Whether it rains."),
    "season": Parameter("summer", choices=("summer", "winter")),
    "name": Parameter("pond"),
}


def make(*, seed: int, host: str, params: Mapping[str, Any]) -> art.Runtime:
    runtime = art.Runtime(seed, host=host)
    runtime.game = dict(params)
    for number in range(params["frogs"]):
        runtime.add(art.Agent(art.Entity("frog", name=f"frog {number}")))
    return runtime


def measure(runtime: art.Runtime) -> dict[str, int | float | str]:
    return {"frogs": len(runtime.agents), "tick": runtime.tick}


POND = SimpleWorld("pond", make, parameters=PARAMETERS, measure=measure)
BARE = SimpleWorld("bare", lambda *, seed, host: art.Runtime(seed, host=host))


def test_a_world_is_made_with_all_its_parameters_some_of_them_given() -> None:
    with closing(make_world(POND, seed=3, host="plain")) as runtime:
        assert runtime.game == {
            "frogs": 2, "frog.croak.utility": 0.5, "rain": False, "season": "summer", "name": "pond",
        }  # fmt: skip
    given = {"season": "winter", "frogs": 5, "rain": True}
    with closing(make_world(POND, seed=3, host="plain", params=given)) as runtime:
        assert runtime.game == {
            "frogs": 5, "frog.croak.utility": 0.5, "rain": True, "season": "winter", "name": "pond",
        }  # fmt: skip
        assert [agent.name for agent in runtime.agents] == ["frog 0", "frog 1", "frog 2", "frog 3", "frog 4"]


def test_texts_are_read_by_the_type_of_the_parameter_in_the_order_of_the_world() -> None:
    given = {"name": "7", "season": "winter", "rain": "true", "frog.croak.utility": "1", "frogs": "7"}
    checked = checked_params(POND, given)
    assert list(checked.items()) == [
        ("frogs", 7), ("frog.croak.utility", 1.0), ("rain", True), ("season", "winter"), ("name", "7"),
    ]  # fmt: skip
    assert [type(value).__name__ for value in checked.values()] == ["int", "float", "bool", "str", "str"]
    assert type(checked_params(POND, {"frog.croak.utility": 1})["frog.croak.utility"]) is float


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("frogs", "2.5", "'2.5' is no whole number. Its default is 2."),
        ("frogs", True, "True is no whole number. Its default is 2."),
        ("frogs", 2.0, "2.0 is no whole number. Its default is 2."),
        ("frogs", None, "None is no whole number. Its default is 2."),
        ("frogs", -1, "-1 is not 0 to 50. Its default is 2."),
        ("frogs", "9" * 5000, f"'{'9' * 40}"),
        ("frog.croak.utility", "nan", "nan is no number that can be counted with. Its default is 0.5."),
        ("frog.croak.utility", 10**400, "1000"),
        ("frog.croak.utility", "1e400", "inf is no number that can be counted with. Its default is 0.5."),
        ("rain", "yes", "'yes' is no flag (true or false). Its default is False."),
        ("rain", 1, "1 is no flag (true or false). Its default is False."),
        ("season", "spring", "'spring' is not one of summer | winter. Its default is 'summer'."),
        ("season", 3, "3 is no text. Its default is 'summer'."),
        ("frog", 3, "there is no such parameter. Did you mean 'frogs'? They are frogs, frog.croak.utility, rain,"),
    ],
)
def test_what_does_not_fit_is_told(name: str, value: object, told: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make_world(POND, seed=0, host="plain", params={name: value})
    assert caught.value.text.startswith(f"the parameter '{name}' of the world 'pond': {told}")
    assert (caught.value.world, caught.value.parameter) == ("pond", name)
    assert len(caught.value.text) < 400


def test_a_world_without_parameters_takes_none() -> None:
    with closing(make_world(BARE, seed=0, host="plain", params={})) as runtime:
        assert runtime.tick == 0
    told = "the parameter 'frogs' of the world 'bare': this world has no parameters. It takes none: leave it out."
    with pytest.raises(ParameterError) as caught:
        make_world(BARE, seed=0, host="plain", params={"frogs": 1})
    assert caught.value.text == told
    with pytest.raises(ParameterError):
        BARE.make(seed=0, host="plain", params={"frogs": 1})


def test_any_object_is_a_world_with_parameters() -> None:
    assert isinstance(POND, TakesParameters)
    assert isinstance(POND, Measures)

    class Plain:
        name = "plain"
        summary = ""

        def make(self, *, seed: int, host: str) -> art.Runtime:
            return art.Runtime(seed, host=host)

        def run_headless(self, **_options: Any) -> Any:
            raise AssertionError

        def run_live(self, **_options: Any) -> None:
            raise AssertionError

    plain = Plain()
    assert not isinstance(plain, TakesParameters)
    with closing(make_world(plain, seed=0, host="plain")) as runtime:
        assert measure_world(plain, runtime) == {}
    with pytest.raises(ParameterError, match="this world has no parameters"):
        make_world(plain, seed=0, host="plain", params={"frogs": 1})


def test_a_run_is_measured_after_any_tick() -> None:
    with closing(make_world(POND, seed=3, host="plain", params={"frogs": 4})) as runtime:
        assert measure_world(POND, runtime) == {"frogs": 4, "tick": 0}
        runtime.step()
        assert measure_world(POND, runtime) == {"frogs": 4, "tick": 1}
        assert measure_world(BARE, runtime) == {}


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        (None, "its measure gives a NoneType."),
        ({"alive": True}, "its measure gives True for 'alive'."),
        ({"frogs": [1]}, "its measure gives [1] for 'frogs'."),
        ({7: 1}, "its measure gives 1 for 7."),
    ],
)
def test_what_is_measured_is_plain(measured: Any, told: str) -> None:
    world = SimpleWorld("pond", lambda *, seed, host: art.Runtime(seed, host=host), measure=lambda _runtime: measured)
    with closing(make_world(world, seed=0, host="plain")) as runtime, pytest.raises(DefinitionError) as caught:
        measure_world(world, runtime)
    assert told in caught.value.text


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        (lambda: Parameter([1]), "its default is [1]."),  # type: ignore[arg-type]
        (lambda: Parameter("a", low=1), "it has a range and is no number."),
        (lambda: Parameter(True, high=1), "it has a range and is no number."),
        (lambda: Parameter(1, choices=("a",)), "it has choices and is no text."),
        (lambda: Parameter(7, high=5), "its default does not fit: 7 is not 5 or less."),
        (lambda: Parameter(-1.0, low=0), "its default does not fit: -1.0 is not 0 or more."),
        (lambda: Parameter(float("nan")), "its default does not fit: nan is no number that can be counted with."),
        (lambda: Parameter("c", choices=("a", "b")), "its default does not fit: 'c' is not one of a | b."),
        (lambda: SimpleWorld("pond", make, parameters={"a=b": Parameter(1)}), "it has a parameter 'a=b'."),
        (lambda: SimpleWorld("pond", make, parameters={"": Parameter(1)}), "it has a parameter ''."),
        (lambda: SimpleWorld("pond", make, parameters={"a": 1}), "its parameter 'a' is a int."),  # type: ignore[dict-item]
    ],
)
def test_a_parameter_that_contradicts_itself_is_refused(declared: Any, told: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        declared()
    assert told in caught.value.text
