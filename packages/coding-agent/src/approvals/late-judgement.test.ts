import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ApprovalResult } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { asking, bash, writeCall } from "./__fixtures__/asking.ts";

const allow: ApprovalResult = { decision: "allow" };
const denied = (by: string) => ({ isError: true, details: { denied: { by } } });

describe("permissions that change before a tool starts", () => {
  it("deny a call that was already allowed while another one waits for an answer", async () => {
    const calls = turn([writeCall("free.txt"), bash("touch asked")]);
    const test = await asking(
      [calls, "done"],
      [
        () => {
          test.session.permissions.set({ rules: [{ tool: "write", action: "deny" }] });
          return allow;
        },
      ],
      {
        toolExecution: "parallel",
        permissions: { mode: "ask", rules: [{ tool: "write", action: "allow" }] },
      },
    );
    await test.session.prompt("go");
    expect(test.results()).toMatchObject([denied("rule"), { isError: false }]);
    expect(existsSync(join(test.cwd, "free.txt"))).toBe(false);
  });

  it("deny what the mode allowed, including read-only calls and calls that were not judged", async () => {
    const calls = turn([toolCall("read", { path: "a.txt" }), toolCall("ls", { path: "." })]);
    const test = await asking([calls, "done"], [], { permissions: { mode: "all" } });
    writeFileSync(join(test.cwd, "a.txt"), "secret");
    test.session.subscribe((event) => {
      if (event.type !== "tool_execution_start" || event.toolName !== "ls") return;
      test.session.permissions.set({ rules: [{ tool: "read", action: "deny" }] });
    });
    await test.session.prompt("go");
    expect(test.results()).toMatchObject([denied("rule"), { isError: false }]);
    expect(JSON.stringify(test.session.messages)).not.toContain("secret");
  });

  it("ask about a call that was already allowed", async () => {
    const calls = turn([writeCall("a.txt"), bash("touch b")]);
    const test = await asking(
      [calls, "done"],
      [
        () => {
          test.session.permissions.set({ mode: "ask" });
          return allow;
        },
        { decision: "deny", message: "late" },
      ],
      {
        toolExecution: "parallel",
        permissions: { mode: "acceptEdits" },
      },
    );
    await test.session.prompt("go");
    expect(test.asked.map(({ toolName }) => toolName)).toEqual(["bash", "write"]);
    expect(test.results()).toMatchObject([denied("client"), { isError: false }]);
    expect(test.approvals().at(-1)).toMatchObject({ phase: "answered", decision: "deny" });
  });

  it("deny a call that a person has just allowed, without a second question", async () => {
    const calls = turn([bash("touch a"), bash("touch b")]);
    const test = await asking(
      [calls, "done"],
      [
        allow,
        () => {
          test.session.permissions.set({
            rules: [{ tool: "bash", match: "touch a", action: "deny" }],
          });
          return allow;
        },
      ],
      { toolExecution: "parallel" },
    );
    await test.session.prompt("go");
    expect(test.asked).toHaveLength(2);
    expect(existsSync(join(test.cwd, "a"))).toBe(false);
    expect(existsSync(join(test.cwd, "b"))).toBe(true);
  });
});

