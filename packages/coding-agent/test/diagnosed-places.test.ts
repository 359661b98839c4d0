import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { type DiagnosticsEntry, SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { bubblewrapIsMissing } from "../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../src/create/__fixtures__/test-session.ts";
import { createAgentSession } from "../src/create/create-session.ts";
import type { CreateAgentSessionOptions } from "../src/create/options/session-options.ts";
import { project, run, write } from "../src/subagents/task-tool/__fixtures__/task-call.ts";

const finder = (more = "true"): DiagnosticsEntry => ({
  match: "*.txt",
  command: `${more}; awk '/BAD/ {print FILENAME ":" FNR ":1: error: bad line"}' {file}`,
});
const patient = { diagnosticsTimeoutMs: 60_000 };

/** The result of a `write` of a bad file in a project with these settings. */
async function written(
  settings: object,
  options: Partial<CreateAgentSessionOptions> = {},
  own = {},
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  mkdirSync(join(places.cwd, ".pi"), { recursive: true });
  writeFileSync(join(places.cwd, ".pi/settings.json"), JSON.stringify(settings));
  mkdirSync(join(folder, "agent"));
  writeFileSync(join(folder, "agent/settings.json"), JSON.stringify({ ...patient, ...own }));
  const call = toolCall("write", { path: "a.txt", content: "BAD\n" });
  const test = await createTestSession([turn(call), "done"], { ...places, ...options });
  await test.session.prompt("go");
  const result = test.session.messages.find(
    (message): message is ToolResultMessage => message.role === "toolResult",
  );
  return { ...test, places, text: contentText(result?.content ?? [], "\n") };
}

describe("entries in a project's settings", () => {
  it("apply once the project is trusted, and run nothing before", async () => {
    const entries = [finder("touch ran")];
    const untrusted = await written({ diagnostics: { entries } });
    expect(untrusted.text).not.toContain("New problems");
    expect(existsSync(join(untrusted.places.cwd, "ran"))).toBe(false);
    const { text } = await written({ diagnostics: { entries } }, { trustProject: true });
    expect(text).toContain("New problems:\na.txt:1:1: error bad line");
  });
});

it("reports malformed entries and applies none", async () => {
  const settings = { diagnostics: { entries: [{ match: "*.txt", comand: "x" }] } };
  const { session, text } = await written({}, {}, settings);
  expect(text).not.toContain("New problems");
  const named = session.diagnostics.map(({ message }) => message).join();
  expect(named).toContain("diagnostics.entries");
});

it("gives no provider keys to a check", async () => {
  const entries = [finder('test -z "$OPENAI_API_KEY" && test -z "$PI_SESSION_ID" && touch clean')];
  const environment = { PATH: process.env.PATH, OPENAI_API_KEY: "sk-secret" };
  const { places } = await written({}, { diagnostics: { entries }, environment });
  expect(existsSync(join(places.cwd, "clean"))).toBe(true);
});

describe("the option diagnostics", () => {
  it("replaces the settings", async () => {
    const { text } = await written({}, { diagnostics: { entries: [finder()] } });
    expect(text).toContain("New problems");
  });

  it("names itself when its entries are malformed", async () => {
    const diagnostics = { entries: [{ match: "*.txt" }] } as never;
    const creating = createAgentSession({ ...placesIn(temporaryFolder()), diagnostics });
    await expect(creating).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("diagnostics"),
    });
  });

  it("applies to subagents in this process, in their own trees", async () => {
    const diagnostics = { entries: [finder()] };
    const told: string[] = [];
    const { session } = await createTestSession(
      ({ messages }) => {
        const isChild = JSON.stringify(messages[0]).includes("<child>");
        const result = messages.find(({ role }) => role === "toolResult");
        if (!isChild) {
          const task = { task: "<child> do it", isolated: true };
          return result === undefined ? turn(toolCall("task", task)) : "done";
        }
        if (result === undefined) return write("b.txt", "BAD\n");
        told.push(contentText(result.content as never, "\n"));
        return "done";
      },
      {
        ...{ ...project(), diagnostics },
        settings: SettingsStore.inMemory(patient),
        permissions: { mode: "all" },
      },
    );
    await session.prompt("go");
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("New problems:\nb.txt:1:1: error bad line");
  });

  it("applies to subagents in their own processes", async () => {
    const diagnostics = { entries: [finder()] };
    const given: unknown[] = [];
    const places = {
      ...project(),
      diagnostics,
      startSubagentHost: async (request: { diagnostics: unknown }) => {
        given.push(request.diagnostics);
        throw new TypeError("enough");
      },
    };
    await run({ task: "x" }, {}, { places });
    expect(given).toEqual([diagnostics]);
  });
});

describeWith(bubblewrapIsMissing)("in the sandbox", () => {
  it("a sandboxed command cannot write outside of the project, and still finds problems", async () => {
    const outside = join(temporaryFolder(), "escaped");
    const { text } = await written(
      {},
      {
        diagnostics: { entries: [finder(`touch '${outside}' 2>/dev/null`)] },
        sandbox: { mode: "workspace", network: "off" },
      },
    );
    expect(text).toContain("New problems:\na.txt:1:1: error bad line");
    expect(existsSync(outside)).toBe(false);
  });

  it("a sandboxed server starts", async () => {
    const fixture = join(
      import.meta.dirname,
      "../src/diagnostics/__fixtures__/language-server.mjs",
    );
    const log = join(temporaryFolder(), "log");
    const { text } = await written(
      {},
      {
        diagnostics: {
          entries: [
            {
              match: "*.txt",
              server: [
                "sh",
                "-c",
                `touch '${log}' 2>/dev/null; exec '${process.execPath}' '${fixture}'`,
              ],
            },
          ],
        },
        // Listed explicitly, because this repository may be in /tmp, which the sandbox replaces.
        sandbox: {
          mode: "workspace",
          network: "off",
          write: [dirname(process.execPath), dirname(fixture)],
        },
      },
    );
    expect(text).toContain("New problems:\na.txt:1:1: error 7 bad: BAD");
    expect(existsSync(log)).toBe(false);
  });
});
