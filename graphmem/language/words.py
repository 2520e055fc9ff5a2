"""Words: how texts are split, folded and told apart without a model or a dictionary.

English is read well, other languages roughly: words are folded by the same rules, and scripts without spaces are read
in pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.language.forms import fold

_WORD = re.compile(r"\d+(?:[.,:]\d+)*(?:[^\W\d_]+)?|[^\W_]+(?:['’\-][^\W_]+)*")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0002fa1f]{2,}")
_CAPTION = re.compile(r"\[[^\[\]]*\]")
_SENTENCE = re.compile(
    r"(?<=[.!?…。！？])(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)[\"'”’)]*\s+|(?<=[。！？])|[\n\r]+|\s+[-–—]\s+|;\s+"
)


@dataclass(frozen=True)
class Word:
    """One word of a text, in its place."""

    text: str
    fold: str
    """Its folded form: the key under which it is the same word as others."""
    start: int
    end: int
    initial: bool
    """First in its sentence, so that a capital says nothing."""

    @property
    def capital(self) -> bool:
        """Whether it starts with a capital."""
        return self.text[:1].isupper()


def without_captions(text: str) -> str:
    """A text without ``[bracketed]`` remarks, such as descriptions of photographs; all of it when nothing else is."""
    bare = _CAPTION.sub(" ", text)
    return bare if any(char.isalnum() for char in bare) else text


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its closing punctuation."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def words(text: str) -> list[Word]:
    """The words of one sentence."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        for start, end in _pieces(match[0], match.start()):
            piece = text[start:end]
            found.append(Word(piece, fold(piece), start, end, initial=not found))
    return found


def _pieces(word: str, offset: int) -> Iterator[tuple[int, int]]:
    if _UNSPACED.fullmatch(word):
        for position in range(len(word) - 1):
            yield offset + position, offset + position + 2
    else:
        yield offset, offset + len(word)


def listed(text: str) -> frozenset[str]:
    """The words of a list in plain text, as they stand."""
    return frozenset(text.split())


def vocabulary(text: str) -> frozenset[str]:
    """The folded words of a list in plain text."""
    return frozenset(fold(word) for word in text.split())


DETERMINERS = vocabulary(
    """
    a an the my your his her its our their this that these those some any no every each another both all few
    several many much more most first second third own other such two three four five six
    """
)
PREPOSITIONS = vocabulary(
    """
    of for with about in on at by from into onto over under after before during without through between against
    around near like as than towards toward upon per via along across behind beside besides beyond despite among
    """
)
PRONOUNS = vocabulary(
    """
    i you he she it we they who someone everyone anybody nobody everybody somebody there
    """
)
BEFORE_VERBS = PRONOUNS | vocabulary(
    """
    to can could will would should might must may shall cannot can't couldn't won't wouldn't shouldn't don't
    doesn't didn't not never always also just really gonna wanna gotta let's lets i'll we'll you'll they'll i'd
    we'd you'd they'd please still even ever hardly
    """
)
BEING = vocabulary(
    """
    am is are was were be been being i'm you're he's she's it's we're they're that's isn't aren't wasn't weren't
    stay stays staying stayed keeping feel feels felt feeling seem seems seemed look looks looked sound sounds
    sounded get gets got getting became become so very too pretty quite super really totally kinda bit how more
    most less pretty absolutely extremely
    """
)
FIRST_PERSON = vocabulary(
    """
    i me my mine myself we us our ours i'm i've i'd i'll we're we've we'd we'll
    """
)
SECOND_PERSON = vocabulary(
    """
    you your yours yourself you're you've you'd you'll ya
    """
)
NEGATIONS = frozenset(
    "not no never none nobody nothing nowhere neither nor without cannot hardly barely no-one n't".split()  # noqa: SIM905
)

FILLER = vocabulary(
    """
    hey hi hello hiya howdy bye goodbye cya cheers thanks thank thx wow whoa woah oh ooh ah aw aww awww yeah yes
    yep yup yay nah nope no ok okay alright right sure well haha hahaha lol omg oops ouch phew yikes hmm mmm ugh
    damn gosh congrats congratulations welcome sorry please btw anyway anyways actually basically honestly
    seriously literally definitely absolutely totally certainly exactly indeed obviously apparently fortunately
    unfortunately thankfully luckily hopefully maybe perhaps probably morning evening afternoon night goodnight
    take-care see-ya later dude bud buddy man bro folks guys pal mate c'mon gotcha yum yummy ya y'all
    """
)

