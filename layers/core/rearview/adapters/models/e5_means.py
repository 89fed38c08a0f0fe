"""The mean vectors of Chinese and English that `E5Embedder` takes away, and the sentences they come from.

multilingual-e5 puts a large share of every vector into its language and into being a question or a
statement; that share says nothing about content, and it keeps a Chinese question from an English memory.
The means are over the sentences below, which are about everyday and working life in general. They are kept
as numbers (float16, little endian, base64), since embedding the sentences would cost a second at start;
a slow test computes them anew.
"""

from __future__ import annotations

import base64
from typing import Final

import numpy as np
from numpy.typing import NDArray

ZH_PASSAGES: Final = """\
今年 3 月我把头发剪短了，洗起来省事多了。
项目组决定把数据库从 MySQL 换成 PostgreSQL，下周一开始迁移。
我对花生过敏，点菜的时候请一定帮我避开。
李工说客户希望报价单用人民币含税价。
昨晚女儿发烧到 38.5 度，吃了退烧药才睡着。
我们家的猫叫豆包，是一只三岁的橘猫。
订单 A-1093 因为地址写错被退回，已经重新寄出。
我更喜欢靠窗的座位，坐飞机时不喜欢过道。
上个季度华东区的销售额下降了百分之八。
妈妈的生日是农历八月十五，每年都要回家吃饭。
会议纪要：发布推迟到周五，测试由小赵负责。
我在学吉他，目前只会弹三首歌。
房东同意把租金降到每月四千二，合同续签一年。
周末带孩子去了植物园，看到了王莲。
以后写代码注释请用英文，提交信息用中文。
体检报告显示血脂偏高，医生建议少吃油炸食品。
他觉得这部电影的结尾太仓促，但是配乐很好。
服务器昨天凌晨两点宕机，原因是磁盘写满了。
我打算明年考注册会计师，先报两门。
外卖里少了一份米饭，商家答应退款。
新来的实习生叫陈默，负责整理用户反馈。
我每天早上六点半起床跑步，大约五公里。
出差的发票要在月底之前交给财务。
奶奶年轻的时候在纺织厂上班，现在爱养花。
这个功能先不做，等法务确认隐私条款再说。
我搬到了杭州滨江区，离公司走路十分钟。
""".splitlines()

ZH_QUERIES: Final = """\
我上次剪头发是什么时候？
数据库为什么要换，从哪天开始？
点菜的时候有什么要避开的？
客户的报价有什么要求？
女儿生病那天体温是多少？
我养的宠物叫什么名字？
那个被退回的订单后来怎么处理了？
坐飞机我喜欢坐哪里？
华东区的业绩怎么样？
妈妈的生日是哪一天？
发布时间改到什么时候了，谁负责测试？
我会弹什么乐器？
现在的房租是多少钱一个月？
上个周末我们去了哪里玩？
提交信息应该用什么语言写？
医生对我的饮食有什么建议？
他怎么评价那部电影？
服务器宕机的原因是什么？
我明年有什么考试计划？
外卖出了什么问题？
实习生平时做哪些工作？
我早上几点起床，运动量多大？
发票应该什么时候交，交给谁？
奶奶以前是做什么工作的？
哪个功能被推迟了，为什么？
我现在住在哪个城市的哪个区？
""".splitlines()

