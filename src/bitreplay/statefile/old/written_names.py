"""Names of classes as text that is hashed: Python's repr as Python 3.11 writes it, whatever Python runs.

repr escapes what is not printable, and each Unicode makes more characters printable. Hashes of states stay: those of
Unicode 14.0 are printable here for good.
"""

from __future__ import annotations

import base64
import zlib
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

FIRST = 128
# Lengths of runs of characters from FIRST on, printable and not in turns, seven bits a byte, the lowest first.
RUNS = (
    "c-mD|OK4qH6m{+MKlj{w^OBdmm-q5MDfu<uCTWv2iM6#hrnMHO+8UH1*jmtm4l)yqlwt-"
    "}Q51y=6|p$1I?$SdrHCJ}3JSFdeuyGCQXGkb1NV8MqW9i&&u5>#_CD*beQ)Xw_)L+O20#(d3JlN`3C!B6)P*iw0k+WsoyZnwl5+GAkf??`fY$*"
    "_L|tG<A<6MrT1bMTZuZx5(?;=TC&hCiU?gA)Ucf<M)2_(#SP*ha!5ALjz>T(uD~xF2wtIqR5XqYX5)3GURB?q3$U0TZ-"
    "X*kAM3;slDoOIDtF`VU-ljzp`*=_qJ*E-!ZKDeJ?V`-Nfedfc9K~u+BFxKLe~hV6=68t{zcqQ1&1Lk-"
    "LG&R<+W$#w2mKYXBb}1Aa_jwfmSZQs_fk_-^bt<sDTN-"
    "fV!B+}6+=vf!ZGsN>kNrrF(YcpHxOiy5W}RBQCZQ6*hPC#qa^O4#^jx10;_gW<YLi`P+~{a%aV}?xLIso4cfukWu(!;-^CTmcA`L3MJjsp-ux`"
    "&E2=x`d?}+Qz9%)-I>MZxtn3W_f1lb?!AiJ}N>I1p2%S_TIEH(|1b+P)V%B{}#rI*aGRcvL@`CVs&Mw)YSChIpghcjY)@97v$#Rd^oS|+-"
    "Sd^#u&=-z|lAJtq>u*Gl449x)1(D<^pC{Ws5Hw@Z9M;q5fRqYrke4A^7%T!tNr?g~Y-"
    "Jfyw&e*W<e0dR&xncf)2NBbyhrxAx*Ab+^vi7cJUC{b?2|)wdlHzRsJ3LY-"
    "+PH%m$zk&VYq#)6pXUiKqV|&w~a%nUQt!pJtvDa#WTxau0}$7<IL{npbTzC)TpW|Mh0`&{@Lkt+KgNOCN&sP5FHw_!(Ekuo?^)z;-"
    "q##rQOEs9cZ_M?m-ljc8u<6DTeb&^n&tQ{<kLJV@*WGE5kZf&)@;5`Z7nr3=M4Amw26a%xgbWrCgTQv3UG&uuP<7=Q<Z-"
    "aDK_sI3?9(dpO;{#x*g9%-2MdBV_wyj8PG(ch+moeLpvC{Cm`W3CO3?SIxtZK_wsI^WsD4TlTBQr*eJox-"
    "<=Vc{jYSllDvAbGDtT<85{Si96&@Q`oH%%Kn_N*WIxDWuI)F<qaAW1!>QUGwqM6R5-"
    "&Wwb3_DCAYfx2mBx%u#a~xokKAkb=_;Y7q`csN&M9yFhK@;xS%ZeJxmtsg{5$f=mODYl`G_5+QyG;EKrNLuQ4WAev+<GqcE?q!Sa()F!&hMw)L"
    "Q7(+m2xgExQ3%T+eS$MZNA`(}q&q^<QESDeMO$kqmrf)boaVLLrXqw;vjx#)BB`-"
    "_;XrK8euUFmc9#;7)tiq)`UxVZBm=a}gsTW4)tqmYpjN*GrYiPGL{YmIvmnC<sZ+l?=%x!yECfKHEP@65keJ}-Ytt`5BW?a1$V{_o@;Dv*o;"
)
SHORT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def written(names: Iterable[str | int | None]) -> list[str]:
    """
    >>> written(["pear", 3, None])
    ["'pear'", '3', 'None']
    """
    return [_text(name) if isinstance(name, str) and not name.isascii() else repr(name) for name in names]


def as_tuple(names: Iterable[str | int | None]) -> str:
    """repr of a tuple."""
    texts = written(names)
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def is_printable(character: str) -> bool:
    """Of FIRST or more: whether Unicode 14.0 has it and it is no space, separator, control or format character."""
    return bisect_right(_ends(), ord(character)) % 2 == 0


@cache
def _ends() -> list[int]:
    """Where runs end."""
    ends, end, shift, length = [], FIRST, 0, 0
    for byte in zlib.decompress(base64.b85decode(RUNS)):
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            end += length
            ends.append(end)
            shift = length = 0
    return ends


def _text(name: str) -> str:
    quote = '"' if "'" in name and '"' not in name else "'"
    return quote + "".join(_character(c, quote) for c in name) + quote


def _character(c: str, quote: str) -> str:
    code = ord(c)
    if c == quote:
        return f"\\{c}"
    if c in SHORT:
        return SHORT[c]
    if 32 <= code < 127 or (code >= FIRST and is_printable(c)):
        return c
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
