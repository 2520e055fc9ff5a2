"""What an agent works at, as the sentences that describe it say: *Miller of Hollin*, *a nurse at the clinic*.

Read are English phrases whose subject is the agent: a trade (`is the village's smith`, `Baker.`, `works as a clerk`),
or what it does for a living (`runs the bakery`, `works at the mill`). A trade is known by a list or by its ending.
What somebody was or wants to be, and what somebody else is, is no work of the agent's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphmem.language import words


@dataclass(frozen=True)
class Occupation:
    """What somebody works at."""

    text: str
    """As a plan says it: ``work as a miller``, ``run the bakery``."""
    place: str = ""
    """Where, as far as it is said: ``clinic``."""


def occupation(traits: str, name: str = "") -> Occupation | None:
    """The first work that a description names; None where it names none.

    Args:
        traits: Sentences about the agent.
        name: Its own, which may be their subject.
    """
    subject = re.compile(rf"({'|'.join([*_names(name), *_PRONOUNS])})\b(?:['’](?:s|m|re)\b)?\s*", re.IGNORECASE)
    for sentence in words.sentences(traits):
        own = True
        for clause in _CLAUSE.split(sentence):
            rest = _JOINED.sub("", clause.strip(" .!?:()“”\"'"))
            if told := subject.match(rest):
                rest, own = rest[told.end() :], True
            elif _OTHERS.match(rest):
                own = False  # What follows in this sentence is about them.
            first = told is not None and told[1].casefold() in _UNINFLECTED
            if own and (found := _read(rest, first)):
                return found
    return None


_PRONOUNS = ("she", "he", "they", "i", "who")
_UNINFLECTED = ("i", "they")
"""After these a verb has no ending: `I bake`, where `Cook.` is a trade."""
_JOINED = re.compile(r"^(?:and|but|or)\s+", re.IGNORECASE)


def _names(name: str) -> list[str]:
    parts = name.split()
    return [re.escape(one) for one in dict.fromkeys([name, *parts[:1]]) if one]


_CLAUSE = re.compile(
    r"[,;:()]|\s+[-–—]\s+|\s+who\s+|\s+(?:and|but)\s+(?=(?:also|now|she|he|they|is|works?|\w+s\s+the)\s)", re.IGNORECASE
)
_KIN = (
    r"(?:husband|wife|partner|spouse|mother|father|parents?|sister|brother|sons?|daughters?|child(?:ren)?|friend|uncle|"
    r"aunt|cousin|neighbou?r|grand\w+)"
)
_OTHERS = re.compile(
    rf"(?:her|his|their|my)\s+{_KIN}\b|(?:(?:the|an?)\s+)?(?:[\w’']+['’]s\s+)?{_KIN}\s+(?:is|was|are|were|\w+s)\b",
    re.IGNORECASE,
)
"""Somebody else of whom it is told what they do."""
_NOT = re.compile(
    r"\b(?:retired|former|formerly|ex|once|unemployed|aspiring|would-be|used\s+to|was|were|had\s+been|no\s+longer|not|never|"
    r"wants?|hopes?|dreams?|wish(?:es)?|hates?|dislikes?|afraid|out\s+of\s+work)\b",
    re.IGNORECASE,
)
"""It is no work of now."""


def _read(clause: str, bare: bool) -> Occupation | None:
    clause = _LEISURELY.sub("", clause)
    if _NOT.search(_SINCE.sub("", clause)):
        return None
    if as_what := _AS.match(clause):
        return _trade(clause[as_what.end() :], sure=True, place=as_what["place"] or "")
    if lead := _IS.match(clause):
        return _trade(clause[lead.end() :])
    return _does(clause, bare) or _trade(clause)


_LEISURELY = re.compile(r"^(?:(?:now|today|currently|also|still|mostly|by\s+day|by\s+trade|by\s+profession)\s+)+", re.I)
_SINCE = re.compile(r"\bsince\b.*$", re.IGNORECASE)
_PLACE = r"(?:the|an?|her|his|their|our)?\s*(?P<place>[\w’'-]+(?:\s+(?:(?:and|of|the)\s+)?[A-Z][\w’'-]*)*)"
_AS = re.compile(
    rf"(?:(?:is|has\s+been)\s+)?(?:works?|worked|working|serv(?:es?|ing)|employed|known\s+for\s+(?:\w+\s+)?work)\s+"
    rf"(?:from\s+home\s+|(?:at|in|for|on)\s+{_PLACE}\s+)?as\s+",
    re.IGNORECASE,
)
_IS = re.compile(
    r"(?:is|am|are|has\s+been|have\s+been)\s+(?:(?:now|currently|still|also|both|by\s+trade)\s+)*", re.IGNORECASE
)

# --- a trade -------------------------------------------------------------------------------------------------------

_DETERMINED = re.compile(
    r"(?:(?:an?|the|our|one\s+of\s+the)\s+)?(?:(?:the\s+)?[\w-]+['’]s\s+|[\w-]+s['’]\s+)?", re.IGNORECASE
)
_WORD = re.compile(r"\s*([^\W\d_][\w’'-]*|\d+-year-old)")
_STOP = words.listed(
    """
    at in of for near by on from who that which with and to since as whose but or under over around outside beside
    behind across along between here there aged working studying living is was has had because when while until till
    all these this those her his their my our like just turned too again
    """
)
_WHERE = re.compile(rf"\s*(?:at\s+|(?:of|in)\s+(?=the\s)|in\s+(?=an?\s)){_PLACE}")
_AREA = words.listed(
    "village town city country countryside county region area hamlet parish valley hills north south east west"
)


_OWNER = re.compile(
    r"(?:(?:an?|the)\s+)?(?:owner|head|chief)\s+of\s+((?:the|an?)\s+[\w’'-]+(?:\s+[A-Z][\w’'-]*)*)", re.I
)


def _trade(text: str, *, sure: bool = False, place: str = "") -> Occupation | None:
    """The trade that a phrase begins with, and those joined to it by *and*."""
    if runs := _OWNER.match(text):
        return Occupation(f"run {runs[1]}")
    found: list[str] = []
    where = place
    while True:
        rest = text[_determined(text) :]
        noun, end = _phrase(rest)
        if noun is None:
            break
        rest = rest[end:]
        if sure or _is_trade(noun):
            found.append(noun)
        elif found or not re.match(r"\s*and\s", rest):
            break
        if not where and (told := _WHERE.match(rest)) and told["place"].casefold() not in _AREA:
            where = told["place"]
        joined = re.match(r"\s*(?:and|&)\s+", rest)
        if joined is None or len(found) == 2:
            break
        text, sure = rest[joined.end() :], False
    if not found:
        return None
    head = found[0].split()[-1].casefold()
    if head in _AT_HOME:
        return Occupation("keep house")
    if head in _STUDIES:
        return Occupation("study", where)
    return Occupation(f"work as {' and '.join([_article(found[0]), *found[1:]])}", where)


def _determined(text: str) -> int:
    match = _DETERMINED.match(text)
    return match.end() if match else 0


def _phrase(text: str) -> tuple[str | None, int]:
    """A noun with the nouns before it, without adjectives; and where it ends."""
    end, taken = 0, list[str]()
    while (match := _WORD.match(text, end)) and match[1].casefold() not in _STOP and len(taken) < 6:
        taken.append(match[1])
        end = match.end()
    while len(taken) > 1 and _ADJECTIVE.fullmatch(taken[0]):
        taken.pop(0)
    if not taken or len(taken) > 4:
        return None, end
    first, *more = taken
    return " ".join([first if first.isupper() and len(first) > 1 else first[:1].lower() + first[1:], *more]), end


_ADJECTIVE = re.compile(
    r"\d+-year-old|[\w-]+(?:ful|ous|ive|less|ly|ed|ish|able|ible|est|-minded|-hearted|-working|-time|-spoken|-tempered)|"
    r"young|old|kind|warm|shy|proud|local|busy|good|gentle|tall|strong|clever|eager|quiet|loud|new|great|big|small|"
    r"patient|honest|careful|quick|calm|stern|stubborn|cheery|hearty|lively|merry|sturdy|burly|wise|grumpy|happy|sad|"
    r"funny|witty|middle-aged|elderly|widow|single|divorced|ambitious|brave|modest|humble|precise|exact|senior|junior|"
    r"brilliant|pleasant|elegant|well-known|famous|only|very|rather|quite|freelance|smart|lone|sole|tired|born",
    re.IGNORECASE,
)


def _is_trade(phrase: str) -> bool:
    head = phrase.split()[-1].casefold().split("-")[-1]
    if head in _NO_TRADE:
        return False
    return head in _TRADES or (len(head) > 3 and _ENDING.search(head) is not None)


_ENDING = re.compile(
    r"(?:[^aeiou]er|[aeiou][^aeiou]{1,2}er|eer|ier|yer|tor|sor|ologist|icist|[nrpt]ist|graphist|cian|man|woman|smith|wright|keeper|monger|"
    r"herd|maid|maker|worker|hand|master|mistress|warden|stress|person|minder)$"
)
_TRADES = words.listed(
    """
    accountant acolyte ambassador analyst antiquarian apothecary apprentice architect artist assistant athlete
    attendant author baker bard barista bishop boss builder butler captain carpenter cashier ceo chef chemist
    chief clergywoman cleric clerk coach coder colonel composer consultant cook coroner councillor courier curate
    curator custodian deacon dean dentist deputy detective dj docent doctor druid editor electrician engineer
    entrepreneur farmer farmhand fisher florist gp guard guardian guide guild handyman healer herald herbalist
    herdsman hermit historian homemaker host hostess househusband housewife imam inspector intern jester
    journalist judge knight laird landlady landlord lawyer lecturer librarian lieutenant linguist mage magistrate
    maid major mason mate matron mayor mechanic medic merchant midwife miller minister model monk musician nanny
    notary novelist nun nurse official organist paramedic parson pastor patrolman pharmacist physician physicist
    pianist pilot pirate playwright poet politician postie priest priestess principal professor psychiatrist
    psychologist pupil rabbi ranger receptionist rector reporter representative researcher sage sailor salesman
    saleswoman scholar schoolboy schoolgirl scientist scout scribe seamstress secretary sergeant servant sexton
    shaman sheriff smith soldier squire steward stewardess student surgeon tailor technician therapist trainee
    translator treasurer troubadour tutor undergraduate undertaker usher valet vet veterinarian vicar waiter
    waitress warden warrior watchman witch wizard yeoman
    """
)
_AT_HOME = words.listed("housewife househusband homemaker housekeeper")
_STUDIES = words.listed("student pupil undergraduate schoolboy schoolgirl")
_NO_TRADE = words.listed(
    """
    admirer after ancestor anger another answer bachelor baptist beginner believer better bigger bitter brother
    center centre character chauvinist clever color colour comer commoner communist corner danger daughter dinner
    disaster dreamer drinker dutchman eager easter egotist either elder englishman englishwoman error ever
    everyman factor faster father favor favour feather feminist fever finger finisher flower follower foreigner
    former frenchman frenchwoman gamer gentleman german giver grandfather grandmother grandson hand her hoarder
    homebody honor honour hugger human humanist humor humour hunger inner insider irishman islander joker labor
    labour latecomer later laughter layman learner leather leftover letter listener liver loner loser lover lower
    madman man manner matter member minor mirror monster mother motorist neither never newcomer norman number
    offer older optimist order other outer outsider over oyster paper partner per perfectionist person pessimist
    planner power prisoner proper prouder purist quieter quitter rather reader riser river roman rumor rumour
    scotsman seeker shoulder sinister sinner sister sleeper slender slower smoker sober spider stammer starter
    stepfather stepmother stepsister stranger stronger sufferer summer superman supper supporter survivor talker
    teenager teetotaller temper tender terror theorist thinker tiger together tourist tower under upper utter
    villager visitor warmer water weather welshman whether whisper widower winner winter woman worrier younger
    youngster
    """
)
"""Nouns, and others with the ending of one, that name no work."""


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].casefold() in 'aeiou' else 'a'} {noun}"


# --- what somebody does --------------------------------------------------------------------------------------------

_DET = r"(?:the|an?|her\s+(?:own\s+)?|his\s+(?:own\s+)?|their\s+(?:own\s+)?|our|one\s+of\s+the|[\w-]+['’]s)\s+"
_RUNS = re.compile(
    rf"(?P<verb>runs?|keeps?|owns?|manages?|tends?|minds?|heads?|operates?|leads?|sails?|drives?|works?)\s+(?P<what>"
    rf"(?={_DET}|[A-Z]|bees\b|sheep\b|goats\b|cattle\b|cows\b|pigs\b|hens\b|chickens\b|geese\b|horses\b|house\b).*)"
)
_LABOURS = re.compile(
    rf"(?P<verb>works?|working|employed|helps?)\s+(?:(?:nights|days|full-time|part-time|mostly|mornings)\s+)?(?P<what>(?:at|in|on|for|with)\s+(?={_DET}|[A-Z]|[a-z]+\s+(?:and|at|in)\b|\w+$).*)"
)
_ONGOING = {"working": "work", "employed": "work"}
_PLIES = re.compile(
    r"(?P<verb>teach(?:es)?|bakes?|brews?|farms?|fish(?:es)?|weaves?|forges?|nurses?|preach(?:es)?|ferries|herds?|shoes|"
    r"ploughs?|plows?|sells|sell|repairs?|mends?|builds?|breeds?|raises?|grows?|studies|study|carves?|delivers?|cooks?)"
    r"(?P<what>(?:\s+.*)?)$"
)
_IDLE = re.compile(
    r"\b(?:dogs?|cats?|diary|journal|secrets?|promises?|grudges?|profile|eye|eyes|temper|head|life|risk|errands?|mile|"
    r"race|marathons?|word|distance|company|peace|quiet|weekends?|sundays?|saturdays?|evenings?|free\s+time|tired|old|fun|"
    r"pleasure|everyone|everybody|hard|news|friends?|pet|hobby|himself|herself|themselves|bicycle|bike|car|garden)\b",
    re.IGNORECASE,
)
"""What is kept, run or done, but for no living."""
_PHRASE_END = re.compile(
    r"\s+(?:and|but|who|since|because|where|which|while|when|until|from\s+\d|for\s+\w+\s+years|alone|together\s+with|with\s+(?:her|his|their))\b.*$",
    re.IGNORECASE,
)


def _does(clause: str, bare: bool) -> Occupation | None:
    clause = clause[:1].lower() + clause[1:]
    match = _RUNS.match(clause) or _LABOURS.match(clause) or _PLIES.match(clause)
    if match is None or not (bare or match["verb"].endswith("s") or match["verb"] in _ONGOING):
        return None
    what = _PHRASE_END.sub("", match["what"]).strip(" .")
    if _IDLE.search(what) or len(what.split()) > 8:
        return None
    place = re.search(rf"\b(?:at|in)\s+{_PLACE}", what)
    where = place["place"] if place and place["place"].casefold() not in _AREA else ""
    return Occupation(f"{_base(match['verb'])} {what}".strip(), where)


_IRREGULAR = {
    **_ONGOING,
    "teaches": "teach",
    "fishes": "fish",
    "preaches": "preach",
    "ferries": "ferry",
    "studies": "study",
}


def _base(verb: str) -> str:
    verb = verb.casefold()
    return _IRREGULAR.get(verb, verb.removesuffix("s"))
