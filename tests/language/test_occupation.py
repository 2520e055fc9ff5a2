"""What somebody works at, read from the sentences that people describe somebody with."""

from __future__ import annotations

import pytest

from graphmem.language.days import plan_day
from graphmem.language.occupation import occupation
from graphmem.language.places import ChoosePlace, PlaceOption, choose_place
from graphmem.language.planning import PlanDay

PLACES = ("of Hollin", "near Hollin", "at Hollin", "in Hollin", "for Hollin", "from Hollin", "by the river")
TRADES = (
    "miller", "farmer", "baker", "nurse", "smith", "teacher", "vicar", "innkeeper", "midwife", "postman", "doctor",
    "cook", "mayor", "seamstress", "librarian", "ferrywoman", "lighthouse keeper", "pastry chef", "district nurse",
    "blacksmith", "shipwright", "fishmonger", "shepherd", "barista", "software engineer", "actor", "musician",
    "carpenter", "tailor", "clerk", "pharmacist", "beekeeper", "artist", "electrician", "waiter", "potter",
)  # fmt: skip


def a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


@pytest.mark.parametrize("trade", TRADES)
def test_a_trade_is_read_in_each_of_its_forms(trade: str) -> None:
    title, wanted = trade[0].upper() + trade[1:], f"work as {a(trade)}"
    forms = [
        *(f"{title} {place}, 52. Slow to anger." for place in PLACES),
        *(f"{a(trade)} {place}" for place in PLACES),
        f"{title}.",
        f"{title}, 41.",
        f"{title}; early to rise",
        f"{title}, early to rise, likes company",
        f"The village's {trade}.",
        f"The village {trade}".replace("village ", ""),
        f"is the village’s {trade}",
        f"Is {a(trade)} and lives alone.",
        f"She is {a(trade)} who loves the sea.",
        f"Petra Lind is Hollin's {trade}.",
        f"Petra is {a(trade)} at the edge of Hollin.",
        f"Petra Lind has been {a(trade)} for ten years",
        f"Works as {a(trade)}.",
        f"Petra works at the Mill as {a(trade)}",
        f"{title} and mother of two.",
        f"Mother of two, {trade} in Hollin.",
        f"A kind, patient {trade}.",
        f"A 43-year-old {trade}, stubborn and warm",
        f"Warm and quick. {title} of Hollin.",
        f"Warm, quick, and {a(trade)} by trade.",
        f"Widowed; now {a(trade)}.",
        f"I am {a(trade)}.",
    ]
    wrong = {form: found for form in forms if (found := occupation(form, "Petra Lind")) is None or found.text != wanted}
    assert wrong == {}


@pytest.mark.parametrize(
    ("traits", "text", "place"),
    [
        ("a nurse at the clinic", "work as a nurse", "clinic"),
        ("Nurse at the Clinic, 34", "work as a nurse", "Clinic"),
        ("Innkeeper of the Heron Inn in Aldermouth, 41.", "work as an innkeeper", "Heron Inn"),
        ("Isabella Rodriguez is a cafe owner of Hobbs Cafe who loves to make people feel welcome.",
         "work as a cafe owner", ""),
        ("Barista at Hobbs Cafe", "work as a barista", "Hobbs Cafe"),
        ("Klaus Mueller is a student at Oak Hill College studying sociology", "study", "Oak Hill College"),
        ("Teacher in the village", "work as a teacher", ""),
        ("Baker and postman of Hollin", "work as a baker and postman", ""),
        ("Runs the bakery", "run the bakery", ""),
        ("Warm. Runs the bakery with her sister, early to rise.", "run the bakery", ""),
        ("Retired sailor who now runs the inn.", "run the inn", ""),
        ("Keeps the lighthouse, says little", "keep the lighthouse", ""),
        ("Keeps bees near Hollin", "keep bees near Hollin", ""),
        ("Owns a bookshop", "own a bookshop", ""),
        ("Works at the clinic and likes cats", "work at the clinic", "clinic"),
        ("She works in a bookshop.", "work in a bookshop", "bookshop"),
        ("Teaches at the school.", "teach at the school", "school"),
        ("Farms near Hollin", "farm near Hollin", ""),
        ("Petra sells cloth at the Market", "sell cloth at the Market", "Market"),
        ("Owner of the mill", "run the mill", ""),
        ("Widower and joiner", "work as a joiner", ""),
        ("The only doctor in Hollin", "work as a doctor", ""),
        ("Works from home as a translator", "work as a translator", ""),
        ("Her husband runs the bakery; she is a nurse", "work as a nurse", ""),
        ("Fisherman's wife, sells fish", "sell fish", ""),
        ("By day a baker, by night a poet", "work as a baker", ""),
        ("Once a sailor, now a joiner", "work as a joiner", ""),
        ("Seems gruff but is a good doctor", "work as a doctor", ""),
        ("Petra bakes bread", "bake bread", ""),
        ("Schoolgirl, 9", "study", ""),
        ("Housewife and mother of three", "keep house", ""),
    ],
)  # fmt: skip
def test_what_somebody_does_and_where(traits: str, text: str, place: str) -> None:
    found = occupation(traits, traits.split(" is ")[0] if " is " in traits else "Petra")
    assert found is not None
    assert (found.text, found.place) == (text, place)


