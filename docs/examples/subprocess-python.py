# Tau as a child process, from any language: python3 docs/examples/subprocess-python.py
import json, subprocess

# For a real model set a key, such as ANTHROPIC_API_KEY, and leave `scripted` out.
scripted = ["--provider", "scripted"]
tau = subprocess.Popen(["tau", "--mode", "rpc", "--no-session", *scripted],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

prompt = {"id": "1", "type": "prompt", "message": "What is in this folder?"}
tau.stdin.write(json.dumps(prompt) + "\n")
tau.stdin.flush()

for line in tau.stdout:
    frame = json.loads(line)
    if frame["type"] == "response" and not frame["success"]:
        raise SystemExit(frame["error"])
    step = frame.get("assistantMessageEvent", {})
    if step.get("type") == "text_delta":
        print(step["delta"], end="", flush=True)
    if frame["type"] == "tool_execution_start":
        print(f"\n[{frame['toolName']}]")
    if frame["type"] == "agent_settled":
        tau.stdin.close()  # the host ends with its input
print()