EN_PASSAGES: Final = """\
I cut my hair short in March and it is much easier to wash now.
The team decided to move from MySQL to PostgreSQL, starting next Monday.
I'm allergic to peanuts, so please keep them out of anything you order.
Priya said the client wants the quote in euros with tax included.
My daughter had a fever of 38.5 last night and only slept after the medicine.
Our cat is called Biscuit, a three-year-old ginger tom.
Order A-1093 came back because the address was wrong; it has been sent again.
I prefer a window seat and dislike the aisle when flying.
Sales in the northern region fell by eight percent last quarter.
Mum's birthday is on the fifteenth of August and we always go home for dinner.
Minutes: the release slips to Friday, Tom owns the testing.
I'm learning the guitar and can play three songs so far.
The landlord agreed to lower the rent to 1,200 a month for another year.
We took the kids to the botanical garden at the weekend and saw giant water lilies.
From now on write code comments in English and keep commit messages short.
The check-up showed high cholesterol and the doctor told me to avoid fried food.
He thought the ending of the film was rushed but loved the score.
The server went down at two in the morning because the disk was full.
I plan to sit the accounting exam next year, two papers first.
A portion of rice was missing from the delivery and the shop promised a refund.
The new intern is called Mona and sorts the user feedback.
I get up at half past six every day and run about five kilometres.
Travel receipts must reach finance before the end of the month.
Grandma worked in a textile mill when she was young and now grows flowers.
We will not build this feature until legal has confirmed the privacy terms.
I moved to the harbour district, ten minutes on foot from the office.
""".splitlines()

EN_QUERIES: Final = """\
When did I last have my hair cut?
Why are we changing the database, and from which day?
What has to be left out when ordering food?
What does the client expect of the quote?
How high was my daughter's temperature that night?
What is the name of my pet?
What happened to the order that was returned?
Where do I like to sit on a plane?
How did the northern region do last quarter?
When is my mother's birthday?
Who is responsible for testing, and when is the release?
Which instrument do I play?
How much rent do I pay now?
Where did we go with the children at the weekend?
In which language should comments be written?
What did the doctor advise me about food?
What did he think of the film?
What caused the outage of the server?
Which exam am I planning to take?
What was wrong with the delivery?
What does the intern do?
When do I get up and how far do I run?
By when do receipts have to be handed in, and to whom?
What was grandma's job?
Which feature was put off, and why?
In which part of the city do I live?
""".splitlines()

