import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ApprovalRequest, PermissionMode, PermissionRule } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { createTestSession } from "../../create/__fixtures__/test-session.ts";
import { project, scenario } from "../task-tool/__fixtures__/task-call.ts";

interface Given {
  readonly rules?: readonly PermissionRule[];
  readonly mode?: PermissionMode;
  readonly isolated?: boolean;
  readonly agent?: string;
  readonly agentFile?: string;
  readonly answer?: "allow" | "deny";
}

/** A subagent that makes one call, in a project below the home directory. */
async function subagentThat(
  call: (cwd: string) => ReturnType<typeof toolCall>,
  { rules = [], mode = "all", isolated = true, answer = "deny", agent, agentFile }: Given,
) {
  const places = project({ "src/a.txt": "one\n" });
  const agents = join(String(places.agentDirectory), "agents");
  if (agentFile !== undefined) {
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, "limited.md"), agentFile);
  }
  const asked: ApprovalRequest[] = [];
  const worker = (step: number) => (step === 0 ? turn(call(places.cwd)) : "done");
  const order = { tasks: [{ id: "one", task: "<one>", ...(agent && { agent }) }], isolated };
  const test = await createTestSession(scenario(order, { one: worker }), {
    ...places,
    permissions: { mode, rules },
    approve: (request) => {
      asked.push(request);
      return { decision: answer };
    },
  });
  await test.session.prompt("go");
  return { ...test, asked, has: (name: string) => existsSync(join(places.cwd, name)) };
}

const write = (path: string) => () => toolCall("write", { path, content: "x\n" });
const rule = (match: string, action: PermissionRule["action"], tool = "write") => ({
  tool,
  match,
  action,
});

describe("the files of an isolated subagent", () => {
  it.each(["~/**/secret/**", "~/*/secret/x", "../project/secret/**", "~/project/**", "secret/**"])(
    "are judged as the user's own by a rule that denies %s",
    async (match) => {
      const test = await subagentThat(write("secret/x"), { rules: [rule(match, "deny")] });
      expect(test.has("secret/x")).toBe(false);
    },
  );

  it("are judged as the user's own by an absolute rule with a pattern above the folder", async () => {
    const absolute = { rules: [rule("/**/project/secret/*", "deny")] };
    expect((await subagentThat(write("secret/x"), absolute)).has("secret/x")).toBe(false);
  });

  it.each(["~/project/**", "../*/src/*", "src/**"])(
    "are judged as the user's own by a rule that allows %s",
    async (match) => {
      const given = { mode: "ask", rules: [rule(match, "allow")] } as const;
      const test = await subagentThat(write("src/b.txt"), given);
      expect([test.asked, test.has("src/b.txt")]).toEqual([[], true]);
    },
  );

  it("are not judged as files of the folder that contains the trees", async () => {
    const denied = await subagentThat(write("src/b.txt"), { rules: [rule("~/agent/**", "deny")] });
    expect(denied.has("src/b.txt")).toBe(true);
    const given = { mode: "ask", rules: [rule("~/agent/**", "allow")] } as const;
    const allowed = await subagentThat(write("src/b.txt"), given);
    expect(allowed.asked).toHaveLength(1);
    expect(allowed.asked[0]?.suggestions).toEqual([rule("src/b.txt", "allow")]);
  });

  it("are the only ones that a rule allows, not the user's originals", async () => {
    const rules = [{ tool: "bash", action: "allow" } as const, rule("src/**", "allow")];
    const test = await subagentThat(
      (cwd) => toolCall("bash", { command: `echo x > ${cwd}/src/b.txt` }),
      { mode: "ask", rules },
    );
    expect(test.asked).toHaveLength(1);
    expect(test.has("src/b.txt")).toBe(false);
  });
});

describe("an agent whose file sets a permission mode", () => {
  const file = (mode: string) => `---\nname: limited\npermissionMode: ${mode}\n---\n`;
  const start = (mode: PermissionMode, own: string) =>
    subagentThat(write("b.txt"), {
      mode,
      agent: "limited",
      agentFile: file(own),
      isolated: false,
    });

  it("works in that mode if it is the stricter one", async () => {
    const asks = await start("all", "ask");
    expect([asks.asked.length, asks.has("b.txt")]).toEqual([1, false]);
    expect(asks.asked[0]?.agentId).toBe("one");
    const denies = await start("ask", "readOnly");
    expect([denies.asked.length, denies.has("b.txt")]).toEqual([0, false]);
  });

  it("gets no more rights than its caller", async () => {
    const test = await start("ask", "all");
    expect([test.asked.length, test.has("b.txt")]).toEqual([1, false]);
  });

  it("asks if its mode is unknown", async () => {
    for (const mode of ["bypassPermissions", "[all]"]) {
      expect((await start("all", mode)).asked).toHaveLength(1);
    }
  });

  it("keeps its mode when the caller's permissions change", async () => {
    const places = project();
    const agents = join(String(places.agentDirectory), "agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, "limited.md"), file("ask"));
    const worker = (step: number) => (step < 2 ? turn(write(`${step}.txt`)()) : "done");
    const order = { tasks: [{ id: "one", task: "<one>", agent: "limited" }] };
    const asked: string[] = [];
    const { session } = await createTestSession(scenario(order, { one: worker }), {
      ...places,
      permissions: { mode: "readOnly", rules: [{ tool: "none", action: "deny" }] },
      approve: ({ title }) => {
        asked.push(title);
        session.permissions.set({ mode: "all", rules: [] });
        return { decision: "allow" };
      },
    });
    session.permissions.set({ mode: "ask" });
    await session.prompt("go");
    expect(asked).toEqual(["Allow write: 0.txt?", "Allow write: 1.txt?"]);
  });
});

it("reports an abort as the reason when it ends a subagent with an open question", async () => {
  const places = project({ "src/a.txt": "one\n" });
  const worker = (step: number) => (step === 0 ? turn(write("b.txt")()) : "done");
  const order = { tasks: [{ id: "one", task: "<one>" }] };
  const test = await createTestSession(scenario(order, { one: worker }), {
    ...places,
    permissions: { mode: "ask", rules: [{ tool: "task", action: "allow" }] },
  });
  const { session } = test;
  const ended = Promise.withResolvers<unknown>();
  session.requests.attach({
    answers: (method) => method === "tool_approval",
    open: (request) => {
      expect(request.agentId).toBe("one");
      setImmediate(() => void session.abort());
      return true;
    },
    closed: (_, { by }) => ended.resolve(by),
  });
  expect((await session.prompt("go")).status).toBe("aborted");
  expect(await ended.promise).toBe("abort");
});