_FUNCTION = vocabulary(
    """
    a an the and or but nor so yet if then else than because since while when whenever where wherever why how what
    which who whom whose that this these those there here i me my mine myself you your yours yourself he him his
    himself she her hers herself it its itself we us our ours ourselves they them their theirs themselves one ones
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing none each
    every either neither both all any some few many much more most less least several enough such same other
    others another own only just even also too very really quite rather pretty almost nearly still already ever
    never always often sometimes usually seldom rarely again once twice now today tonight yesterday tomorrow soon
    later recently lately ago before after during until till about above across against along among around as at
    behind below beneath beside between beyond by down for from in inside into like near of off on onto out
    outside over past per through throughout to toward towards under up upon via with within without not no yes am
    is are was were be been being have has had having do does did doing done can could will would shall should may
    might must ought cannot let lets i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd
    she'll it's it'd it'll we're we've we'd we'll they're they've they'd they'll that's there's here's what's
    who's how's where's when's isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't
    couldn't won't wouldn't shouldn't mightn't mustn't ain't let's gonna wanna gotta kinda sorta dunno lemme gimme
    cause 'cause cuz tho though although however therefore thus whether unless except instead meanwhile moreover
    otherwise besides anyway else yourselves doesnt dont cant im ive must've should've could've would've might've
    how're what're how've what've that'd that'll who'd who'll why's o'clock etc vs eg ie am pm amid onto upon till
    yet ok mr mrs ms dr sir
    """
)

_COMMON_VERBS = vocabulary(
    """
    accept hurt wake woke chat control apologize apologise
    go going gone went come came coming get got getting gotten make made making take took taken taking give gave
    given giving put putting keep kept keeping let say said saying tell told telling talk talked talking speak
    spoke spoken ask asked asking answer mention hear heard hearing listen see saw seen seeing look looked looking
    watch feel felt think thought thinking know knew known knowing guess suppose believe mean meant hope hoping
    wish want wanted need needed like liked love loved loving enjoy enjoyed prefer hate try tried trying start
    started starting begin began begun stop stopped finish finished end ended become became turn turned happen
    happened happening seem seemed appear show showed shown showing share shared sharing find found finding lose
    use used using help helped helping work working worked play call called leave left bring brought set stay
    stayed remain hold held follow move moved live lived run open opened close closed walk change changed add
    added remember remind reminded forget forgot understand understood agree decide decided plan planned planning
    wait waiting visit visited spend spent pick picked check checked send sent meet met join joined include
    included consider considered notice noticed realize realized realise realised wonder wondered imagine expect
    expected allow cause matter care catch caught deal dealing handle manage managed focus focused create created
    creating inspire inspired inspiring motivate motivated motivating encourage encouraged appreciate appreciated
    support supported supporting celebrate surround surrounded improve improved reach reached learn learned
    learning teach push pushed feature capture captured explore explored exploring experience experienced
    experiencing express expressing discover discovered hang hung rock rocking struggle lie lay laid sit sat stand
    stood fall rise rose raise raised throw threw carry carried pull pulled wear wore worn cut hit read reads pass
    passed return returned arrive arrived reply replied explain explained describe own owned belong serve served
    offer offered suggest suggested recommend recommended promise promised prepare prepared rely depend save saved
    lead led count counted grow win winning succeed fail failed pay paid cost worth deserve bet cheer cheers trust
    write wrote break breaking broke broken lift dig wipe pour poured hand handed drop fix
    """
)
COMMON_NOUNS = vocabulary(
    """
    scare opportunity opportunities chat source
    thing things stuff way ways lot lots bit kind sort type time times day days week weeks month months year years
    hour hours minute minutes moment moments weekend weekends monday tuesday wednesday thursday friday saturday
    sunday mon tue tues wed thurs thu fri sat sun january february march april may june july august september
    october november december person people someone guy guys man men woman women place places area part parts
    piece side end front back top bottom case point fact idea ideas reason result example question word words
    number numbers name names line list view views half quarter couple pair dozen rest whole none world life lives
    story spot step steps level chance effort difference impact changes choice choices goal goals progress journey
    path road track process tip tips advice suggestion suggestions thought thoughts feeling feelings memories mind
    heart soul eye eyes hands head face corner vibe vibes power strength energy spirit spirits sense attitude
    mindset perspective rights issue issues problem problems situation situations amount kudos props mood fav pics
    pic photo photos picture pictures image images caption shot shots insight insights memory turns talks topic
    topics observation observations luck blast wonder rid reminder reminders boost bonus tonight midnight noon
    dawn dusk morning mornings evening evenings afternoon night nights
    """
)
_COMMON_OTHERS = vocabulary(
    """
    good great better best bad worse worst nice cool awesome amazing wonderful fantastic incredible beautiful
    gorgeous stunning lovely cute sweet fun funny happy glad sad angry tired excited exciting proud pumped
    thrilled grateful thankful scary scared worried hard easy tough difficult challenging challenge challenges big
    huge large small little tiny long short high low old new young early late fast slow quick quickly slowly full
    empty free busy ready important special interesting impressive meaningful powerful rewarding refreshing
    relaxing peaceful calm calming positive negative possible impossible different similar certain sure true real
    right wrong fine okay alright able far near next last first second third final main only favorite favourite
    fave favorites favourites recent recently current major minor single simple clear perfect crazy wild weird
    strange rough tasty delicious yummy fresh healthy healthier strong weak safe warm cold hot dry wet dark light
    bright deep soft loud quiet common rare total extra super mega ultra one two three four five six seven eight
    nine ten hundred thousand million zero awesomeness sounding totally forward together apart away ahead alone
    along especially particularly mostly mainly simply truly deeply highly fully completely somewhat somehow
    somewhere anywhere everywhere nowhere someday anytime every everyday daily whatever whoever whichever yourself
    lately caring rad epic unreal insane sick dope lit neat solid decent damn hell determined determine passionate
    passion curious confident lucky honest keen interested interest involved available aware familiar willing
    likely unlikely sore painful active trans blue red green yellow purple pink black white brown orange grey gray
    golden vibrant colorful colourful supportive personal loving
    """
)
STOP = _FUNCTION | _COMMON_VERBS | COMMON_NOUNS | _COMMON_OTHERS | FILLER
"""Folded words that are never what a memory is about."""
FUNCTION = _FUNCTION
"""Folded words that carry no meaning of their own."""


