"""A text can be left at any point and gone on with, by you or by Ctrl-C: nothing is lost, nothing said twice."""

from draftproof import BlockRule, Engine, FixedLength, ModelDrafter, PhiloxNoise, Stop, load, sampling

target, tokenizer = load("tiny:target", "target")
draft, _ = load("tiny:draft", "drafter")
pipeline = sampling(temperature=0.8)
engine = Engine(target, ModelDrafter(draft, pipeline), BlockRule(), pipeline, FixedLength(3))
prompt, noise = tokenizer.encode("And it came to pass"), PhiloxNoise(seed=5)
stop = Stop(max_tokens=30, context_limit=target.context_limit)

session = engine.start(prompt)
passes = engine.go_on(session, stop, noise)
print(tokenizer.decode(next(passes).emitted + next(passes).emitted), "|")
passes.close()
print("...", tokenizer.decode(token for done in engine.go_on(session, stop, noise) for token in done.emitted))

whole = [token for done in engine.decode(prompt, stop, noise) for token in done.emitted]
print("as if never left:", session.text[len(prompt) :] == whole)
