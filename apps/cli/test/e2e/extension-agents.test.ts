import { expect, it } from "vitest";
import { PI_VERSION } from "../../src/process/version.ts";
import { startHost } from "../support/start-host.ts";

/** Runs an agent in another host, like pi extensions with subagents. */
const extension = `
  import { join } from "node:path";
  import { getPackageDir, RpcClient } from "@earendil-works/pi-coding-agent";
  import { Type } from "typebox";
  export default function (pi: any) {
    pi.registerTool({
      name: "ask_another", label: "Ask", description: "Asks another agent",
      parameters: Type.Object({ where: Type.String(), scenario: Type.String() }),
      async execute(_id: string, { where, scenario }: Record<string, string>, _signal: unknown, _update: unknown, ctx: any) {
        const cliPath = where === "nowhere" ? "dist/cli.js" : join(getPackageDir(), "dist", "cli.js");
        const args = ["--provider", "scripted", "--model", scenario, "--no-session", "--no-extensions"];
        const client = new RpcClient({ cliPath, cwd: ctx.cwd, args });
        const seen: string[] = [];
        client.onEvent((event: any) => seen.push(event.type));
        await client.start();
        const events = await client.promptAndWait("who are you?", undefined, 20000);
        const last = await client.getLastAssistantText();
        const [question, answer] = await client.getMessages();
        const { isStreaming } = await client.getState();
        await client.stop();
        const text = [last, question.role, answer.role, isStreaming, events.at(-1).type, seen.includes("agent_start")].join(" ");
        return { content: [{ type: "text", text }], details: {} };
      },
    });
  }
`;

it.each(["beside the host", "nowhere"])(
  "an extension runs its own agent, with a program %s",
  async (where) => {
    const files = {
      "agent/extensions/ask.ts": extension,
      "project/other.json": JSON.stringify([{ content: "another" }]),
    };
    const given = { where, scenario: "other.json" };
    const scenario = [
      { content: [{ type: "toolCall" as const, name: "ask_another", arguments: given }] },
      { content: "done" },
    ];
    const host = startHost({ files, scenario });
    host.send({ id: "1", type: "prompt", message: "ask" });
    expect(await host.until({ "...": true, type: "tool_execution_end" })).toMatchObject({
      isError: false,
      result: { content: [{ text: "another user assistant false agent_settled true" }] },
    });
  },
);

/** Starts a program that imports pi's packages from outside this repository. */
const starting = `
  import { createRequire } from "node:module";
  import { existsSync, readFileSync, writeFileSync } from "node:fs";
  import { dirname, join } from "node:path";
  import { fileURLToPath } from "node:url";
  export default function (pi: any) {
    pi.registerCommand("program", { handler: async (_args: string, ctx: any) => {
      const entry = fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"));
      const root = dirname(dirname(entry));
      const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
      const ai = createRequire(join(root, "package.json")).resolve("@earendil-works/pi-ai/compat");
      const program = join(ctx.cwd, "program.mjs");
      writeFileSync(program, [
        "import { SessionManager, getAgentDir } from " + JSON.stringify(entry) + ";",
        "import { streamSimple } from " + JSON.stringify(ai) + ";",
        "const id = SessionManager.inMemory('/tmp').getSessionId();",
        "console.log(typeof streamSimple, id.length, getAgentDir());",
      ].join("\\n"));
      const { stdout, stderr } = await pi.exec("node", [program]);
      const version = await pi.exec("node", [join(root, manifest.bin.pi), "--version"]);
      ctx.ui.notify([manifest.name, existsSync(join(root, manifest.bin.pi)), stdout.trim() + stderr, version.stdout.trim()].join("|"), "info");
    } });
  }
`;

it("a program started by an extension can import pi's packages", async () => {
  const host = startHost({ files: { "agent/extensions/starting.ts": starting } });
  host.send({ id: "1", type: "prompt", message: "/program" });
  const { message } = await host.until({ "...": true, method: "notify" });
  const [name, isThere, said, version] = String(message).split("|");
  expect([name, isThere]).toEqual(["@earendil-works/pi-coding-agent", "true"]);
  expect(said).toMatch(/^function 36 .*agent$/);
  expect(version).toBe(PI_VERSION);
});
