"""Forms: what is one word has one key, whichever form stands in the question and which in the memory."""

from __future__ import annotations

import pytest

from graphmem.language import words
from graphmem.language.asking import AnswerQuestion
from graphmem.language.extractive import Extractive
from graphmem.language.forms import fold
from graphmem.language.gates import support

from .stories import START, statement

REGULAR = """
live move save serve solve believe receive arrive leave give have behave achieve improve shave carve love prove remove
observe deserve arrange change charge judge manage merge urge nudge lodge damage encourage engage exchange
raise cause pause lease tease nurse curse sense rinse taste waste paste close chase erase increase promise realise
use argue value issue continue rescue glue amuse abuse guide quote invite unite decide divide provide ride hide
type style cycle settle handle tackle juggle idle bake make hike like bike joke smoke phone name rule share store
prepare compare admire desire explore ignore measure cure create locate translate celebrate organise organize
practice notice dance produce race place embrace force amaze gaze freeze
walk talk cook clean paint play plan run swim stop jog shop knit dig rub chat visit travel open answer enter offer
prefer refer control install recall thrill scroll call tell sell fill smell spell drill pass press guess miss dress
kiss add end need feed seed read lead knead proceed agree free guarantee stuff sniff buzz fix mix box wax watch teach
reach catch march touch wash push finish wish fetch study carry marry worry tidy copy try fly cry dry stay enjoy obey
sing bring ring string bang hang long work turn return learn earn burn warn farm form train rain explain complain ski
go echo veto do
""".split()  # noqa: SIM905

IRREGULAR = """
go goes going went gone|leave leaves leaving left|meet meets meeting met|keep keeps keeping kept|
tell tells telling told|buy buys buying bought|teach teaches teaching taught|bring brings bringing brought|
think thinks thinking thought|catch catches catching caught|sell sells selling sold|feel feels feeling felt|
sleep sleeps sleeping slept|lend lends lending lent|send sends sending sent|spend spends spending spent|
build builds building built|lose loses losing lost|win wins winning won|sit sits sitting sat|
give gives giving gave given|drink drinks drank drunk|take takes taking took taken|
drive drives driving drove driven|write writes writing wrote written|see sees saw seen|
choose chooses choosing chose chosen|speak speaks speaking spoke spoken|break breaks breaking broke broken|
wear wears wearing wore worn|know knows knowing knew known|grow grows growing grew grown|
fly flies flying flew flown|eat eats eating ate eaten|run runs running ran|swim swims swimming swam swum|
begin begins beginning began begun|lie lies lying lay|die dies dying died|tie ties tying tied|use uses using used|
owe owes owing owed|live lives living lived life|leaf leaves|half halves|calf calves|shelf shelves|
bookshelf bookshelves|thief thieves|wolf wolves|knife knives|loaf loaves|wife wives|housewife housewives|
scarf scarves|hoof hooves|elf elves|life lives|child children|person people|foot feet|tooth teeth|woman women|
mouse mice|movie movies|cookie cookies|pie pies|city cities|story stories|potato potatoes|hero heroes|shoe shoes|
toe toes|house houses|virus viruses|bus buses|box boxes|quiz quizzes|lens lenses|watch watches|ache aches|
headache headaches|language languages|colour color colours colors coloured colored|favourite favorite|
neighbour neighbor neighbours|honour honor honoured|neighbourhood neighborhood|
organise organize organised organizing|organisation organization|realise realized|analyse analyze analysed|
centre center|theatre theater theatres|metre meter|catalogue catalog|travelled traveled|install instal installed|
grey gray|programme program|practise practice practising|mum mom
""".replace("\n", "").split("|")

APART = """
life leaf|plan plane|star stare|car care|cut cute|past paste|quit quite|hop hope|scar scare|spin spine|bath bake|
sky ski|tour tower|hour our|pour poor|rise rose|singer singe|wood wool|bear beer|cliff life|behalf have|brief brave|
belief relief|safe save|wolf wool|proof prove|grief grieve|news new|bus busy|us use|lens lend|mean man
""".replace("\n", "").split("|")


