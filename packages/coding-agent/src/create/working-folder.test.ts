import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProviderError } from "@tau-agent/ai";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../ai/test/stable-prefix.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "./options/session-options.ts";

/** Calls a tool for the prompt `look`; otherwise repeats what the system prompt says about the folder. */
async function start(options: Partial<CreateAgentSessionOptions> = {}) {
  return createTestSession(({ messages, systemPrompt }) => {
    const last = messages.at(-1);
    if (last?.role === "user") return turn([toolCall("read", { path: "where.txt" })]);
    return systemPrompt;
  }, options);
}

/** A folder with a project, and a session in it that has ended. */
async function projectWithSession(name: string) {
  const folder = realpathSync(temporaryFolder());
  const places = placesIn(folder);
  writeFileSync(join(places.cwd, "where.txt"), `in ${name}\n`);
  writeFileSync(join(places.cwd, "AGENTS.md"), `Rules of ${name}.\n`);
  mkdirSync(join(places.cwd, ".pi/skills/own"), { recursive: true });
  writeFileSync(
    join(places.cwd, ".pi/skills/own/SKILL.md"),
    `---\nname: own\ndescription: skill of ${name}\n---\nDo.\n`,
  );
  mkdirSync(join(places.cwd, ".pi/agents"));
  writeFileSync(
    join(places.cwd, ".pi/agents/helper.md"),
    `---\nname: helper\ndescription: agent of ${name}\n---\nHelp.\n`,
  );
  const { session } = await start(places);
  await session.prompt("look");
  const { path = "" } = session.log;
  await session.dispose();
  return { places, path };
}

const agentsOf = ({ session }: Awaited<ReturnType<typeof start>>): string | undefined =>
  session.tools.active.find(({ name }) => name === "task")?.description;

const resultOf = (test: Awaited<ReturnType<typeof start>>): string =>
  JSON.stringify(test.session.messages.findLast(({ role }) => role === "toolResult"));

describe("a session that is continued from its file", () => {
  it("works in its own folder with the texts there; relative options resolve from the caller's folder", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    const extra = join(here.places.cwd, "extra");
    mkdirSync(extra);
    writeFileSync(join(extra, "SKILL.md"), "---\nname: extra\ndescription: skill of a flag\n---\n");
    const test = await start({
      ...here.places,
      session: { kind: "file", path: there.path, goesToItsFolder: true },
      prompt: { skillPaths: ["./extra"] },
    });
    await test.session.prompt("look");
    expect(resultOf(test)).toContain("in there");
    expect(test.session.lastAssistantText).toContain("Rules of there");
    expect(test.session.lastAssistantText).toContain("skill of there");
    // Texts that appeared after the conversation began reach the model in a message.
    expect(JSON.stringify(test.session.messages)).toContain("skill of a flag");
    expect(test.session.lastAssistantText).not.toContain("of here");
    const { output } = await test.session.bash.run("pwd");
    expect(output.trim()).toBe(there.places.cwd);
    await test.session.newSession();
    expect(test.session.log.header.cwd).toBe(there.places.cwd);
  });

  it("is not trusted just because the start folder is", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    writeFileSync(join(there.places.cwd, ".pi/settings.json"), '{"sessionDir": "/tmp/evil"}');
    const session = { kind: "file", path: there.path, goesToItsFolder: true } as const;
    const open = async (trustProject: boolean, cwd: string) => {
      const test = await start({ ...here.places, cwd, trustProject, session });
      const { isProjectTrusted, diagnostics } = test.session;
      await test.session.dispose();
      return { isProjectTrusted, problems: diagnostics.map(({ message }) => message) };
    };
    const elsewhere = await open(true, here.places.cwd);
    expect(elsewhere.isProjectTrusted).toBe(false);
    expect(elsewhere.problems).toEqual([expect.stringContaining("Trust it to load it")]);
    expect((await open(true, there.places.cwd)).isProjectTrusted).toBe(true);
  });

  it("works in the folder of the options by default", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    const test = await start({ ...here.places, session: { kind: "file", path: there.path } });
    await test.session.prompt("look");
    expect(resultOf(test)).toContain("in here");
  });

  it("continues in the caller's folder when its own is gone, and reports it", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    rmSync(there.places.cwd, { recursive: true });
    const test = await start({
      ...here.places,
      session: { kind: "file", path: there.path, goesToItsFolder: true },
    });
    expect(test.session.diagnostics.map(({ message }) => message)).toEqual([
      `The session's folder ${there.places.cwd} is not available here; it continues in ${here.places.cwd}`,
    ]);
    await test.session.prompt("look");
    expect(resultOf(test)).toContain("in here");
  });
});