@pytest.mark.parametrize(
    "traits",
    [
        "",
        "friendly, outgoing, hospitable",
        "Clever, eager, tender",
        "A retired teacher",
        "Retired teacher of Hollin, 71.",
        "Formerly a smith, 80",
        "Used to be a nurse",
        "Was a ferryman until the bridge was built",
        "Wants to be a singer",
        "No longer a farmer",
        "Her husband, a baker, is ill.",
        "Everyone's grandmother",
        "Jack of all trades",
        "Member of the council",
        "Lives near the mill",
        "Daughter of a fisherman",
        "Married to the baker",
        "The baker's daughter",
        "Her husband is a doctor",
        "Her father was a smith, and her brother is a miller",
        "Mother of two",
        "A good listener, an early riser, a loner",
        "Keeps a diary",
        "Keeps to herself",
        "Owns a dog",
        "Runs every morning",
        "Works hard",
        "Quick temper. Great humour.",
        "A gentleman",
        "Grows tired easily",
        "Perfectionist",
        "Gets up at 6:45 am and goes to bed at 10:30 pm.",
        "Jon Ferrow avoids concerts and parties.",
    ],
)
def test_what_is_no_work_of_now_or_of_somebody_else(traits: str) -> None:
    assert occupation(traits, "Petra Lind") is None


@pytest.mark.parametrize("traits", ["Miller of Hollin, 52.", "Farmer near Hollin", "a nurse at the clinic"])
def test_the_day_is_filled_with_work(traits: str) -> None:
    task = PlanDay(
        agent=f"Petra Lind: {traits}", time_zone="UTC", day="Friday 12 June 2026", date="2026-06-12",
        since="00:00", now="00:00", statements=(),
    )  # fmt: skip
    found = occupation(traits)
    assert found is not None
    blocks = [block for block in plan_day(task)["plan"] if block["text"] == found.text]
    assert len(blocks) == 2
    assert {block["place"] for block in blocks} == {found.place}


def test_who_lives_where_it_works_works_in_another_room() -> None:
    rooms = (PlaceOption(name="flat", home=True, here=True), PlaceOption(name="surgery", holds=("desk",)))
    task = ChoosePlace(agent="Omar", doing="work as a nurse", hint="clinic", within="Clinic", options=rooms)
    assert choose_place(task)["number"] == 2
    shut = (rooms[0], rooms[1].model_copy(update={"closed": True}))
    assert choose_place(task.model_copy(update={"options": shut}))["number"] == 1


@pytest.mark.parametrize(
    ("trade", "place"),
    [("miller", "Mill"), ("baker", "Bakery"), ("innkeeper", "Heron Inn"), ("smith", "Smithy"), ("farmer", "Low Farm"),
     ("teacher", "School"), ("ferryman", "Ferry")],
)  # fmt: skip
def test_a_trade_finds_its_place(trade: str, place: str) -> None:
    names = ("Green", "Cottage", "Mill", "Bakery", "Heron Inn", "Smithy", "Low Farm", "Ferry")
    options = (
        *(PlaceOption(name=name, home=name == "Cottage") for name in names),
        PlaceOption(name="School", holds=("teach",)),
    )
    task = ChoosePlace(agent="Petra", doing=f"work as {a(trade)} and see to the roof", options=options)
    assert options[choose_place(task)["number"] - 1].name == place
