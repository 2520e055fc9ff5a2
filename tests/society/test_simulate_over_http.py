"""A society whose model is asked over HTTP: it lives by what the model says, and goes on where that cannot be used."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from openai_server import Answer, Request, fails, says, serve, writes
from pydantic import SecretStr

from graphmem import AsyncMemory
from graphmem.embedding.base import Embedder
from graphmem.errors import ModelAuthenticationFailed
from graphmem.language.litellm_model import LiteLLM
from graphmem.models import Observation
from graphmem.models.society import Simulation
from graphmem.providers import import_litellm
from graphmem.settings import Settings

START = datetime(2026, 6, 12, 9, tzinfo=UTC)
NEWS = "There is a regatta at the Heron quay tonight at 19:00."
ASKED = {
    "rate": "Rate each",
    "plan": "in 5 to 8 blocks",
    "divide": "Divide it into",
    "react": "Should it react?",
    "place": "do it, to which of these places",
    "thing": "do it, which of these things",
    "speak": "What do you say next",
    "check": "Which of these sentences",
    "note": "said in one conversation",
    "sum up": "Sum up",
    "questions": "high-level questions",
}


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """Importing litellm takes seconds, which belong to no test's time."""
    import_litellm()


class Town:
    """A model that lets people meet and tell the news, and now and then writes what nobody can use."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.spoiled: list[str] = []
        """Tasks of which the first reply was malformed."""
        self.down = False

    def __call__(self, request: Request) -> Answer:
        prompt = request.messages[1]["content"]
        if self.down:
            return fails(401, "the key was revoked", code="invalid_api_key")
        (task,) = [name for name, words in ASKED.items() if words in prompt] or ["other"]
        self.asked[task] += 1
        answer = json.dumps(getattr(self, f"_{task.replace(' ', '_')}")(prompt))
        if task == "plan" and "Bo Tarn" in prompt:
            return says("I am sorry, I would rather not plan this.")  # never anything that can be used
        if task not in self.spoiled:
            self.spoiled.append(task)
            return [
                says(f"Sure! Here it is:\n```json\n{answer[: len(answer) // 2]}"),  # cut off
                writes(answer, 100_000)(request),
                says(answer.replace('"', "“")),  # no JSON
            ][len(self.spoiled) % 3]
        return says(f"```json\n{answer}\n```")

    def _numbers(self, prompt: str, words: str = "") -> list[int]:
        lines = re.findall(r'^(\{"number": (\d+).*)$', prompt, re.MULTILINE)
        return [int(number) for line, number in lines if words in line]

    def _rate(self, prompt: str) -> Any:
        return {"ratings": [{"number": number, "importance": 5} for number in self._numbers(prompt)]}

    def _plan(self, prompt: str) -> Any:
        return {
            "plan": [
                {"start": "09:00", "end": "12:00", "text": "stand on the quay", "place": "quay", "evidence": []},
                {"start": "12:00", "end": "24:00", "text": "be at home", "place": None, "evidence": [99]},
            ]
        }

    def _divide(self, prompt: str) -> Any:
        minutes = int(re.findall(r"exactly (\d+) minutes", prompt)[0])
        text = "be at home" if '"be at home"' in prompt else "stand on the quay"
        return {"parts": [{"text": text, "minutes": min(15, minutes - at)} for at in range(0, minutes, 15)]}

    def _react(self, prompt: str) -> Any:
        return {"react": True, "reason": "they meet", "converse_with": 1 if "<people>" in prompt else None}

    def _place(self, prompt: str) -> Any:
        return {"number": next(iter(self._numbers(prompt, "Heron")), None)}

    def _thing(self, prompt: str) -> Any:
        return {"number": None}

    def _speak(self, prompt: str) -> Any:
        told = set(map(int, re.findall(r"\d+", prompt.partition("from the other: [")[2].partition("]")[0])))
        news = [number for number in self._numbers(prompt, "regatta") if number not in told]
        return {"sentences": [{"text": NEWS, "evidence": news[:1]}] if news else []}

    def _check(self, prompt: str) -> Any:
        sentences = prompt.partition("Sentences (data as well)")[2]
        return {"verdicts": [{"number": n, "follows": True} for n in self._numbers(sentences)]}

    def _note(self, prompt: str) -> Any:
        return {"summaries": [{"text": "We spoke of the regatta.", "evidence": self._numbers(prompt)}]}

    def _sum_up(self, prompt: str) -> Any:
        return {"text": "A quiet day with news of the regatta.", "evidence": self._numbers(prompt, "regatta")}


async def living(memory: AsyncMemory, world: str, name: str, *, home: str) -> str:
    agent = memory.agent(f"{world}/{name.split()[0].casefold()}")
    await agent.configure(name=name, clock=START)
    await agent.settle(f"{world}:{home}:room", knows=[f"{world}:Heron:quay"], now=START)
    return agent.id


async def test_three_live_by_a_model_over_http(settings: Settings, embedder: Embedder) -> None:
    world, town = f"Town {uuid4().hex[:6]}", Town()
    with serve(town) as server:
        model = LiteLLM("openai/scripted", api_base=server.url, api_key=SecretStr("sk-testing"), timeout=10, max_wait=2)
        async with await AsyncMemory.open(settings=settings, embedder=embedder, language_model=model) as memory:
            await memory.build_world(
                {
                    "name": world,
                    "places": [
                        {"path": [world, "Heron", "quay", "bench"], "uses": ["sit"]},
                        {"path": [world, "Mill", "room", "bed"], "uses": ["sleep"]},
                        {"path": [world, "Forge", "room", "bed"], "uses": ["sleep"]},
                    ],
                },
                now=START,
            )
            agents = [
                await living(memory, world, "Ines Calder", home="Mill"),
                await living(memory, world, "Rosa Marsh", home="Forge"),
                await living(memory, world, "Bo Tarn", home="Mill"),
            ]
            ines, rosa, bo = (memory.agent(id_) for id_ in agents)
            await ines.observe(NEWS, id="news", importance=8, now=START)
            simulation = Simulation(name=world, agents=tuple(agents), start=START, minutes=15, steps=3)
            report = await memory.simulate(simulation)

            assert report.done == 3
            # Whose plan is never one that can be used is told, and lives on without it.
            assert [failure.partition(":")[0] for failure in report.failures] == [bo.id] * len(report.failures)
            assert report.failures
            assert await bo.plans("2026-06-12") == ()
            assert {run.outcome for run in await bo.runs() if run.verb == "plan"} == {"failed"}
            # A malformed reply is asked again, and what was refused stands on the run.
            planned = [run for run in await ines.runs() if run.verb == "plan"]
            assert {run.outcome for run in planned} == {"done"}
            quay = {step.place for step in (await memory.replay(world)).steps if step.agent_id == ines.id}
            assert f"{world}:Heron:quay" in quay
            refused = [item.gate for id_ in agents for run in await memory.agent(id_).runs() for item in run.refused]
            assert {"parse", "index"} <= set(refused)
            # The news went from one to the other, word for word and with its way back.
            heard = [m for m in await rosa.memories() if isinstance(m, Observation) and m.text == NEWS]
            assert [(one.kind, one.source) for one in heard] == [("utterance", "Ines Calder")]
            found = await memory.diffusion("news", from_=ines.id, agents=agents)
            assert rosa.id in {one.agent_id for one in found.reached("heard")}
            assert (await rosa.usage()).prompt_tokens > 0
            for agent in (ines, rosa, bo):
                assert await agent.check() == ()
                assert not [run for run in await agent.runs() if run.outcome == "open"]
            assert {"plan", "divide", "react", "speak", "check", "note"} <= set(town.asked)

            # A provider that refuses stops it, loses nothing, and the same call goes on from there.
            town.down = True
            longer = simulation.model_copy(update={"steps": 4})
            with pytest.raises(ModelAuthenticationFailed):
                await memory.simulate(longer)
            town.down = False
            again = await memory.simulate(longer)
            assert (again.before, again.done) == (3, 4)
