/** The minimum that a program can do with a command's output: read it and discard it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { command } = JSON.parse(line);
  const shell = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "ignore"] });
  shell.stdout.on("data", () => {});
  await once(shell, "close");
  const answer = { type: "response", command: "bash", success: true };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
