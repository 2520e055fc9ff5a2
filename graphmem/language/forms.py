"""Forms: the key under which the forms of an English word meet, by rules and a table of what no rule tells.

A key is no word: it is only compared with other keys. Nouns and verbs that share a form share the key, since nothing
but the sentence tells them apart: ``lives`` belongs to ``live`` and to ``life``, ``leaves`` to ``leave`` and ``leaf``.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """The key of a word: lower case, without possessive, plural, the endings of verbs, and differences of spelling."""
    folded = word.casefold().replace("’", "'").removesuffix("'s").removesuffix("'")
    listed = _IRREGULAR.get(folded)
    folded = listed or folded
    if len(folded) <= 3 or not folded.isascii() or "'" in folded:
        return folded
    if listed is None:
        folded = _singular(folded)
        folded = _IRREGULAR.get(folded, folded)
    folded = _IN_F.sub(r"\1ve", folded)
    if folded.endswith("ing") and len(folded) >= 6:
        folded = _base(folded[:-3], folded)
    elif folded.endswith("ed") and not folded.endswith("eed") and len(folded) >= 5:
        folded = _base(folded[:-2], folded)
    folded = _spelled(folded)
    return folded[:-1] if folded.endswith("e") and len(folded) >= 6 else folded


def _singular(word: str) -> str:
    """A word without the ending of the plural, which is that of the third person as well."""
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("oes") and len(word) > 4 and not word.endswith(("shoes", "canoes", "oboes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _base(stem: str, word: str) -> str:
    """The verb that an -ing or -ed form belongs to."""
    if not re.search("[aeiouy]", stem):
        return word
    if stem in _WITH_E or (len(stem) >= 5 and stem.endswith(("is", "ys"))):
        return stem + "e"
    if len(stem) > 3 and stem[-1] == stem[-2]:
        return stem if stem[-1] in "efsz" or (stem[-1] == "l" and len(stem) <= 5) else stem[:-1]
    if stem[-1] in "cvz" or (len(stem) <= 5 and re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]", stem)):
        return stem + "e"
    return stem


def _spelled(word: str) -> str:
    """A word in one of its spellings: American where there are two, and as ``install`` where it doubles a letter."""
    for british, american in _SPELLINGS:
        word = british.sub(american, word)
    return word


_SPELLINGS = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"(?<=..)our(?=$|ful$|ite$|able$|hood$|ly$|less$|ist$)", "or"),
        (r"(?<=...)i(?:s|z)(?=e$|er$|ation$|ational$)", "iz"),
        (r"(?<=al|ra)ys(?=e$|er$)", "yz"),
        (r"(?<=...)ogue$", "og"),
        (r"(?<=..t)re$|(?<=..b)re$", "er"),
        (r"(?<=....)ll$", "l"),
        (r"(?<=..)ie$", "y"),
    )
)

_IN_F = re.compile(r"(lea|loa|li|wi|kni|hal|cal|shel|scar|thie)fe?$")
"""Nouns whose plural ends in -ves: their key is that of the plural, which may be a verb as well."""

_WITH_E = frozenset(
    """
    us ow ag su typ eas edg urg styl judg nudg lodg dodg budg badg hedg wedg merg purg surg forg hing bing rang gaug
    rais caus paus hous dous rous leas teas ceas eras clos loos pois nurs curs purs sens rins laps puls tast wast hast
    bast past argu valu issu queu clu glu amus abus evad elud erod abid elat elop ador aton unit awak evok guid quot
    cycl tabl titl cabl angl idl
    """.split()  # noqa: SIM905
)
"""What is left of verbs in -e whose forms do not show it: ``judging``, ``raised``, ``using``."""

_IRREGULAR = {
    form: line.split()[0]
    for line in """
    child children|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|person people|wolf wolves|
    hoof hooves|elf elves|self selves|photo photos|bus buses|gas gases|quiz quizzes|ache aches|axe axes|
    go goes going went gone|take took taken|get got gotten|give gave given|come came|see saw seen|know knew known|
    think thought|find found|tell told|become became|leave left|feel felt|bring brought|begin began begun|keep kept|
    hold held|stand stood|hear heard|mean meant|meet met|pay paid|sit sat|speak spoke spoken|lead led|lose lost|win won|
    send sent|catch caught|choose chose chosen|wear wore worn|steal stole stolen|throw threw thrown|show shown|
    spend spent|understand understood|lend lent|hide hid hidden|forget forgot forgotten|beat beaten|bite bitten|
    blow blew blown|freeze froze frozen|shake shook shaken|sink sank sunk|stick stuck|strike struck|swear swore sworn|
    sweep swept|tear tore torn|wake woke woken|weep wept|bend bent|feed fed|flee fled|fly flew flown|
    forgive forgave forgiven|hang hung|dig dug|deal dealt|creep crept|cling clung|bear bore borne|arise arose arisen|
    make made|say said|sell sold|buy bought|teach taught|seek sought|light lit|lean leant|learn learnt|burn burnt|
    dream dreamt|spell spelt|spoil spoilt|leap leapt|run ran|swim swam swum|drive drove driven|ride rode ridden|
    write wrote written|fight fought|sing sang sung|ring rang rung|drink drank drunk|draw drew drawn|eat ate eaten|
    sleep slept|build built|grow grew grown|break broke broken|fall fell fallen|weave wove woven|sew sewn|sow sown|
    lie lay laid lied lying|die died dying dies|tie tied tying|ski skiing skied skis|use used using|owe owed owing|
    agree agreed|disagree disagreed|free freed|guarantee guaranteed|
    series series|news news|lens lens lenses|gray grey|tire tyre|mom mum|program programme|
    practice practise practised practising|license licence|defense defence|pajamas pyjamas
    """.replace("\n", "").split("|")
    for form in line.split()[1:]
}
"""What no rule tells, each to its key: plurals, forms of verbs, spellings. Left out are forms that are mostly another
word, such as ``rose``, ``shot``, ``wound`` and ``bit``."""
