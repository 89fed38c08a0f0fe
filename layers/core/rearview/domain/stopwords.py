"""Function words of English and Chinese, which carry no content in a memory or a question about it."""

from __future__ import annotations

from typing import Final

# fmt: off
STOP_WORDS: Final = frozenset([
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot",
    "could", "did", "do", "does", "doing", "down", "during", "each", "few", "for", "from", "further", "had",
    "has", "have", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i",
    "if", "in", "into", "is", "it", "its", "itself", "just", "me", "more", "most", "my", "myself", "no",
    "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over",
    "own", "same", "she", "should", "so", "some", "such", "than", "that", "the", "their", "theirs", "them",
    "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until",
    "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "why",
    "will", "with", "would", "you", "your", "yours", "yourself", "yourselves", "arent", "cant", "couldnt",
    "didnt", "doesnt", "dont", "hadnt", "hasnt", "havent", "im", "isnt", "itll", "ive", "shouldnt", "thats",
    "theres", "theyre", "theyve", "wasnt", "werent", "weve", "whats", "wheres", "whos", "wont", "wouldnt",
    "youd", "youll", "youre", "youve",
])
# Function words when written with an apostrophe; without it they may be words of their own (ill, shed, well).
CONTRACTIONS: Final = STOP_WORDS | frozenset([
    "hed", "hell", "id", "ill", "itd", "mustnt", "neednt", "shant", "shed",
    "shell", "shes", "thatd", "thatll", "theyd", "theyll", "wed", "well", "were", "yall",
])
# fmt: on

# Pronouns, particles, question words, measure and linking words of Chinese, as characters.
FUNCTION_CHARACTERS: Final = frozenset(
    "我你您他她它们的了着过是在有和与及或吗呢吧啊么什哪谁怎几多少个这那就也都很没被把给对从到为所请问"
)