def forms_of(verb: str) -> list[str]:
    """Its third person, -ing and -ed, as they are spelled."""
    vowels = "aeiou"
    doubled = verb in "plan stop jog shop knit dig rub chat run swim prefer refer control travel".split()  # noqa: SIM905
    if verb.endswith("y") and verb[-2] not in vowels:
        third, past = verb[:-1] + "ies", verb[:-1] + "ied"
    elif verb.endswith(("s", "x", "z", "ch", "sh")) or verb in {"go", "echo", "veto", "do"}:
        third, past = verb + "es", verb + "ed"
    else:
        third, past = verb + "s", verb + ("d" if verb.endswith("e") else verb[-1] + "ed" if doubled else "ed")
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb + (verb[-1] if doubled else "")
    return [verb, third, stem + "ing", past]


@pytest.mark.parametrize("verb", REGULAR)
def test_the_forms_of_a_verb_share_a_key(verb: str) -> None:
    if verb in {"do", "have"}:  # Function words, which are never compared.
        assert {fold(form) for form in ("do", "does", "have", "has")} <= words.FUNCTION
        return
    forms = forms_of(verb)
    irregular = {"go", "run", "swim", "give", "hide", "ride", "leave", "freeze", "make", "feed", "read", "lead"}
    irregular |= {"teach", "catch", "fly", "sing", "bring", "ring", "string", "hang", "dig", "sell", "tell"}
    keys = {form: fold(form) for form in (forms[:3] if verb in irregular else forms)}
    assert len(set(keys.values())) == 1, keys


@pytest.mark.parametrize("family", IRREGULAR)
def test_what_no_rule_tells_shares_a_key(family: str) -> None:
    keys = {form: fold(form) for form in family.split()}
    assert len(set(keys.values())) == 1, keys


@pytest.mark.parametrize("pair", APART)
def test_other_words_stay_apart(pair: str) -> None:
    one, other = pair.split()
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("Where does Anna live?", "Anna lives in Bremen."),
        ("In which city does Anna live?", "Anna lives in Bremen, a city on the Weser."),
        ("Does Anna live in Bremen?", "Anna lives in Bremen."),
        ("When does Carl leave?", "Carl leaves on Friday."),
        ("When will Carl be leaving?", "Carl left on Friday."),
        ("Which tool does Dora use?", "Dora used the small hammer."),
        ("What does Emil believe?", "Emil believes in the old ferry."),
        ("Who serves the soup?", "The soup was served by Frida."),
        ("What did Gustav buy?", "Gustav bought a kettle."),
        ("Where did Hanna go on Sunday?", "Hanna went to the lake on Sunday."),
        ("Whom did Ivo meet?", "Ivo met the ferryman."),
        ("What did Jana teach?", "Jana taught Latin for years."),
        ("Which movie did Karl see?", "Karl saw two movies about bees."),
        ("What is on the shelf?", "The shelves hold jars of honey."),
        ("Who judges the quiz?", "Lore is judging the quizzes."),
        ("What is the favourite colour of Mira?", "Mira's favorite color is green."),
    ],
)
async def test_a_question_finds_what_says_it_in_another_form(question: str, held: str) -> None:
    statements = (statement(1, held), statement(2, "The wolves of the Harz sleep by day."))
    task = AnswerQuestion(question=question, who="Ines Calder", now=START, statements=statements)
    sentences = (await Extractive().reply(task)).value.sentences
    assert [(one.text, one.evidence) for one in sentences] == [(held, [1])]
    assert isinstance(support(held, statements[:1], quoting=True), dict)


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("Where does Anna live?", "Anna leaves on Friday."),
        ("When does Carl leave?", "Carl lives in Bremen."),
        ("Where did Hanna go?", "Hanna met the ferryman."),
        ("What did Gustav buy?", "Gustav sold a kettle."),
    ],
)
async def test_another_word_is_no_answer(question: str, held: str) -> None:
    task = AnswerQuestion(question=question, who="Ines Calder", now=START, statements=(statement(1, held),))
    assert not (await Extractive().reply(task)).value.sentences


@pytest.mark.parametrize(
    ("claim", "held"),
    [
        ("Anna does not live in Bremen.", "Anna lives in Bremen."),
        ("Carl never leaves on Friday.", "Carl left on Friday."),
        ("Gustav did not buy the kettle.", "Gustav bought the kettle."),
        ("Jana taught Latin to Karl.", "Karl teaches Latin to Jana."),
        ("The shelves do not hold the honey.", "The shelf holds the honey."),
    ],
)
def test_the_support_gate_sees_a_denial_in_another_form(claim: str, held: str) -> None:
    assert not isinstance(support(claim, [statement(1, held)]), dict)