ORDINARY = vocabulary(
    """
    art books cars change cheese children coffee colour color comfort consistency cooking dance diet dinner dogs dreams
    education exercise experience failure faith family fear fitness flowers food freedom friends friendship fun games
    gardens gifts growth gym habits health help hikes hobbies holidays home hope humor humour jobs joy kids kindness
    language laughter leisure loss love luck mental money music nature neighbours neighbors nerves news outdoor parents
    patience peace perseverance pets physical plants play pride progress reading relief rest safety school sleep small
    social solitude sport sports stories stress success support talent talk teamwork tea therapy time together towns
    tradition travel trips trust two three four water weather weekend weekends weight winter summer spring autumn work
    writing yoga regular given according overall based outside inside despite whereas following
    """
)
"""Folded words that often open a sentence and are no names, though nothing in their form shows it."""


def is_nominal(folded: str) -> bool:
    """Whether a folded word can be what the word before it describes, as `rights` in `trans rights`."""
    return folded not in FILLER and (folded in COMMON_NOUNS or not is_stop(folded))


def is_stop(folded: str) -> bool:
    """Whether a folded word can be no topic: too common, a number, or a single letter of a script with words."""
    if folded in STOP or not any(char.isalpha() for char in folded) or folded[0].isdigit():
        return True
    return len(folded) < 3 and folded.isascii()


_ADDRESS = re.compile(
    r"(?:^|(?P<greeting>[^\W\d_]+)\s+|[,!.]\s*)(?P<name>[A-ZÀ-Þ][^\W\d_]+)(?=\s*(?:[,!?.]|$))", re.MULTILINE
)


def addressed(text: str) -> set[str]:
    """Folded names by which somebody is called in a text, as in `Hey Sam!` or `Thanks, Evan.`."""
    return {
        fold(match["name"])
        for match in _ADDRESS.finditer(text)
        if (match["greeting"] is None or fold(match["greeting"]) in FILLER) and not is_stop(fold(match["name"]))
    }


def without_address(sentence: str) -> str:
    """A sentence without the names by which somebody is called in it."""
    return _ADDRESS.sub(" ", sentence)


def is_negated(sentence: str) -> bool:
    """Whether a sentence denies something."""
    return (
        any(
            word.casefold().replace("’", "'").endswith("n't") or word.casefold() in NEGATIONS
            for word in re.findall(r"[^\W_]+(?:['’\-][^\W_]+)*", sentence)
        )
        or "no longer" in sentence.casefold()
    )