describe("a session whose file has an invalid folder", () => {
  it.each([
    ["relative", "."],
    ["too long", `/${"long".repeat(2000)}`],
    ["with a zero", "/with\0zero"],
  ])("continues in the caller's folder: %s", async (_, cwd) => {
    const here = await projectWithSession("here");
    const text = readFileSync(here.path, "utf8");
    const header = JSON.parse(text.slice(0, text.indexOf("\n")));
    const odd = join(here.places.cwd, "odd.jsonl");
    const named = JSON.stringify({ ...header, cwd });
    writeFileSync(odd, named + text.slice(text.indexOf("\n")));
    const opened = await start({
      ...here.places,
      session: { kind: "file", path: odd, goesToItsFolder: true },
    });
    await opened.session.prompt("look");
    expect(resultOf(opened)).toContain("in here");
    await opened.session.dispose();
    const switched = await start(here.places);
    await switched.session.navigation.switchSession(odd);
    await switched.session.prompt("look");
    expect(resultOf(switched)).toContain("in here");
    expect(switched.session.diagnostics.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("is not available here"),
    );
  });
});

describe("a session switch", () => {
  it("moves tools and texts to the session's folder, and the next switch moves them back", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    const test = await start(here.places);
    await test.session.prompt("look");
    expect(resultOf(test)).toContain("in here");
    expect(agentsOf(test)).toContain("agent of here");
    const own = test.session.log.path ?? "";
    await test.session.navigation.switchSession(there.path);
    await test.session.prompt("look");
    expect(agentsOf(test)).toContain("agent of there");
    expect(resultOf(test)).toContain("in there");
    expect(test.session.lastAssistantText).toContain("Rules of there");
    expect(test.session.lastAssistantText).not.toContain("of here");
    await test.session.navigation.clone();
    expect(test.session.log.header.cwd).toBe(there.places.cwd);
    await test.session.navigation.switchSession(own);
    await test.session.prompt("look");
    expect(resultOf(test)).toContain("in here");
    expect(test.session.lastAssistantText).toContain("Rules of here");
    // The sessions have the same prompt, so a rewrite is expected.
    expect(takeRewrites()).toContain("the instructions");
  });

  it("does not trust the session's folder for extensions and subagents", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    const trusting = join(here.places.cwd, "trusting.ts");
    writeFileSync(
      trusting,
      `export default (pi) => pi.registerCommand("trusted", { handler: (_, { ui, isProjectTrusted }) => {
        ui.notify(String(isProjectTrusted()));
      } });`,
    );
    const told: string[] = [];
    const started: (readonly string[])[] = [];
    const delegate = ({ messages }: { messages: readonly { role: string }[] }) =>
      messages.at(-1)?.role === "user" ? turn([toolCall("task", { task: "work" })]) : "done";
    const { session } = await createTestSession(delegate, {
      ...here.places,
      trustProject: true,
      startSubagentHost: async ({ args }) => {
        started.push(args);
        throw new ProviderError({ code: "network", message: "no host" });
      },
      extensions: {
        paths: [trusting],
        onlyNamed: true,
        hostModules: async () => ({}),
        sendUiRequest: (request) => {
          if (request.method === "notify") told.push(request.message);
        },
      },
    });
    const ask = async (): Promise<void> => {
      await session.prompt("/trusted");
      await session.prompt("go");
    };
    await ask();
    const own = session.log.path ?? "";
    await session.navigation.switchSession(there.path);
    await ask();
    await session.navigation.switchSession(own);
    await ask();
    expect(told).toEqual(["true", "false", "true"]);
    const trust = started.map((args) => args.filter((word) => word.endsWith("approve")));
    expect(trust).toEqual([["--approve"], ["--no-approve"], ["--approve"]]);
  });

  it("starts subagents in the session's folder, with the options of the start", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    for (const { places } of [here, there]) {
      writeFileSync(
        join(places.cwd, "own.mjs"),
        `export default (pi) => pi.on("before_agent_start", ({ systemPrompt }) => ({
          systemPrompt: systemPrompt + "\\nCode of ${places === here.places ? "here" : "there"}.",
        }));`,
      );
    }
    const { session } = await createTestSession(
      ({ messages, systemPrompt }) => {
        if (JSON.stringify(messages[0]).includes("work")) return systemPrompt;
        const isAsked = messages.at(-1)?.role === "user";
        return isAsked ? turn([toolCall("task", { task: "work" })]) : "done";
      },
      {
        ...here.places,
        extensions: { paths: ["./own.mjs"], onlyNamed: true, hostModules: async () => ({}) },
      },
    );
    const newest = (): string =>
      JSON.stringify(session.messages.findLast(({ role }) => role === "toolResult"));
    await session.prompt("go");
    expect(newest()).toContain("Code of here.");
    await session.navigation.switchSession(there.path);
    await session.prompt("go");
    expect(newest()).toContain("Rules of there.");
    expect(newest()).toContain("Code of here.");
    // The sessions and their subagents have the same prompt, so a rewrite is expected.
    expect(takeRewrites()).toContain("the instructions");
  });

  it("stays in the caller's folder when the session's own is gone, and reports it", async () => {
    const there = await projectWithSession("there");
    const here = await projectWithSession("here");
    rmSync(there.places.cwd, { recursive: true });
    const test = await start(here.places);
    await test.session.navigation.switchSession(there.path);
    expect(test.session.diagnostics.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("is not available here"),
    );
    await test.session.prompt("look");
    expect(resultOf(test)).toContain("in here");
  });
});
