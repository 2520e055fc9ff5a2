"""Importance by rule: how poignant a memory is, from what it tells and how much of it is particular.

The scale is that of Park et al. 2023: brushing teeth is 1, cleaning a room about 2, asking a crush out about 8, a
break-up or being accepted by a college 8 and above. Most of what is said in passing lies between 2 and 5.
"""

from __future__ import annotations

import math
import re

from graphmem.language import words

_BASE = 3.0


def _cues(value: float, *patterns: str) -> list[tuple[float, re.Pattern[str]]]:
    return [(value, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for pattern in patterns]


_MY = r"(?:(?:my|his|her|our|their|the|an?|[\w'’]+['’]s)\s+(?:\w+\s+)?)?"
_RELATIVE = (
    r"(?:mother|father|mom|mum|mama|dad|papa|brother|sister|son|daughter|child|baby|wife|husband|partner|grand\w+|"
    r"uncle|aunt|cousin|nephew|niece|friend|dog|cat|puppy|kitten)"
)

_LIFE = [
    *_cues(
        10,
        rf"{_RELATIVE}\s+(?:has\s+|had\s+|just\s+)?(?:died|passed\s+away)",
        r"passed\s+away",
        r"(?:death|funeral|burial)\s+of",
        rf"{_MY}funeral",
        r"(?:gave|giving)\s+birth|(?:was|were|is)\s+born|birth\s+of",
        rf"lost\s+{_MY}{_RELATIVE}",
    ),
    *_cues(
        9,
        r"(?:break|breaking|broke|broken)[\s-]?up(?:\s+with)?|breakup|split\s+up",
        r"divorc\w+|separated\s+from",
        r"(?:got|getting|get|were|are|am|is|was|been)\s+(?:\w+\s+)?married|wedding\s+(?:day|ceremony)|tied\s+the\s+knot|"
        r"our\s+marriage|marrying",
        r"cancer|terminal(?:ly)?\s+ill|miscarriage|suicid\w+|overdos\w+|(?:had|suffered)\s+a\s+stroke|heart\s+attack|life[\s-]threatening",
        r"(?:accepted|admitted|got\s+in(?:to)?|acceptance)\b.{0,40}\b(?:college|university|medical\s+school|law\s+school|"
        r"harvard|oxford|stanford)|(?:college|university)\s+(?:acceptance|admission)s?",
        r"(?:college|university)\b.{0,30}\baccepted\s+(?:me|him|her|us|them)",
        r"expecting\s+(?:a\s+)?(?:baby|child)|pregnan\w+",
        r"adopt(?:ed|ing)?\s+(?:a\s+)?(?:child|children|kid|kids|baby|son|daughter)",
        r"came?\s+out\s+(?:as|to)|coming\s+out\s+as|gender\s+transition|transgender\s+journey",
        r"(?:is|are|was|were)\s+dead|died|killed|murder\w*|buried",
    ),
    *_cues(
        8,
        r"propos(?:ed|al)\s+(?:to|of\s+marriage)|got\s+engaged|engagement",
        r"(?:ask(?:ed|ing|s)?|invit\w+)\s+(?:\w+\s+){0,4}(?:out(?:\s+on)?(?:\s+a\s+date)?|on\s+a\s+date)(?=[\s.,!]|$)",
        r"lost\s+(?:my|his|her|their)\s+job|(?:was|got|been|were)\s+(?:fired|laid\s+off|sacked)|downsized|bankrupt\w*",
        r"(?:new|dream|first|got\s+the|got\s+a|landed\s+a|offered\s+(?:me\s+)?a)\s+job\b|promot(?:ed|ion)",
        r"graduat(?:ed|es|ing|ion)|passed\s+(?:the|my|her|his)\s+(?:\w+\s+)?(?:exam|interview|test)s?",
        # A surgery is also where a doctor sees patients every day.
        r"hospital\w*|emergency\s+room|\bER\b|(?<!in the )(?<!at the )(?<!to the )surgery|ambulance|"
        r"intensive\s+care|health\s+scare",
        r"(?:fell|falling|am|is)\s+in\s+love|love\s+of\s+my\s+life|first\s+kiss|confess\w*\s+(?:\w+\s+){0,3}love",
        r"arrested|prison|jail|robbed|assault\w*|attacked|burgl\w+|house\s+fire|burned\s+down|evict\w+|homeless",
        r"betray\w*|cheated\s+on|abus\w+|ran\s+away\s+from\s+home",
        r"grandson|granddaughter|grandchild",
    ),
    *_cues(
        7,
        r"crush\b|(?:first|second)\s+date|met\s+(?:this|a|an)\s+(?:\w+\s+){0,2}(?:woman|man|girl|guy|someone)",
        r"diagnos\w+|accident|injur\w+|broke\s+(?:my|his|her)\s+(?:arm|leg|ankle|wrist|hip|nose)|panic\s+attack|"
        r"depress(?:ed|ion)|gastritis|palpitation\w*",
        r"adopt(?:ion|ing|ed)?|foster\s+(?:child|parent|care)",
        r"mov(?:ed|ing)\s+(?:to\s+(?!bed|the\s+next)|out|in\s+with|away|house)|emigrat\w+|bought\s+(?:a|our|my)\s+(?:\w+\s+)?house",
        r"won\s+(?:the|a|an|first|my)|award(?:ed)?|championship|elected|published\s+(?:my|a|her|his)",
        r"(?:close|shut|closing|shutting)\s+(?:down\s+)?the\s+(?:\w+\s+)?(?:office|school|yard|shop|hospital|factory)",
        r"pride\s+(?:parade|march|event)|rites?\s+of\s+passage",
        r"in\s+debt|cannot\s+pay|can't\s+pay|owe[sd]?\b.{0,25}\b(?:money|bank|rent)|foreclos\w+|unpaid",
        r"sink(?:ing)?|sank|drown\w*|stranded|missing\s+(?:child|person|boy|girl)|rescued?",
        r"life[\s-]?chang\w+|turning\s+point|wake[\s-]?up\s+call",
    ),
    *_cues(
        6,
        r"anniversary|birthday|reunion|honeymoon|wedding",
        r"doctor'?s?|clinic|check-?up|medicine|therap(?:y|ist)|counsel\w+|hurt|wound\w*|twisted|sprain\w*|bleed\w*|\bsick\b|\bill\b",
        r"quit\w*|resign\w*|interview|new\s+career|start(?:ed|ing)?\s+(?:a|my|our)\s+(?:own\s+)?business|opened\s+(?:my|our|a)\s+"
        r"(?:shop|studio|restaurant)",
        r"argu(?:ed|ment)|quarrel\w*|fight\s+with|fought|yell\w+\s+at|insult\w*|mock\w*|bull(?:y|ied|ying)|apologi[sz]\w*",
        r"break\s+(?:down|in)|broke\s+down|broken|leak\w*|flood\w*|storm\b|wreck\w*|ruin\w*|stolen|theft|lost\s+(?:my|the|his|her)",
        r"for\s+the\s+first\s+time|first\s+time|never\s+before|finally|at\s+last|dream\s+come\s+true|milestone|achiev\w+",
        r"secret|promis(?:e|ed)|confess\w*|forgave|forgive|regret\w*|guilt\w*|asham\w+|lonely|loneliness|griev\w*|miss(?:ed|ing)?\s+"
        r"(?:you|him|her|them|my)",
        r"war|protest\w*|rights|discriminat\w+|refugee\w*|veteran\w*",
    ),
    *_cues(
        5,
        r"decid(?:e|ed|ing)|decision|made\s+up\s+my\s+mind|resolved\s+to|determined\s+to|committed\s+to|sign(?:ed|ing)\s+up",
        r"family|kids?|children|son|daughter|mother|father|mom|mum|dad|parents?|wife|husband|partner|grand\w+",
        r"vacation|road\s?trip|trip\s+to|travel\w*|abroad|camping|concert|festival|competition|race|regatta|exhibition|show",
        r"afraid|fear\w*|scared|worried|worry|anxi\w+|stress\w*|angry|furious|cried|crying|tears|heartbroken|devastat\w+|"
        r"hopeless|overwhelm\w*",
        r"proud|thrilled|overjoyed|ecstatic|grateful|amazed|inspired",
        r"money|loan|debt|rent|salary|bills?|price|sold|afford\w*",
        r"painful|pain|weight|health|diet|exam|school|university|college|job",
    ),
]  # fmt: skip

_MUNDANE = [
    *_cues(
        1,
        r"brush(?:ed|es|ing)?\s+(?:(?:my|his|her|their|the)\s+)?teeth",
        r"(?:make|made|makes|making)\s+(?:the|my|his|her|their)\s+bed",
        r"(?:is|was|were|are)\s+idle",
        r"(?:wash|washed|washing)\s+(?:(?:my|his|her|the)\s+)?(?:face|hands|dishes)|took\s+a\s+shower|got\s+dressed|combed",
    ),
    *_cues(
        2,
        r"(?:clean|cleaned|cleaning|tidy|tidied|tidying|sweep|swept|vacuum\w*|dust(?:ed|ing))\s+(?:up\s+)?(?:(?:my|his|her|the|their|our)\s+)?"
        r"(?:\w+\s+)?(?:room|desk|kitchen|floor|house|flat|apartment|table|bathroom|office)",
        r"woke\s+up|waking\s+up|went\s+to\s+bed|had\s+(?:breakfast|lunch|dinner|coffee|tea)|(?:drank|ate|made|poured|having|eating)\s+"
        r"(?:\w+\s+){0,2}(?:breakfast|lunch|dinner|coffee|tea|toast|sandwich)",
        r"(?:laundry|groceries|took\s+out\s+the\s+(?:trash|rubbish|bins))|watered\s+the\s+plants|checked\s+(?:the\s+)?(?:mail|email|phone)",
        r"weather\s+is|nice\s+weather|it\s+is\s+raining|waited\s+for\s+the\s+bus",
    ),
]  # fmt: skip

_EXTREME = re.compile(
    r"\b(?:so|really|very|incredibly|extremely|truly|deeply|absolutely|unbelievably)\s+\w+|!{2,}|\bunreal\b|"
    r"\b(?:best|worst)\s+(?:day|thing|moment|news)\b|\bchanged\s+my\s+life\b|\bmeans\s+(?:the\s+world|everything)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:died\s+laughing|to\s+die\s+for|dying\s+to\s+\w+|break(?:ing)?\s+a\s+sweat|dead\s+(?:end|line|tired|calm)|"
    r"lost\s+(?:weight|track|count)|love\s+(?:that|this|it|the)|broke\s+the\s+ice|crush(?:ed|ing)\s+it|"
    r"(?:engaged|engagement)\s+(?:in|with)|kill(?:ed|ing)?\s+(?:it|time)|a\s+stroke\s+of|tenth\s+stroke|brush\s*strokes?)\b",
    re.IGNORECASE,
)


def rate(text: str) -> int:
    """Rate one memory.

    Args:
        text: What was perceived or said.

    Returns:
        1 (mundane) to 10 (poignant); the same text always has the same rating.
    """
    bare = _HARMLESS.sub(" ", words.without_captions(text).replace("’", "'"))
    parts = words.sentences(bare)
    told = " ".join(part for part in parts if not part.rstrip("\"') ").endswith("?"))
    tokens = [word for part in parts for word in words.words(part)]
    content = [word for word in tokens if not words.is_stop(word.fold)]
    if mundane := _matching(_MUNDANE, bare, lowest=True):
        cue = _matching(_LIFE, told)
        return int(mundane) if cue < 6 else round(cue) - 1
    if not content and not any(char.isdigit() for char in bare):
        return 1 if len(tokens) <= 12 else 2
    particulars = len({word.fold for word in content})
    names = len({word.fold for word in content if word.capital and not word.initial})
    numbers = len(re.findall(r"\d+", bare))
    value = _BASE - 1 + min(1.5, 0.4 * math.log2(1 + particulars)) + min(0.6, 0.2 * names) + min(0.4, 0.2 * numbers)
    cue = _matching(_LIFE, told)
    asked = _matching(_LIFE, bare)
    value = max(value, cue, min(4.0, asked - 2))
    if cue and not words.FIRST_PERSON & {word.fold for word in tokens} and _addressed(tokens):
        value = max(3.0, value - 2)  # said about the other, in reply to what the other told
    if 3.5 <= value < 9 and _EXTREME.search(told):
        value += 0.6
    return max(1, min(10, math.floor(value + 0.5)))


def _matching(cues: list[tuple[float, re.Pattern[str]]], text: str, *, lowest: bool = False) -> float:
    values = [value for value, pattern in cues if pattern.search(text)]
    return (min(values) if lowest else max(values)) if values else 0.0


def _addressed(tokens: list[words.Word]) -> bool:
    folded = {word.fold for word in tokens}
    return bool(folded & words.FILLER)
