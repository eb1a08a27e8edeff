"""Several prompts are decoded together; each text is, token for token, what it would be alone."""

from draftproof import generate

prompts = ["And the king said", "Blessed are the", "Now these are the names of"]
settings = {"max_tokens": 24, "temperature": 0.7, "seed": 1}
together = generate(prompts, batch_size=3, **settings)
for found in together:
    alone = generate(found.prompt, **settings)
    print(repr(found.text), "same alone:", found.token_ids == alone.token_ids)