describe("a path that leads elsewhere after the question was answered", () => {
  const secret = (cwd: string) => join(cwd, "..", "secret");
  /** Replaces a link within the project while the question is open. */
  const swapped = async (second: ApprovalResult, deniesSecret: boolean) => {
    const test = await asking(
      [turn(writeCall("link/file.txt")), "done"],
      [
        () => {
          rmSync(join(test.cwd, "link"));
          symlinkSync(secret(test.cwd), join(test.cwd, "link"));
          return allow;
        },
        second,
      ],
    );
    mkdirSync(join(test.cwd, "inside"));
    mkdirSync(secret(test.cwd));
    symlinkSync(join(test.cwd, "inside"), join(test.cwd, "link"));
    const match = join(secret(test.cwd), "**");
    if (deniesSecret) {
      test.session.permissions.set({ rules: [{ tool: "write", match, action: "deny" }] });
    }
    await test.session.prompt("go");
    return { ...test, written: () => existsSync(join(secret(test.cwd), "file.txt")) };
  };

  it("is denied by the rule for the new target", async () => {
    const test = await swapped(allow, true);
    expect(test.asked).toHaveLength(1);
    expect(test.results()).toMatchObject([denied("rule")]);
    expect(test.written()).toBe(false);
  });

  it("leads to a second question", async () => {
    const refused = await swapped({ decision: "deny" }, false);
    expect(refused.asked).toHaveLength(2);
    expect(refused.written()).toBe(false);
    const wanted = await swapped(allow, false);
    expect([wanted.asked.length, wanted.written()]).toEqual([2, true]);
  });

  it("is judged again for the answer's arguments and for redirections", async () => {
    const test = await asking(
      [turn(bash("echo x > link/out")), "done"],
      [
        () => {
          rmSync(join(test.cwd, "link"));
          symlinkSync(secret(test.cwd), join(test.cwd, "link"));
          return { decision: "allow", input: { command: "echo y > link/other" } };
        },
      ],
    );
    mkdirSync(join(test.cwd, "link"));
    rmSync(join(test.cwd, "link"), { recursive: true });
    mkdirSync(join(test.cwd, "inside"));
    symlinkSync(join(test.cwd, "inside"), join(test.cwd, "link"));
    mkdirSync(secret(test.cwd));
    const match = join(secret(test.cwd), "**");
    test.session.permissions.set({ rules: [{ tool: "write", match, action: "deny" }] });
    await test.session.prompt("go");
    expect(test.results()).toMatchObject([denied("rule")]);
    expect(existsSync(join(secret(test.cwd), "other"))).toBe(false);
  });
});

describe("rules that an answer adds for this session", () => {
  const session = { decision: "allow", scope: "session" } as const;
  const again = () => [turn(bash("touch a")), "done", turn(bash("touch a")), "done"];

  it("hold for its next prompts", async () => {
    const test = await asking(again(), [session]);
    await test.session.prompt("go");
    await test.session.prompt("go");
    expect(test.asked).toHaveLength(1);
  });

  it("end with a new session, a switch and a fork, while the client's own rules stay", async () => {
    const changes = [
      (test: Awaited<ReturnType<typeof asking>>) => test.session.newSession(),
      async (test: Awaited<ReturnType<typeof asking>>) => {
        const { path = "" } = test.session.log;
        const other = await asking(["x"], [], { cwd: test.cwd });
        await other.session.prompt("hi");
        const otherPath = other.session.log.path ?? "";
        await other.session.dispose();
        await test.session.navigation.switchSession(otherPath);
        await test.session.navigation.switchSession(path);
      },
      (test: Awaited<ReturnType<typeof asking>>) => test.session.navigation.clone(),
    ];
    for (const change of changes) {
      const test = await asking(again(), [session, session]);
      test.session.permissions.set({ rules: [{ tool: "bash", match: "ls", action: "allow" }] });
      await test.session.prompt("go");
      expect(test.session.permissions.state.rules).toHaveLength(2);
      await change(test);
      expect(test.session.permissions.state.rules).toMatchObject([{ match: "ls" }]);
      expect(test.session.permissions.state.mode).toBe("ask");
      await test.session.prompt("go");
      expect(test.asked).toHaveLength(2);
    }
  });

  it("do not affect other sessions of the process", async () => {
    const test = await asking(again(), [session]);
    await test.session.prompt("go");
    const other = await asking(again(), [session], { cwd: test.cwd });
    await other.session.prompt("go");
    expect(other.asked).toHaveLength(1);
    const settings = join(test.agent, "settings.json");
    expect(existsSync(settings) && readFileSync(settings, "utf8")).toBe(false);
  });
});
