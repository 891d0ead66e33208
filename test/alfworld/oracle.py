"""Plays games with the real textworld and alfworld and writes down everything they say.

Reads games from stdin, one JSON object a line: the fields of a game.tw-pddl, and `id`, `seed`, `steps`, and `commands`
where they are to be played instead of drawn ones. Writes one trace a line. `pip install 'textworld[pddl]' alfworld`.
"""

import json
import os
import random
import sys
import tempfile

import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

JUNK = ["", "  look  ", "Look", "dance", "go to moon 1", "take everything", "examine nothing 1", "go to  drawer 1", "{o}"]


def draw(rng, state, plan):
    """Mostly what is possible, sometimes the game's own way to the goal, sometimes nonsense."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(JUNK)
    if kind < 0.4 and plan:
        return plan.pop(0)
    # Going places is most of what is possible and the least of what can go wrong.
    commands = state["admissible_commands"]
    others = [command for command in commands if not command.startswith("go to ")]
    return rng.choice(others if rng.random() < 0.5 else commands)


def seen(state):
    return {"observation": state["feedback"], "admissible": state["admissible_commands"]}


def play(game):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "game.tw-pddl")
        with open(path, "w") as file:
            json.dump(game, file)
        env = textworld.start(path, textworld.EnvInfos(admissible_commands=True, won=True), wrappers=[AlfredDemangler])
        state = env.reset()
    rng = random.Random(game.get("seed", 0))
    plan = list(game.get("commands") or game.get("walkthrough") or [])
    trace = {"id": game.get("id"), "start": seen(state), "steps": []}
    for _ in range(len(game["commands"]) if game.get("commands") else game["steps"]):
        command = plan.pop(0) if game.get("commands") else draw(rng, state, plan)
        state, score, done = env.step(command)
        trace["steps"].append({"command": command, **seen(state), "score": score, "done": done})
        if done:
            break
    env.close()
    return trace


for line in sys.stdin:
    print(json.dumps(play(json.loads(line))), flush=True)
