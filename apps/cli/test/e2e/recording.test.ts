import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { linesOf } from "../recording/check-recordings.ts";
import { currentTest } from "../recording/record-host.ts";
import { type Channel, OWNER_FILE } from "../recording/recording.ts";
import { startHost } from "../support/start-host.ts";

const call = (name: string, args: object) => ({
  content: [{ type: "toolCall" as const, name, arguments: { ...args } }],
});

/** The lines that the hosts of this test have recorded. */
function recorded(channel: Channel): string[] {
  const root = inject("recordings");
  return readdirSync(root)
    .filter((name) => name.startsWith("recording-"))
    .map((name) => join(root, name))
    .filter(
      (folder) => JSON.parse(readFileSync(join(folder, OWNER_FILE), "utf8")).test === currentTest(),
    )
    .flatMap((folder) => [...linesOf(folder, channel)]);
}

const sessionFiles = (folder: string): string[] => {
  const root = join(folder, "agent");
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(root, name));
};

describe("the recording of a host", () => {
  it("contains what its client reads and sends, and the lines of its session file", async () => {
    const scenario = [call("bash", { command: "echo one" }), "Done: 😀\u2028."];
    const host = startHost({ scenario });
    const commands = [
      { id: "i", type: "initialize", stream: "delta" },
      { id: "p", type: "prompt", message: "go" },
    ];
    for (const command of commands) host.send(command);
    await host.until({ "...": true, type: "prompt_result" });
    await host.finish();
    expect(recorded("stdout").join("\n")).toBe(host.stdout.trimEnd());
    expect(recorded("stdin")).toEqual(commands.map((command) => JSON.stringify(command)));
    const [path = ""] = sessionFiles(host.place.folder);
    const entries = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(entries.length).toBeGreaterThan(4);
    expect(recorded("sessions")).toEqual(entries.map((entry) => `\t${path}\t${entry}`));
  });

  it("contains everything that a killed host has written", async () => {
    const scenario = [{ content: "x".repeat(20_000), chunkSize: 20, delayMs: 1 }];
    const host = startHost({ scenario });
    host.send({ type: "prompt", message: "go" });
    for (let count = 0; count < 5; count++) {
      await host.until({ "...": true, type: "message_update" });
    }
    host.child.kill("SIGKILL");
    await host.ended;
    expect(`${recorded("stdout").join("\n")}\n`.startsWith(host.stdout)).toBe(true);
  });

  it("is complete even where file sizes are limited", async () => {
    const shell = ["/bin/sh", "-c", 'ulimit -S -f 24; exec "$0" "$@"', process.execPath];
    const host = startHost({ scenario: [{ content: "x".repeat(30_000) }] }, { command: shell });
    host.send({ id: "p", type: "prompt", message: "go" });
    await host.until({ "...": true, type: "prompt_result" });
    await host.finish();
    expect(host.stdout.length).toBeGreaterThan(100_000);
    expect(recorded("stdout").join("\n")).toBe(host.stdout.trimEnd());
  });

  it("is also made for the host of a subagent", async () => {
    const scenario = [
      { when: { lastUserIncludes: "look", hasToolResults: false }, content: "Looked." },
      { ...call("task", { task: "look" }), when: { hasToolResults: false } },
      "Done.",
    ];
    const host = startHost({ scenario });
    host.send({ id: "p", type: "prompt", message: "go" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    await host.finish();
    const questions = recorded("stdin").map((line) => JSON.parse(line));
    expect(questions).toContainEqual(expect.objectContaining({ type: "prompt", message: "look" }));
    const answers = recorded("stdout").map((line) => JSON.parse(line));
    expect(answers).toContainEqual(
      expect.objectContaining({ command: "initialize", success: true }),
    );
  });
});