_MEANS: Final = {
    "zh_passages": (
        "eip2oZWn36nFLayav6RyJdgtYx5CJ02jOi0so3ys2ifNK6KqR6U9rGQoPiBGqvQoRCzaKC2raSdwKaCtHKlnqd8pLqonLLko"
        "T6pCq30ncqo+p5Em9ir1LWUqmSuVqFQrhaxtpkao7ymMJOkpsxlqq0iooK3ArSIsOS1yI28mHibILRgqSyoaKhKoOJzapZos"
        "kSNlqO8iKBSFKq6pIyfaqoCta6nNp8wmoKxFKY8qg6pkK7kX9SpPLImhE6s7rLuqlKlWKNcraZroK2qoa6LerMKqHCsrK+yr"
        "TCnaqrSq3ykCKfIoMqzGqGKkIKzTKqaraiUIqjuoxaNvq/apTSqUKAKo8qATKLsoQZpdJlwj7SykqWMgOqVbp36nBykEqqUp"
        "hyrVJy8s5apWLJKquyQbq3MrRSjSKoeqQKjXqVsqSSoXq0usKa0cqCitkKugKFwsSKvQHpCknCjSqGolUh1PLDmmohz/LQQr"
        "uKHep7GreqgLqqemOKiBJzUn7xhLpEsqm6raqcypCiB6qwor+SgFKqslWarEJFomQihZpZitySlZqbIoiSg4rC2sPCy4rEoh"
        "niDqK6+oECRlJwqiPiTMrf+mISuAKCOq/qkXKJKrcaVwqvasNqxmrQYlWijfKuesBiA/rIQYA6ysLGypNKkiJ5OiHynkKqyr"
        "iKiurHKlryn0LE0tnaevKLEkiKCdLbsrJSw4IxOrsaEIrPimOaosJrosIaxdquinvSqHLs+q/qZXKYgoPCMnKewqWahxpvgo"
        "Vaj0pSCio5xdKQCrKyqGJA+XWCyKrecndKj1pPIocBBFr1gqCyR8lfwm8ynZLWUrhakHqDAhiCjqIbskW6Z0p42qTah3p5yq"
        "vyobKK2ryqjBLF0oFSTbp/ypnijHqCmm86t3KiysA6orJyku0KP6KTim+6vvJKeiMaQDKTcldaygI8QrqKXvKTapFKqkKp8q"
        "g6zIpsoqkylbLBYlXxgaiSwp9axLLPgoKKyjoj6ptqrTrHMpQ6i0q+YlLi23KBsr"
    ),
    "zh_queries": (
        "SiwhpVypEKjkLDyoCiAGKTQtuKGuKLaRCSx8pYqr8yfZK6Gq6qWLrH0mISUprI8pUCxRKWeqqSgJKsGshqqqqQgqA6ufLLoo"
        "NatgqiUr0qkrqeckASwNLSgo0StOqAsr6Kt2pN+noikkKVQpaR0yrFaopqyCrSsspCx0obsjGCjbK1wolCrCKXWpwKIlpQYr"
        "HSjyqN0igiNXKgSoBSQ3qyity6r3pq4m36qPKv8qX6ptK1ICMit1LIKmcKqlqi2pHKObKLQsoaB4LDOpqp8+rcypBSo2K5Gq"
        "Nir5qUiq+imkKVEpV6wsp8ifMqxOKsqqgCniqbCopqTFqrSrJSjEKTOk4yFnKXQo5qDUIwImxizZqGYj2KHNpNeoZSkYqnsq"
        "JSmbKawsHqhiK8KrfQ4upgAsDyt3KMuoeqZIqBErYCpJqqur5azWpzmtlas+KvUqG6xMqLGkACiOqgQoKB64K2WnmSUoLZIq"
        "LKaGpo+rNqosrOSnUKmVJ+IlgKEyogQqaqr4qDKnsyTIrMEq4Ci0KayiNKtIJQUlfSmJoqasbihLqcIosCiMrGarFSw4qnem"
        "sgx+KvaoHyiBJkal/CSnrUymwSshKWepgKdOKGWrfaemqCytHaokriEYLirGKYytMaWPqvMjPateK+epaaiTJryk6ypNK4is"
        "lqjGrKOmKSouK8MsxahUKC8ljBfHLecphCrGnBCsvqT2qoefFKs8JiIrCqv0qSWowyujLuKpBqlBKrkpBSJmLLcqHKlfqG8q"
        "rajyo9ukP6VCKl2o1ChCI1+fuCwnrWMlDqhsouEjxJBHrQkrAiFhmdMm9SocLYcoPqmcqQUjkynrnUQlaaotqGirlqehptar"
        "IyxKKVSr/qh0LMYoUJMYqKWqpSrXqbWoLKsWKk+qFKunKKcswaf/Kc2lAqubJFimvKiNKcYilq2jJjYrCKjGJqSlRKm2Kx4p"
        "yqseqXwqACprK2khI5YNldEmyKxxLFop56otH5+mkaYmrfUpT6g4quooWC0JKjwr"
    ),
    "en_passages": (
        "Nyj7ncmkfKoqLfmoYKR6IsMshCdWK2sleCubqX6qEiopKx+okKt6rJ4lE6V8prEqZyvELE2oAyTYJ3GuYarWqUUpAqyBJ5kg"
        "ZauAqxQq2KfXpVUoOihjLGgq0SjvqkUpjKgCqIyq0iu5nAIpDygaqjSs/6u3rK4nbCxmp68lwiV4LEcraCj5Kryq6qKDq7cq"
        "c4zRpzMkQirfJZGqp5zWpwWqPajNqEUpbqr7K3orT6tpLMumyiqBKZyoKqtsq2mps6qtKjIsRqn5K5Wn0igCrQ6m9yWNJ2+r"
        "Qyxlq/OpbSiQK+8mcasVqFSqLagRJ5yoairrpRuqhauIqhCeVSb9Joon7pL7Kt4keJ0MKQQoBy7zqdKmCKBLomeptyp7qB0r"
        "RCpGKrUrCqeWLYqptSY0pfQpvyM6Kdyqkqw1qu0qvipWqSmqSaz0oyqsB6M9LIQsmKtLoOapGiBOqFApAx2uKFOpMyoJLJ8o"
        "qKQHqS+ru6klq7inv6mEKEoocabppZonUKXnq3ypNikhqlUprSorJjgjC6VRKoAopSf0j3iskipLpPUpHyvdrAGrbCzCqSKd"
        "xyNyK0ypvCfjK32kmConrL2s/yljLGCrlanEKRep5aiIrICrNaoGqFwgnSeZKeepTahaqDEpBKwRKauh1qi7nd+g8SUTK7up"
        "/KdBqimnpCiUK3QriqhrJ+8iI6cqLSAqsSk0Kh6s5qbpqwuq2awpKoIgy6rVrISoGCQ2LBKn4KdYJhwpsSbdKY0qhqPIpQEr"
        "oaobqZGpK6x2KpSngSsEJvwexSxYpAApRKUbq4IoISlDrLIkayC/Kg4hGycDKZ4pW6wWn7orbizDgoojFKVIrL6q+au9oVKq"
        "Lid3LPuoi6cJKRQlwymhpwSq8ygGq6efvqUGKxasQausJWEp5amfKcemy6zgK6OlCqijI2Es3K5AJBwo6aegKhOojqp1KTsp"
        "wKpdokkp/ik5Kj8p6qg9ImQgvqujKoUpnKaSHwGkwKp5pn8q3akZrXEptSx4KAEs"
    ),
    "en_queries": (
        "pCofqWSptaigKzqr2CLFKGErniK2KjIlmys1q/ao/ShBLBqnjaMurVUo66FAq74qQypEKlCkHR6ZKd6snqoEqZsooqpOKqon"
        "batFqbUsJKmbp4EpbCojKYoo3SsCqYsriKdapsurXSpgKFsq7ypFq4Os+KpLqrMpbCr8qmIlyR8qLO8qBSiFKhasDaQCrLQp"
        "eiGDpVMTQCQ4JUWsnSS+qLSqtai9pnspN6sWK+Uqo6p3LNWnaywJLAyqxKvwrKqqlqgqKH4rxaicKy6l4CgOqOSoGCZJKRSr"
        "Wiu0qAKqMSm3LAkszqo6qJ+mq6mHKPCo9SsVpAKrKqw1q6yoYCZfK2YpHiCnKG4mZydIKWMpuyt2q8ik+54bovapmypyqjgn"
        "rSwGKXAt/qaqLNioLihzpxksYCmdJguoHKy1qrkqAClWqsirkqwzprmqnqSMKHUrx6gQo6Kqric/rFQqUhA+KzipQSxQLHcp"
        "1anCpz+pMKySqjWs0qoYKMwmBaVaoycpPqm5qlWq/igErMcqEyubKc2gtaXNJsMmfCieIvKqECgeq+Upeyu+rHusSSzCp8Ch"
        "XB2iKympGimJKVOjUynTrcyrsii8KFqqW6W+KlGqm6iAqj+tXKkIqRGlFyr0KFKqHKuhqsopc6xnKNOopqdSKSekniTNK/+r"
        "HKjAqN+m7CnnJ3gsNqpsKL6gnqEELp0r0CjjKNuqWKUJq+uniaylJ0Moq6rNqW+pLSdaLRSlCKdsK0oopicNLbslA6gFp7Eq"
        "mantpisZt6lsLCmeWiuuJq8dRiycp54m96nIqXwgCiqNrJcmFyWnKBIjsCmGKg8r46mLqI0oWCnppawmaaoBq5+sU6nep9Wr"
        "Iig6J3Oslqo6JvEkjiKlpo+rBCw5qUukoac3K3OrD6wtJ/AoFKutJiykp6qwKLumqqmvKNkr3a0iJjAqBqhYKWOkJalhKBgp"
        "CKw7qPcpLirTKfkqb6SsojcmeKp7K6cqW6rxGgmpcqSIqL4qVqrSqrAmuiyMJBkr"
    ),
}


def mean(name: str) -> NDArray[np.float32]:
    """``zh_passages``, ``zh_queries``, ``en_passages`` or ``en_queries``: 384 numbers, not normalised."""
    return np.frombuffer(base64.b64decode(_MEANS[name]), dtype="<f2").astype(np.float32)
