import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentTool } from "@tau-agent/agent";
import { scriptedModel } from "@tau-agent/ai/testing";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  keyless,
  placesIn,
  type TestSession,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";

type Options = Partial<CreateAgentSessionOptions>;

/** A limit, how each source tries to exceed it, and a check that it still holds. */
interface Limit {
  readonly policy: ManagedPolicy;
  /** The attempt in settings of the user or a trusted project; undefined if settings cannot express it. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether a file's value stays, but has a weaker effect, without a diagnostic. */
  readonly isSilent?: true;
  readonly option?: Options;
  readonly command?: (session: TestSession["session"]) => unknown;
  /** What an extension does with its API. */
  readonly extension?: string;
  readonly holds: (test: TestSession) => unknown;
}

const tool = (name: string): AgentTool => ({
  name,
  description: "A tool",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: "ran" }] }),
});
const hostTool = { name: "host_one", description: "x", parameters: { type: "object" } };
const other = scriptedModel({ id: "other" });
const names = ({ session }: TestSession) => session.tools.all.map(({ name }) => name);
const sandbox = ({ parts }: TestSession) => parts.inputs.sandboxed.policy;

/** The outcome of a scripted bash call. */
async function outcomeOf({ session, events }: TestSession): Promise<unknown> {
  await session.prompt("go");
  const end = events.find((event) => event.type === "tool_execution_end");
  return end?.type === "tool_execution_end" ? end.result.details : undefined;
}
const allowAll = [{ tool: "*", action: "allow" as const }];

const limits: Readonly<Record<string, Limit>> = {
  "permissions.mode": {
    policy: { permissions: { mode: "ask" } },
    settings: { permissions: { mode: "all" } },
    option: { permissions: { mode: "acceptEdits" } },
    command: (session) => session.permissions.set({ mode: "all" }),
    holds: async (test) => {
      expect(test.session.permissions.state.mode).toBe("ask");
      expect(await outcomeOf(test)).toMatchObject({ denied: { by: "nobody" } });
    },
  },
  "permissions.mode by rules": {
    policy: { permissions: { mode: "readOnly" } },
    settings: { permissions: { rules: allowAll } },
    isSilent: true,
    option: { permissions: { rules: allowAll } },
    command: (session) => session.permissions.set({ rules: allowAll }),
    holds: async (test) => expect(await outcomeOf(test)).toMatchObject({ denied: { by: "mode" } }),
  },
  "permissions.rules": {
    policy: { permissions: { rules: [{ tool: "bash", match: "echo *", action: "deny" }] } },
    settings: { permissions: { mode: "all", rules: allowAll } },
    isSilent: true,
    option: { permissions: { mode: "all", rules: allowAll } },
    command: (session) => session.permissions.set({ rules: allowAll }),
    holds: async (test) => expect(await outcomeOf(test)).toMatchObject({ denied: { by: "rule" } }),
  },
  "sandbox.mode": {
    policy: { sandbox: { mode: "workspace" } },
    settings: { sandbox: { mode: "off" } },
    option: { sandbox: { mode: "off" } },
    holds: (test) =>
      expect(sandbox(test)).toMatchObject({ mode: "workspace", whenUnavailable: "refuse" }),
  },
  "sandbox.mode by whenUnavailable": {
    policy: { sandbox: { mode: "workspace" } },
    settings: { sandbox: { whenUnavailable: "run" } },
    option: { sandbox: { mode: "workspace", whenUnavailable: "ask" } },
    holds: (test) => {
      expect(sandbox(test)?.whenUnavailable).toBe("refuse");
      expect(test.parts.inputs.toolEnvironment.askToLeave).toBeUndefined();
    },
  },
  "sandbox.network": {
    policy: { sandbox: { mode: "workspace", network: ["*.example.com"] } },
    settings: { sandbox: { network: ["a.example.com", "evil.org"] } },
    option: { sandbox: { network: "all" } },
    holds: (test) => {
      const { network } = sandbox(test) ?? {};
      expect(["*.example.com", "a.example.com"]).toContain(String(network));
    },
  },
  "sandbox.write": {
    policy: { sandbox: { mode: "workspace", write: ["/srv/cache"] } },
    settings: { sandbox: { write: ["/srv/cache/x", "/srv/cache/../secret", "/etc"] } },
    option: { sandbox: { write: ["/"] } },
    holds: (test) =>
      expect(["", "/srv/cache", "/srv/cache/x"]).toContain(String(sandbox(test)?.write)),
  },
  durability: {
    policy: { durability: "effects" },
    settings: { durability: "log" },
    option: { durability: "log" },
    holds: (test) => expect(test.parts.inputs.survival).toBeDefined(),
  },
  "tools.deny": {
    policy: { tools: { deny: ["write", "host_*", "extra"] } },
    settings: { defaultTools: ["read", "write"] },
    option: { tools: { only: ["+write"] } },
    command: (session) => session.hostTools.set([hostTool]),
    extension: `pi.registerTool({ name: "extra", label: "x", description: "x",
      parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) });`,
    holds: (test) => {
      expect(names(test)).not.toContain("write");
      expect(names(test)).not.toContain("host_one");
      expect(names(test)).not.toContain("extra");
    },
  },
  "tools.allow": {
    policy: { tools: { allow: ["read", "ba*"] } },
    settings: { defaultTools: ["read", "edit"] },
    option: { customTools: [tool("mine")] },
    command: (session) => session.hostTools.set([hostTool]),
    holds: (test) =>
      expect(names(test).filter((name) => !["read", "bash"].includes(name))).toEqual([]),
  },
  models: {
    policy: { models: ["scripted/scripted"] },
    settings: { fallbackModels: ["scripted/other"] },
    option: { model: other },
    command: (session) => session.setModel(other),
    holds: (test) => expect(test.session.models.model?.id ?? "scripted").toBe("scripted"),
  },
  mcpServers: {
    policy: { mcpServers: ["docs"] },
    option: { mcpServers: { files: { command: "x" } } },
    command: (session) => session.mcp.set({ files: { command: "x" } }),
    holds: async ({ session }) =>
      expect((await session.mcp.list()).servers.map(({ name }) => name)).toEqual([]),
  },
  extensions: {
    policy: { extensions: false },
    option: {
      extensions: { factories: [() => {}], hostModules: async () => ({}) },
    },
    extension: `globalThis.tauPolicyWasBroken = true;`,
    holds: () => expect(Reflect.get(globalThis, "tauPolicyWasBroken")).toBeUndefined(),
  },
  workspaces: {
    policy: { workspaces: ["box"] },
    option: { workspace: { command: ["sh"], cwd: "/" } },
    holds: () => undefined,
  },
};

