"""
The snapshot: what stands for folded messages, made of statements that a reader can go on with.

State first, then the story in order, then names that recall finds: `sources` collects the texts
there are, `statements` cuts them into whole sentences, lines and blocks, `worth` judges each
once, `state` reads off how things stand, and `compose` fills the room and writes the snapshot.
"""
