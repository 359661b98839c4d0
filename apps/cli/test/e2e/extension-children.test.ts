import { describe, expect, it } from "vitest";
import { runHost, startHost } from "../support/start-host.ts";

const ways = {
  "a program": `spawn("sh", ["-c", "echo rubbish"], { stdio: "inherit" })`,
  "a program with a list of streams": `spawn("sh", ["-c", "echo rubbish"], { stdio: ["ignore", 1, 2] })`,
  "a program with the stream itself": `spawn("sh", ["-c", "echo rubbish"], { stdio: ["ignore", process.stdout, "pipe"] })`,
  "a module": `fork(child)`,
  "a program that is waited for": `({ on: (_, done) => { execSync("echo rubbish", { stdio: "inherit" }); done(); } })`,
  "a program's descendants": `spawn("sh", ["-c", "sh -c 'echo rubbish' & wait"], { stdio: "inherit" })`,
} as const;

const extension = (start: string) => `import { execSync, fork, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
const child = process.cwd() + "/child.mjs";
export default (pi) => {
  pi.registerCommand("start", {
    handler: async () => {
      writeFileSync(child, "console.log('rubbish')");
      await new Promise((resolve) => (${start}).on("exit", resolve));
    },
  });
};`;

describe("a process started by an extension", () => {
  it.each(Object.entries(ways))("writes nothing between the frames: %s", async (_, start) => {
    const host = startHost({ files: { "agent/extensions/start.js": extension(start) } });
    host.send({ type: "prompt", message: "/start", id: "p" });
    await host.until({ "...": true, type: "prompt_result" });
    expect((await host.finish()).code).toBe(0);
    expect(host.stdout).not.toContain("rubbish");
    expect(host.stderr).toContain("rubbish");
  });

  it("reads no commands of the client", async () => {
    const reader = `spawn("cat", { stdio: ["inherit", "ignore", "ignore"] })`;
    const host = startHost({ files: { "agent/extensions/start.js": extension(reader) } });
    host.send({ type: "prompt", message: "/start", id: "p" });
    await host.until({ "...": true, type: "prompt_result" });
    host.send({ type: "get_state", id: "after" });
    await host.until({ "...": true, id: "after" });
  });

  it("writes nothing into the reply of a one-shot run", async () => {
    const text = `import { spawnSync } from "node:child_process";
      export default () => spawnSync("echo", ["rubbish"], { stdio: "inherit" });`;
    const result = await runHost({
      files: { "agent/extensions/start.js": text },
      scenario: ["Hi"],
      arguments: ["-p", "go"],
    });
    expect(result).toMatchObject({ code: 0, stdout: "Hi\n", stderr: "rubbish\n" });
  });
});
