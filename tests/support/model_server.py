"""A server that speaks OpenAI's chat protocol, on loopback, in a thread of its own; and is as bad as a test wants it.

It answers each request by what ``behave`` says: called with the body of the request and its number, from 0, it returns
what the answer is (an object, given as the call of the first tool, or as text), or one of the faults below. It counts
what it was asked, what it answered, and what its clients gave up.
"""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass, field


@dataclass
class Answer:
    """What one request is answered with."""

    value: object = None  # an object is the arguments of the tool; a text is the content
    latency: float = 0.0  # real seconds before it
    status: int = 200
    retry_after: float = 0.0
    is_half: bool = False  # the connection breaks in the middle
    hangs: bool = False  # nothing ever comes
    body: str | None = None  # what is sent instead of an answer
    header: str = ""  # a line of its head
    usage: tuple[int, int] | None = None  # prompt and completion tokens; by default those that fit into the request


@dataclass
class ModelServer:
    behave: object
    port: int = 0  # 0: any that is free
    asked: list = field(default_factory=list)  # the bodies
    headers: list = field(default_factory=list)
    given_up: list = field(default_factory=list)  # numbers of requests whose client went away before the answer
    answered: int = 0
    tokens: int = 0  # that were told in answers
    open: int = 0
    most_open: int = 0
    url: str = ""

    def __enter__(self):
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_exc):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    async def _serve(self):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._tasks = set()
        server = await asyncio.start_server(self._client, "127.0.0.1", self.port)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _client(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next(int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-l"))
            body = json.loads(await reader.readexactly(length))
            await self._answer(head, body, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, head, body, reader, writer):
        number = len(self.asked)
        self.asked.append(body)
        self.headers.append(head)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            answer = self.behave(body, number)
            gone = asyncio.ensure_future(reader.read(1))  # nothing more is sent: it ends when the client goes
            wait = 3600 if answer.hangs else answer.latency
            done, _ = await asyncio.wait({gone}, timeout=wait)
            if done:
                self.given_up.append(number)
                return
            gone.cancel()
            await self._write(answer, body, writer)
        finally:
            self.open -= 1

    async def _write(self, answer, body, writer):
        if answer.status != 200:
            content = answer.body or json.dumps({"error": {"message": f"status {answer.status}", "type": "test"}})
            extra = f"retry-after: {answer.retry_after}\r\n" if answer.retry_after else ""
        else:
            usage = answer.usage or _fitting(body)
            self.answered += 1
            self.tokens += sum(usage)
            content, extra = answer.body or json.dumps(_completion(answer.value, body, usage)), ""
        data = content.encode()
        head = f"HTTP/1.1 {answer.status} X\r\ncontent-type: application/json\r\n{extra}{answer.header}content-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + (data[: len(data) // 2] if answer.is_half else data))
        await writer.drain()


def _fitting(body):
    """Usage that the request allows: some tokens of what it says, and no more than it asks for."""
    said = sum(len(str(message["content"])) for message in body["messages"])
    most = body.get("max_completion_tokens") or body.get("max_tokens") or 16
    return said // 4, min(most, 20)


def _completion(value, body, usage):
    message = {"role": "assistant", "content": None}
    if isinstance(value, str) or not body.get("tools"):
        message["content"] = value if isinstance(value, str) else json.dumps(value)
    else:
        name = body["tools"][0]["function"]["name"]
        call = {"name": name, "arguments": json.dumps(value)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }  # fmt: skip
