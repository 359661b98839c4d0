"""A host with one kind of misbehaviour, named by its first argument."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

behaviour = sys.argv[1]


def say(frame: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], **more: Any) -> None:
    frame = {"id": request["id"], "type": "response", "command": request["type"], "success": True}
    say({**frame, **more})


def initialized(request: dict[str, Any]) -> None:
    data = {"name": "fake", "version": "0", "maxFrameBytes": 1000, "stream": "delta"}
    if behaviour == "legacy":
        text = "Unknown command: initialize"
        say({"type": "response", "command": "initialize", "success": False, "error": text})
    elif behaviour != "silent":
        answer(request, data=data)


def act(request: dict[str, Any]) -> None:
    if behaviour == "dies":
        sys.stderr.write("out of luck\n")
        sys.stderr.flush()
        os._exit(3)
    elif behaviour == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == "closes-output":
        os.close(1)
        time.sleep(60)
    elif behaviour == "noise":
        sys.stdout.write("Warning: not JSON\n[1, 2]\n\n{}\n" + '{"type": 1}\n')
        say({"type": "from_the_future", "wonder": True})
        answer(request, data={"more": "than documented"}, also="this")
    elif behaviour == "orphan":
        # A grandchild that holds the pipes must not keep the client waiting.
        subprocess.Popen(["sleep", "10"])
        os._exit(4)
    elif behaviour == "huge":
        size = int(sys.argv[2])
        answer(request, data={"text": "x" * size + "\u2028"})
    elif behaviour == "flood":
        for number in range(int(sys.argv[2])):
            say({"type": "bash_execution_update", "delta": f"{number}"})
        answer(request, data={"text": None})
    elif behaviour == "unread":
        time.sleep(1)
        answer(request)
    elif behaviour == "dialog":
        say({"type": "extension_ui_request", "id": "d1", "method": sys.argv[2], "title": "?"})
        reply = json.loads(sys.stdin.readline())
        answer(request, data={"text": json.dumps(reply)})
    elif behaviour == "legacy":
        legacy(request)
    elif behaviour == "spent":
        answer(request, data={"disposition": "queued"})
        result = {"status": "error", "error": "used up", "code": "budget_exceeded"}
        say({"type": "prompt_result", "id": request["id"], **result})
    elif behaviour not in ("silent", "mute", "deaf"):
        answer(request)


def legacy(request: dict[str, Any]) -> None:
    if request["type"] == "prompt":
        answer(request)
        content = [{"type": "text", "text": "old"}]
        reply = {"role": "assistant", "content": content, "stopReason": "stop"}
        say({"type": "agent_start"})
        say({"type": "message_end", "message": reply})
        say({"type": "agent_end", "messages": [reply]})
    else:
        answer(request, data={"isStreaming": False, "isCompacting": False})


if behaviour == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    command = json.loads(line)
    (initialized if command["type"] == "initialize" else act)(command)
if behaviour in ("deaf", "mute"):
    time.sleep(60)
