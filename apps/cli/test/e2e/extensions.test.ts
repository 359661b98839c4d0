import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startMemoryHost } from "../support/memory-host.ts";
import { runHost, startHost } from "../support/start-host.ts";

const extension = `
  import { writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { Type } from "@sinclair/typebox";
  import { truncateTail } from "@mariozechner/pi-coding-agent";
  export default function (pi: any) {
    pi.registerFlag("word", { type: "string", default: "nothing" });
    pi.registerTool({
      name: "say", label: "Say", description: "Says a word", parameters: Type.Object({ times: Type.Number() }),
      async execute(_id: string, { times }: { times: number }, _signal: unknown, _update: unknown, ctx: any) {
        const isSure = await ctx.ui.confirm("Say it?", pi.getFlag("word"));
        const text = isSure ? truncateTail(pi.getFlag("word").repeat(times)).content : "kept quiet";
        return { content: [{ type: "text", text }], details: {} };
      },
    });
    pi.registerCommand("leave", { description: "Ends the host", handler: (_args: string, ctx: any) => ctx.shutdown() });
    pi.on("session_shutdown", (event: any, ctx: any) => {
      writeFileSync(join(ctx.cwd, "ended.txt"), event.reason, { flag: "a" });
    });
  }
`;
const files = { "agent/extensions/say.ts": extension };
const scenario = [
  { content: [{ type: "toolCall" as const, name: "say", arguments: { times: 2 } }] },
  { content: "said" },
];

const commands = `
  export default function (pi: any) {
    pi.registerCommand("ask", { handler: (_args: string, ctx: any) => ctx.ui.select("Which?", ["a"]) });
    pi.registerCommand("stuck", { handler: () => new Promise(() => {}) });
    pi.registerCommand("talk", { handler: () => pi.sendUserMessage("said by itself") });
  }
`;

/** Written like the loops and listings of published extensions. */
const looping = `
  export default function (pi: any) {
    let rounds = 0;
    pi.on("agent_end", () => {
      rounds += 1;
      if (rounds === 1) pi.sendUserMessage("another round");
    });
    pi.registerCommand("where", {
      handler: (_args: string, ctx: any) => {
        const commands = pi.getCommands();
        ctx.ui.notify(commands.map((c: any) => c.sourceInfo.scope + " " + c.sourceInfo.path).join(), "info");
      },
    });
  }
`;

const framesOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("the built host with an extension", () => {
  it("offers its tool and command, accepts its flag and shows its dialog", async () => {
    const host = await startMemoryHost({ files, scenario, arguments: ["--word", "ho"] });
    host.send({ id: "1", type: "get_commands" });
    expect(await host.until({ "...": true, id: "1" })).toMatchObject({
      data: { commands: [{ name: "leave", description: "Ends the host", source: "extension" }] },
    });
    host.send({ id: "2", type: "prompt", message: "say it" });
    const dialog = await host.until({
      "...": true,
      type: "extension_ui_request",
      method: "confirm",
    });
    expect(dialog).toMatchObject({ title: "Say it?", message: "ho" });
    host.send({ type: "extension_ui_response", id: "unknown", confirmed: false });
    host.send({ type: "extension_ui_response", id: dialog.id, confirmed: true });
    expect(await host.until({ "...": true, type: "tool_execution_end" })).toMatchObject({
      toolName: "say",
      result: { content: [{ type: "text", text: "hoho" }] },
    });
  });

  it("continues with the message that an extension sends at the end of a run", async () => {
    const files = { "agent/extensions/looping.ts": looping };
    const host = await startMemoryHost({
      files,
      scenario: [{ content: "one" }, { content: "two" }],
    });
    host.send({ id: "1", type: "prompt", message: "go" });
    const texts = ["go", "another round"];
    for (const content of texts) {
      const message = { "...": true, role: "user", content };
      await host.until({ "...": true, type: "message_end", message });
    }
    await host.until({ "...": true, type: "agent_settled" });
    expect(framesOf(host.stdout).filter(({ type }) => type === "extension_error")).toEqual([]);
    host.send({ id: "2", type: "prompt", message: "/where" });
    const { message } = await host.until({ "...": true, method: "notify" });
    expect(message).toMatch(/^user .*looping\.ts$/);
  });

  it("dismisses open dialogs when the run is aborted", async () => {
    const host = await startMemoryHost({ files, scenario });
    host.send({ id: "1", type: "prompt", message: "say it" });
    await host.until({ "...": true, type: "extension_ui_request", method: "confirm" });
    host.send({ id: "2", type: "abort" });
    expect(await host.until({ "...": true, type: "tool_execution_end" })).toMatchObject({
      result: { content: [{ text: "kept quiet" }] },
    });
    await host.until({ "...": true, id: "2" });
  });

  it("gives each prompt one result, even if its command is still running at the end", async () => {
    const host = await startMemoryHost({ files: { "agent/extensions/commands.ts": commands } });
    host.send({ id: "ask", type: "prompt", message: "/ask" });
    await host.until({ "...": true, type: "extension_ui_request", method: "select" });
    host.send({ id: "stuck", type: "prompt", message: "/stuck" });
    await host.until({ "...": true, id: "stuck", success: true });
    host.send({ id: "late", type: "prompt", message: "/ask" });
    expect(await host.finish()).toMatchObject({ code: 0 });
    const frames = framesOf(host.stdout);
    const results = frames.filter(({ type }) => type === "prompt_result");
    expect(results).toContainEqual({ type: "prompt_result", id: "ask", status: "handled" });
    expect(results).toContainEqual({ type: "prompt_result", id: "stuck", status: "aborted" });
    const accepted = frames.filter(({ success }) => success === true);
    expect(results.map(({ id }) => id).toSorted()).toEqual(accepted.map(({ id }) => id).toSorted());
  });

  it("aborts a prompt that was just sent, whatever extensions do with it first", async () => {
    const slow = `export default (pi: any) => {
      for (const name of ["input", "session_before_switch"])
        pi.on(name, async () => { await new Promise((resolve) => setTimeout(resolve, 30)); });
    };`;
    const scenario = [{ repeat: true, content: "slow ".repeat(100), chunkSize: 5, delayMs: 5 }];
    const host = startHost({ files: { "agent/extensions/slow.ts": slow }, scenario });
    const send = (...commands: object[]) =>
      host.child.stdin.write(commands.map((command) => `${JSON.stringify(command)}\n`).join(""));
    const prompt = { id: "p", type: "prompt", message: "go" };
    send(prompt, { type: "abort" });
    await host.until({ type: "prompt_result", id: "p", status: "aborted" });
    send({ type: "new_session" }, prompt, { type: "abort" }, { id: "s", type: "get_state" });
    await host.until({ type: "prompt_result", id: "p", status: "aborted" });
    send({ type: "new_session" }, { type: "abort" }, prompt);
    await host.until({ type: "prompt_result", id: "p", status: "completed" });
  });

  it("announces no result for a message that an extension sends unprompted", async () => {
    const files = { "agent/extensions/commands.ts": commands };
    const host = await startMemoryHost({ files, scenario: ["an answer"] });
    host.send({ type: "prompt", message: "/talk" });
    await host.until({ "...": true, type: "agent_settled" });
    await host.finish();
    const results = framesOf(host.stdout).filter(({ type }) => type === "prompt_result");
    expect(results).toEqual([{ type: "prompt_result", status: "handled" }]);
  });

  it("reports a compaction as aborted if an extension cancels it or never decides", async () => {
    const files = {
      "agent/extensions/veto.ts": `export default (pi: any) => pi.on("session_before_compact",
        (event: any) => (event.customInstructions === "wait" ? new Promise(() => {}) : { cancel: true }));`,
      "agent/settings.json": '{"compaction.keepRecentTokens": 5}',
    };
    const words = "a reply of a few words, and some more of them";
    const host = await startMemoryHost({ files, scenario: [words, words] });
    for (const message of ["first", "second"]) {
      host.send({ type: "prompt", message });
      await host.until({ "...": true, type: "agent_settled" });
    }
    const ended = { type: "compaction_end", result: null, aborted: true, willRetry: false };
    host.send({ id: "1", type: "compact" });
    await host.until({ "...": true, ...ended });
    expect(await host.until({ "...": true, id: "1" })).toMatchObject({ success: false });
    host.send({ id: "2", type: "compact", customInstructions: "wait" });
    await host.until({ "...": true, type: "compaction_start" });
    host.send({ id: "3", type: "abort" });
    await host.until({ "...": true, ...ended });
    await host.until({ "...": true, id: "3", success: true });
  });

  it("ends when an extension requests it, and notifies extensions once [pisces.shutdown]", async () => {
    const host = startHost({ files });
    host.send({ id: "1", type: "prompt", message: "/leave" });
    expect(await host.until({ "...": true, id: "1" })).toMatchObject({ success: true });
    expect(await host.ended).toMatchObject({ code: 0 });
    expect(readFileSync(join(host.place.cwd, "ended.txt"), "utf8")).toBe("quit");
  });

  it("also notifies extensions of its end on a signal", async () => {
    const host = startHost({ files });
    host.send({ id: "1", type: "get_commands" });
    await host.until({ "...": true, id: "1" });
    host.child.kill("SIGTERM");
    expect(await host.ended).toMatchObject({ code: 143 });
    expect(readFileSync(join(host.place.cwd, "ended.txt"), "utf8")).toBe("quit");
  });

  it("loads no extensions if they are disabled", async () => {
    const host = startHost({ files, arguments: ["--no-extensions"] });
    host.send({ id: "1", type: "get_commands" });
    expect(await host.until({ "...": true, id: "1" })).toMatchObject({ data: { commands: [] } });
    host.child.stdin.end();
    await host.ended;
    expect(existsSync(join(host.place.cwd, "ended.txt"))).toBe(false);
  });

  it.each([
    [["--mode", "rpc", "--no-extensions", "--word", "ho"], "--word: there is no such option"],
    [["--mode", "rpc", "--wrod", "ho"], "--wrod: there is no such option; the nearest is --word"],
    [["--mode", "rpc", "--modle", "x"], "--modle: there is no such option; the nearest is --model"],
    [["--mode", "rpc", "--sessions", "--wrod"], "--wrod: there is no such option"],
    [["-p", "--wrod", "hi"], "--wrod: there is no such option"],
    [["--export", "x.jsonl", "--word"], "--word: there is no such option"],
  ])("refuses %j, which no extension declares", async (argv, text) => {
    const { code, stdout, stderr } = await runHost({ files, arguments: argv });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`tau: error: Invalid option ${text}`);
  });

  it("accepts options declared by extensions in a host with many sessions", async () => {
    const argv = ["--mode", "rpc", "--sessions", "--word", "ho"];
    expect(await runHost({ files, arguments: argv })).toMatchObject({ code: 0, stderr: "" });
  });

  it("ignores a project's extensions until the project is trusted", async () => {
    const local = { "project/.pi/extensions/local.ts": extension };
    for (const [trust, count] of [
      ["--no-approve", 0],
      ["--approve", 1],
    ] as const) {
      const host = await startMemoryHost({ files: local, arguments: [trust] });
      host.send({ id: "1", type: "get_commands" });
      const { data } = (await host.until({ "...": true, id: "1" })) as unknown as {
        data: { commands: unknown[] };
      };
      expect(data.commands).toHaveLength(count);
    }
  });
});
