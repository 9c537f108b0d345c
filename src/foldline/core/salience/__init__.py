"""
Salience: which verbatim lines of a conversation the model will need again.

One mechanism serves three masters: the embedded summarizer, the truncation of a giant output, and
the repair of a model's summary. `items` finds what is worth remembering in a text, `index` keeps
the statistics of a conversation as it grows, `score` turns them into a probability of use,
`lines` cuts messages into candidate lines and `select` covers the items under a budget.
"""