const sources = ["user", "project", "option", "command", "extension", "policy"] as const;
type Source = (typeof sources)[number];

async function ask(source: Source, limit: Limit): Promise<TestSession | undefined> {
  const folder = temporaryFolder();
  const { policy, settings, option, command, extension } = limit;
  const places = placesIn(folder);
  const write = (directory: string, name: string, text: string) => {
    mkdirSync(join(directory, name, ".."), { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  const open = async (options: Options) => {
    const model = scriptedModel({ id: "scripted" });
    const scenario = [
      { content: [{ type: "toolCall" as const, name: "bash", arguments: { command: "echo hi" } }] },
      { content: "done" },
    ];
    return createTestSession(scenario, {
      ...places,
      model,
      providers: [{ ...keyless("scripted"), models: () => [model, other] }],
      policy,
      trustProject: true,
      ...options,
    });
  };
  if (source === "user" && settings !== undefined) {
    write(join(folder, "agent"), "settings.json", JSON.stringify(settings));
    return open({});
  }
  if (source === "project" && settings !== undefined) {
    write(join(places.cwd, ".pi"), "settings.json", JSON.stringify(settings));
    return open({});
  }
  if (source === "option" && option !== undefined) return open(option);
  if (source === "policy") return open({ policy: [policy, {}] });
  if (source === "extension" && extension !== undefined) {
    const code = `export default function (pi) { ${extension} }`;
    write(join(folder, "agent", "extensions"), "one.mjs", code);
    return open({ extensions: { hostModules: async () => ({}) } });
  }
  if (source !== "command" || command === undefined) return undefined;
  const test = await open({});
  await command(test.session);
  return test;
}

const rows = Object.entries(limits).flatMap(([member, limit]) =>
  sources.map((source) => [source, member, limit] as const),
);

describe("policy limits", () => {
  it.each(rows)("cannot be widened: %s by %s", async (source, member, limit) => {
    let test: TestSession | undefined;
    try {
      test = await ask(source, limit);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      expect(error.code).toBe("policy_denied");
      expect(error.values.member).toBe(member.split(" ")[0]);
      return;
    }
    if (test === undefined) return;
    await limit.holds(test);
    const isFile = source === "user" || (source === "project" && !member.startsWith("sandbox"));
    if (!isFile || limit.isSilent) return;
    const told = test.session.diagnostics.filter(({ code }) => code === "policy_denied");
    expect(told, "a diagnostic names it").not.toEqual([]);
  });

  it("apply the policy's value if no other source sets one", async () => {
    const test = await createTestSession([], {
      policy: {
        permissions: { mode: "acceptEdits" },
        sandbox: { mode: "readOnly", network: ["example.com"], write: ["/srv"] },
      },
    });
    expect(test.session.permissions.state.mode).toBe("acceptEdits");
    expect(sandbox(test)).toMatchObject({
      mode: "readOnly",
      network: ["example.com"],
      write: ["/srv"],
    });
    expect(test.session.diagnostics.filter(({ code }) => code === "policy_denied")).toEqual([]);
  });

  it("cannot be changed through the object that was passed", async () => {
    const policy: ManagedPolicy = { permissions: { mode: "ask" }, tools: { deny: ["bash"] } };
    const test = await createTestSession([], { policy });
    policy.permissions = {};
    delete policy.tools;
    expect(test.session.policy?.merged.tools).toEqual({ deny: ["bash"] });
    expect(() => test.session.permissions.set({ mode: "all" })).toThrow(/permissions\.mode/);
  });

  it("let an answer apply to the session, but never permanently", async () => {
    const call = (command: string) => ({
      content: [{ type: "toolCall" as const, name: "bash", arguments: { command } }],
    });
    const answers = ["session", "always"] as const;
    const asked: string[] = [];
    const test = await createTestSession(
      [call("echo one"), call("echo one"), call("echo two"), { content: "done" }],
      {
        policy: { permissions: { mode: "ask" } },
        approve: async ({ input }) => {
          asked.push(String(input.command));
          return { decision: "allow", scope: answers[asked.length - 1] ?? "once" };
        },
      },
    );
    await test.session.prompt("go");
    expect(asked).toEqual(["echo one", "echo two"]);
    const ends = test.events.filter((event) => event.type === "tool_execution_end");
    expect(ends.map((event) => event.type === "tool_execution_end" && event.isError)).toEqual([
      false,
      false,
      true,
    ]);
  });
});
