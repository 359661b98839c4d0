/** The minimum that a program can do with commands: parse each line and answer it. */
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line);
  const answer = { id, type: "response", command: type, success: true, data: {} };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
