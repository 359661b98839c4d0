// Tau as a child process, from any language: node docs/examples/subprocess-node.mjs
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

// For a real model, set a key such as ANTHROPIC_API_KEY and leave `scripted` out.
const scripted = ["--provider", "scripted"];
const args = ["--mode", "rpc", "--no-session", ...scripted];
const tau = spawn("tau", args, { stdio: ["pipe", "pipe", "inherit"] });

const prompt = { id: "1", type: "prompt", message: "What is in this folder?" };
tau.stdin.write(`${JSON.stringify(prompt)}\n`);

for await (const line of createInterface({ input: tau.stdout })) {
  const frame = JSON.parse(line);
  if (frame.type === "response" && !frame.success) throw new Error(frame.error);
  const step = frame.assistantMessageEvent;
  if (step?.type === "text_delta") process.stdout.write(step.delta);
  if (frame.type === "tool_execution_start") console.log(`\n[${frame.toolName}]`);
  if (frame.type === "agent_settled") tau.stdin.end();
}
console.log();
