"""What episodes may differ in and still be alike: repetition, ways of asking, the order of a list, words of no weight.

Chinese and English. Patterns are matched against NFKC text; each is bounded, so time is linear in the text.
"""

from __future__ import annotations

import re
from typing import Final

_I: Final = re.IGNORECASE

#: "Again", "for the third time", 又, 第三次: that it happened before is what the abstraction counts.
REPEATED: Final = re.compile(
    r"(?<![a-z])(?:(?:yet |once )again|once more|one more time|another time|as (?:usual|always|before)|like (?:always|last time)"
    r"|for the (?:[a-z]{5,12}|\d{1,4}(?:st|nd|rd|th)) time(?: (?:in a row|this (?:week|month|year)))?|again|still"
    r"|once(?! (?:a|an|per|every|the|i|we|it|you|he|she|they|daily|weekly|monthly)(?![a-z])))(?![a-z])"
    r"|(?<![每天日周月年期])第[零一二三四五六七八九十百两\d]{1,5}[次回遍](?:了)?"
    r"|再一次|又一次|再次|依旧|依然|照例|照常|照旧|一如既往地?|和(?:以前|往常|上次)一样|像(?:以前|往常|平时)一样|还是老样子"
    r"|(?<=[\u3400-\u9fff])(?<![每天日周月年期])[了过]?一[次下回遍](?!性)(?:了)?"
    r"|(?<![\u3400-\u9fff])又(?=[\u3400-\u9fff])|(?<=[户我他她们，。,\s])[又再](?=[\u3400-\u9fff])",
    _I,
)
#: Ways of asking for something, all one to what was asked for.
ASKED: Final = re.compile(
    r"(?<![a-z'])(?:(?:asked|asks|asking|ask)(?: (?:me|us|the (?:agent|assistant|bot|team)|you))?"
    r"(?: (?:for|to (?:see|get|have|view|show|pull up|open|look at|bring up|be shown))| if (?:i|we) could (?:see|get))?"
    r"|(?:requested|requests|requesting|request)(?: (?:to see|to view|to get))?"
    r"|(?:wanted|wants|wished|wishes|would like|needed|needs)(?: (?:to (?:see|get|have|view|look at|pull up|be shown|check)))"
    r"|(?:i|we|he|she|they|you)'d like(?: to (?:see|get|have|view|look at)|(?= (?:the|a|an|all|my|our) ))"
    r"|(?:enquired|inquired|asked|asking|asks) (?:about|after|as to|into)|(?:checked|checks|checking) (?:on|up on)?"
    r"|(?:wanted|requested|demanded)(?= the | a |an |all |my |our )"
    r"|spen[dt]s?(?= (?:an?|one|half an|\d{1,3}|[a-z]{2,8}) (?:hours?|minutes?|mins?)(?![a-z]))|(?:pulled|pulls|called|brought) up|(?:made|put in|submitted) a request for"
    r"|(?:could|can|would) you (?:please )?(?:show|give|send|get|list|pull up|bring up)(?: me| us)?(?: again)?|(?:please )?(?:show|give) me)(?![a-z])"
    r"|(?:要求|请求|请|让|叫|麻烦|帮)(?:我|你|助手|客服|我们)?(?:帮?(?:忙|我|他|她|用户))?(?:们)?(?:给(?:我|他|她|用户)?)?(?:想要?)?(?:查看|查询|查一下|查|看一看|看看|看一下|看|列出|列一下|调出|打开|展示|显示|提供|拿出|发来|给出|要)?(?=[\u3400-\u9fff（(《“\"])"
    r"|(?:又|再次)?(?:询问|咨询|打听|问起|问到|问了问?|问)(?:了?一下|关于|有关)?(?=[\u3400-\u9fff（(《“\"])|(?:拉|调|导)一下(?=[\u3400-\u9fff])|查了(?:一下|下)?(?=[\u3400-\u9fff])|(?:想要?|希望|要)(?:查看|查询|看看|看一下|看|查|要)(?=[\u3400-\u9fff])|索要了?|查看了?|查询了?|调出了?|要来?了(?=[\u3400-\u9fff])"
    r"|能不能(?:给我|帮我|让我)?(?:看看|看一下|看|列出|调出|发)?(?=[\u3400-\u9fff])",
    _I,
)
#: Ways of telling that something is not as it should be, and of coming into a system; what stands for them.
SAID: Final = (
    (
        re.compile(
            r"(?<![a-z])(?:submitted|e?mailed|forwarded|handed in)(?= (?:the|my|our|an?|his|her|it|this) )",
            _I,
        ),
        "send",
    ),
    (re.compile(r"(?<![a-z])(?:(?:was|were|is|am|are) (?:unable|not able) to)(?![a-z])", _I), "could not"),
    (
        re.compile(
            r"(?<![a-z])(?:reported|flagged|complained|grumbled|moaned)(?: about| of| that)?(?![a-z])", _I
        ),
        "complain",
    ),
    (
        re.compile(
            r"(?<![a-z])(?:log(?:ged|ging|s)?[ -]?in(?:to)?|sign(?:ed|ing|s)?[ -]?in(?:to)?)(?![a-z])", _I
        ),
        "login",
    ),
)
#: What goes without saying beside another key: a table is what one reserves, exercise what one goes to the gym for.
IMPLIED: Final = {
    "gym": frozenset(("exercise", "练", "train")),
    "reserv": frozenset(("tabl",)),
    **dict.fromkeys(("lunch", "dinner", "breakfast", "supper", "brunch"), frozenset(("eat",))),
}
#: Getting, by whichever word, what is eaten, drunk or owned: two of these tell one thing. Keys as of :data:`BLAND`.
GOT: Final = frozenset(("buy", "order", "eat", "drink", "点", "叫", "要", "来"))
#: Irregular past tenses: the stemmer knows the regular ones only.
PAST: Final = {
    "went": "go", "gone": "go", "ran": "run", "ate": "eat", "eaten": "eat", "drank": "drink", "drunk": "drink",
    "saw": "see", "seen": "see", "took": "take", "taken": "take", "made": "make", "sent": "send", "met": "meet",
    "swam": "swim", "rode": "ride", "ridden": "ride", "paid": "pay", "slept": "sleep", "told": "tell",
    "brought": "bring", "flew": "fly", "flown": "fly", "gave": "give", "given": "give", "found": "find", "had": "have",
    "held": "hold", "kept": "keep", "left": "leave", "lost": "lose", "said": "say", "sang": "sing", "sat": "sit",
    "sold": "sell", "spoke": "speak", "spoken": "speak", "taught": "teach", "thought": "think", "woke": "wake",
    "won": "win", "wore": "wear", "did": "do", "done": "do", "got": "get", "came": "come", "began": "begin",
    "broke": "break", "broken": "break", "built": "build", "caught": "catch", "chose": "choose", "drew": "draw",
    "fell": "fall", "felt": "feel", "forgot": "forget", "forgotten": "forget", "grew": "grow", "heard": "hear",
    "hid": "hide", "knew": "know", "led": "lead", "lent": "lend", "rang": "ring", "rose": "rise", "shook": "shake",
    "threw": "throw", "understood": "understand", "stood": "stand", "hung": "hang", "fed": "feed", "fixed": "fix",
    "spent": "spend", "bit": "bite", "blew": "blow", "dug": "dig", "froze": "freeze", "swept": "sweep", "tore": "tear",
}  # fmt: skip
PAST_WORD: Final = re.compile(
    rf"(?<![a-z'-])(?:{'|'.join(sorted(PAST, key=len, reverse=True))})(?![a-z'-])", _I
)
#: Words that colour an episode and change nothing of what happened; keys of :func:`claims_rules.stem`.
_BLAND: Final = """
    again today yesterday tonight morn afternoon even quick quickli brief briefli short eventu final simpli
    onc more usual normal regular regularli routin anoth bit littl whole nice good great long pleas environ session see view
    look check show ask request around near along after befor later earlier
"""
BLAND: Final = frozenset(_BLAND.split())
#: One key for words of an episode that the rule files tell apart or do not know.
SAME: Final = {
    "jog": "run", "drop": "go", "visit": "go", "head": "go", "stop": "go", "rebooted": "restart", "reboot": "restart",
    "discuss": "talk", "speak": "talk", "chat": "talk", "meeting": "talk", "push": "deploy", "forecast": "weather",
    "bring": "take", "grab": "get", "phone": "call", "ring": "call", "telephon": "call", "book": "reserv",
    "practic": "practis", "rehears": "practis", "repair": "fix", "mend": "fix",
    "slowli": "slow", "quickli": "quick", "loudli": "loud", "badli": "bad", "grumbl": "complain", "reported": "complain",
    "overview": "list", "listing": "list", "list": "list", "catalogu": "list",
}  # fmt: skip
#: Chinese words of no weight in an episode, and words said in several ways.
BLAND_HAN: Final = re.compile(
    r"(?<![\u3400-\u9fff])将(?=[\u3400-\u9fff])|(?<=[户我他她们])将(?=[\u3400-\u9fff])|至(?=[\u3400-\u9fff])|(?<![两三四五六七八九十几半\d])一?[杯份碗盘瓶罐顿](?=[\u3400-\u9fff])|按时|准时|一会儿?|一阵子?|一小会儿?|一趟|一圈|顺便|顺路|随便|简单地?|快速地?|匆匆|好好|终于|稍微|独自|然后|完毕|完成了|的时候|那[里儿]|这[里儿]"
)
SAME_HAN: Final = (
    (re.compile("如何|怎么样?|怎样"), "怎么"),
    (re.compile("(?:投诉|抱怨|吐槽|反馈|反映|报告)(?:说|称|了|过)?(?=[\u3400-\u9fff，,：:]|$)"), "投诉"),
    (re.compile("(?:午饭|午餐|中饭)(?=[^前后])"), "中午"),
    (re.compile("(?:早饭|早餐|早点)(?=[^前后])"), "早上"),
    (re.compile("(?:晚饭|晚餐)(?=[^前后])"), "晚上"),
    (re.compile("清单|一览表?|列表|名单"), "列表"),
    (re.compile("跑了[一个]?[会儿步圈]+|慢跑|跑个步|跑完步|晨跑|夜跑|跑了步"), "跑步"),
    (re.compile("讨论|商量|商讨|商议|探讨|沟通|聊了?聊|谈了?谈"), " talk "),
    (re.compile("(?:提交|发送|发给|交给|递交)了?"), "发"),
    (re.compile("天气预报"), "天气"),
    (re.compile("服用|服下"), "吃"),
    (re.compile("(?:重新启动|重启)了?"), "重启"),
    (re.compile("(?:修理|维修|修好|修)了?(?=[\u3400-\u9fff])"), "修"),
    (re.compile("(?:打(?:来|了|过来)?(?:一?[个通])?电话|来电|致电|通电话|通了电话)"), "电话"),
    (re.compile("(?:买了?|购买了?|采购了?|入手了?)"), "买"),
    (re.compile("(?:吃了|吃的|吃过)"), "吃"),
    (re.compile("(?:喝了|喝的|喝过)"), "喝"),
)
_KEY: Final = (
    "date|time|day|month|week|year|amount|price|cost|total|value|size|quantity|count|name|title|author|customer|client"
    "|region|store|status|state|priority|category|type|rating|relevance|id|number|age|score|weight|length|distance"
    "|department|owner|due date|order date|ship date|creation date|popularity|alphabet"
)
_WAY: Final = "(?:in )?(?:ascending|descending|asc|desc|reverse)(?: order)?|(?:newest|oldest|latest|earliest|largest|smallest|highest|lowest|cheapest|dearest) first"
#: How something is sorted or grouped: a slot that may vary among episodes. Group m: the way itself.
MANNER: Final = re.compile(
    rf"[,(]?\s?(?P<m>(?:(?:sorted|ordered|arranged|ranked|grouped|listed|sort|order|group|arrange) )?by (?:the )?(?:[a-z]{{2,14}} )?(?:{_KEY})s?(?:,? (?:{_WAY}))?"
    rf"|(?:sorted|arranged|ranked|grouped) by [a-z]{{2,14}}(?: [a-z]{{2,14}})?|(?:sorted |ordered |in )?(?:ascending|descending)(?: [a-z]{{2,14}})? order"
    rf"|(?:{_KEY}),? (?:ascending|descending)|(?:newest|oldest|latest|earliest|largest|smallest|highest|lowest|cheapest) first)(?![a-z])\)?"
    r"|[，,（(]?(?P<z>(?:日期|时间|金额|价格|名称|数量|状态)(?:的)?(?:升序|降序|正序|倒序)(?:排列|排序)?|(?:按照?着?|以)(?:[^，。,；;：:（）()\s\d]{1,6}?)(?:(?:升序|降序|正序|倒序|逆序|(?:从|由)[早新大高多近低小少远旧]到[晚旧小低少远高大多近新早])的?(?:顺序)?(?:来)?(?:排序|排列|排好|排|分组|列出)?"
    r"|的?(?:顺序)?(?:来)?(?:排序|排列|排好|分组|分类))|(?:从|由)[早新大高多近低小少]到[晚旧小低少远高大多](?:排序|排列|排))的?[）)]?",
    _I,
)
#: A way that is wanted for good is what is claimed, and may not vary.
STANDING: Final = re.compile(
    r"(?<![a-z])(?:prefers?|always|from now on|by default|defaults?|favou?rite|usually|normally|never|must)(?![a-z])"
    r"|总是|默认|以后|今后|习惯|喜欢|偏好|统一|一律|务必|必须|一直|每次都",
    _I,
)
#: What did not come about, though nothing denies it.
UNDONE: Final = re.compile(
    r"(?<![a-z])(?:skip(?:s|ped|ping)?|miss(?:es|ed|ing)?|cancel(?:s|l?ed|l?ing)?|forg[oe]t(?:ten)?|postpon(?:e|es|ed)|refus(?:e|es|ed)|avoid(?:s|ed)?"
    r"|declin(?:e|es|ed)|almost|nearly|fail(?:s|ed)? to|gave up|give up|tried to|put off|instead of)(?![a-z])"
    r"|取消|错过|忘了|忘记|忘带|差点|险些|推迟|改期|拒绝|放弃|避免|跳过|没能|未能|试图",
    _I,
)
#: When or why it happened, beside what happened: one may say it and the other not.
BESIDE: Final = re.compile(
    r"(?:(?<=[a-z0-9])|,) (?P<a>(?:after|before|because|because of|during|while|when|since|due to|ahead of|right after|on the way (?:to|home)) ?[^,.;\n]{2,50})(?=[.;]|$)"
    r"|(?P<b>(?:因为|由于)[^，。；;\n]{2,20}[，,])|(?P<c>(?:上班|下班|早饭|午饭|晚饭|饭|开会|会议|例会|下课|放学|起床|睡觉|睡|出门|回家|周会|晨会)(?:之?前|之?后|以[前后]|时|期间|路上)[，,]?)",
    _I,
)
#: Behind this stands something that may as well not be said.
HUNG_ON: Final = re.compile(r"(?:[,;、]|(?<![a-z])(?:with|and|via|using|so)(?: (?:an?|the|my|some))?)\s*$")
#: Particles and verbs that turn an event into its opposite, which the rule files hold for light.
TURNING: Final = frozenset(
    [
        "out",
        "down",
        "back",
        "start",
        "end",
        "off",
        "stay",
        "begin",
        "stop",
        "前",
        "后",
        "上",
        "下",
        "里",
        "外",
        "出",
        "入",
        "进",
        "回",
    ]
)
#: Somebody else's, where it does not say whose.
THIRD: Final = re.compile(
    r"(?<![a-z])(?:he|him|his|she|her|hers|they|them|their|theirs|someone|somebody|another (?:person|user|man|woman|guest))(?![a-z])|(?<!其)他们?|她们?|别人|人家|有人",
    _I,
)
SELF: Final = re.compile(r"(?<![a-z])users?(?![a-z])|用户|客户本人", _I)
#: The user as one of those who did it or had it done to them; not whose something is.
USER: Final = re.compile(
    r"(?<![a-z'])(?:(?:the )?users?|i|me|we|us)(?![a-z'])|用户(?!的)|(?<!自)[我咱](?:们(?![的家])|(?![们的家]))",
    _I,
)
#: To whom it was done, in front of the verb.
TOWARDS: Final = re.compile("(?<=[\u3400-\u9fff])[给向对](?=[\u3400-\u9fff])")
#: It was done to what is named first, and by whom is said. English.
SUFFERED: Final = re.compile(
    r"(?<![a-z])(?:was|were|is|are|been|being|got) [^.;\n]{1,40}? by (?!(?:the )?(?:end|time|then|now)(?![a-z]))",
    _I,
)
#: Before or after a date that something is due by.
DUE_BEFORE: Final = re.compile(
    r"(?:(?<![a-z])(?:by|due(?: on| by)?|until|till|before|deadline(?: is| of| on)?|expir(?:es|ed|y)(?: on)?|from|since|for|no later than|scheduled for|booked for)(?: the)?|截止到?|截至|截止日期[是为:：]?|期限[是为:：]?|到期日?[是为:：]?|改到|定在|约在|推迟到|延到|从|自)\s?$",
    _I,
)
DUE_AFTER: Final = re.compile(r"\s?(?:之前|以前|前|截止|到期|为止|deadline)", _I)
#: Words that say a day as seen from the moment of speech, back to yesterday.
SPOKEN_DAY: Final = re.compile(
    r"(?<![a-z])(?:today|yesterday|tonight|last night|this (?:morning|afternoon|evening|noon)|earlier|just now)|今[天日早晚晨]|昨[天日晚夜]|刚[才刚]|当天|凌晨|[早晚]上|上午|下午|傍晚|中午",
    _I,
)
#: The part of the day in a date, by the names of the rule files.
PARTS: Final = (
    ("morning", re.compile(r"(?<![a-z])morning|[早晨]|上午", _I)),
    ("noon", re.compile(r"(?<![a-z])(?:noon|lunch)|中午", _I)),
    ("afternoon", re.compile(r"(?<![a-z])afternoon|下午", _I)),
    ("evening", re.compile(r"(?<![a-z])(?:evening|night|tonight)|[晚夜]", _I)),
)
#: Words that say a week or a month the same way.
SPOKEN_WEEK: Final = re.compile(
    r"(?<![a-z])(?:this|last|past|previous) (?:week(?:end)?|month)|(?:the )?day before yesterday|[a-z0-9]{1,7} days? ago|[一二三四五六两几\d]天前|大?前天|前几天|[上本这][个]?(?:周末?|星期|礼拜|月)(?![一二三四五六日天])",
    _I,
)
FULL_DATE: Final = re.compile(
    r"\d{1,4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}|\d{1,2}月\d{1,2}|[一二三四五六七八九十]{1,2}月[一二三四五六七八九十]{1,3}[日号]"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? \d{1,2}|\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    _I,
)
