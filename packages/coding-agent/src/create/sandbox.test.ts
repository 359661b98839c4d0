import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ApprovalRequest, ApprovalResult } from "@tau-agent/rpc-protocol";
import type { SandboxChange } from "@tau-agent/system";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { bubblewrapIsMissing } from "../../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "./options/session-options.ts";

/** Runs the calls of one reply in a sandboxed session, and returns the results that the model read. */
async function run(
  calls: readonly ReturnType<typeof toolCall>[],
  sandbox: SandboxChange | undefined,
  overrides: Partial<CreateAgentSessionOptions> = {},
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const test = await createTestSession([turn([...calls]), "done"], {
    ...places,
    sandbox,
    ...overrides,
  });
  await test.session.prompt("go");
  const results = test.session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [message.content.map((block) => (block.type === "text" ? block.text : "")).join("")]
      : [],
  );
  return { ...test, cwd: places.cwd, results };
}

const bash = (command: string) => toolCall("bash", { command });
/** A path outside of all folders that a sandbox replaces. */
function outside(): string {
  const path = `/var/tmp/tau-outside-${randomUUID()}`;
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const workspace: SandboxChange = { mode: "workspace" };

/** Gives these answers, one per question. */
function answering(...answers: ApprovalResult[]) {
  const asked: ApprovalRequest[] = [];
  const approve = async (request: ApprovalRequest): Promise<ApprovalResult> => {
    asked.push(request);
    return answers[asked.length - 1] ?? { decision: "deny" };
  };
  return { asked, approve };
}

describeWith(bubblewrapIsMissing)("a session in the sandbox", () => {
  it("reports that a file is in the private temporary folder", async () => {
    const write = (path: string) => toolCall("write", { path, content: "x" });
    const elsewhere = `/tmp/another-project-${randomUUID()}`;
    const { results } = await run([write(`${elsewhere}/notes.md`), write("inside.md")], workspace);
    expect(results[0]).toMatch(/^Successfully wrote 1 bytes to .* It is in the private temporary/);
    expect(results[1]).toBe("Successfully wrote 1 bytes to inside.md");
    expect(existsSync(elsewhere)).toBe(false);
  });

  it("names paths of sandbox.write that do not exist", async () => {
    const path = outside();
    const { session } = await run([], { ...workspace, write: [path, "/var/tmp"] });
    expect(session.diagnostics.filter(({ code }) => code === "sandbox_path_missing")).toMatchObject(
      [{ severity: "warning", message: expect.stringContaining(`names ${path}, which does not`) }],
    );
  });

  it("runs programs of extensions inside", async () => {
    const path = outside();
    let result: { code: number; stderr: string } | undefined;
    const { session, cwd } = await run([], workspace, {
      extensions: {
        hostModules: async () => ({}),
        factories: [
          (pi) =>
            pi.registerCommand("run", {
              handler: async () => {
                result = await pi.exec("sh", ["-c", `touch inside; touch ${path}`]);
              },
            }),
        ],
      },
    });
    await session.prompt("/run");
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("Read-only") });
    expect(existsSync(join(cwd, "inside"))).toBe(true);
    expect(existsSync(path)).toBe(false);
  });

  it("tells the model which sandbox a failed command ran in", async () => {
    const { results, cwd } = await run(
      [bash("echo x > inside; touch /usr/x"), bash("cat inside")],
      workspace,
    );
    expect(results[0]).toMatch(/Read-only file system/);
    expect(results[0]?.split("\n").at(-1)).toBe(
      `[It ran in a sandbox. Writable: ${cwd}, /tmp. Network: none.]`,
    );
    expect(results[1]).toBe("x\n");
  });

  it("limits file tools to the same paths", async () => {
    const path = outside();
    const { results } = await run(
      [
        toolCall("write", { path, content: "x" }),
        toolCall("write", { path: "/tmp/notes.txt", content: "private\n" }),
        bash("cat /tmp/notes.txt"),
        toolCall("read", { path: "/proc/self/environ" }),
        toolCall("grep", { pattern: "private", path: "/tmp" }),
      ],
      workspace,
    );
    expect(results[0]).toMatch(`Cannot write ${path}: refused by the sandbox, it is not writable`);
    expect(existsSync(path)).toBe(false);
    expect(results[2]).toBe("private\n");
    expect(results[3]).toMatch(/sandbox.*\/proc\/self\/environ/);
    expect(results[4]).toContain("notes.txt:1: private");
  });

  it("lets commands read the files that hold their long output", async () => {
    const folder = temporaryFolder();
    const { results } = await run(
      [bash("seq 1 30000"), bash(`touch after; cat ${folder}/tau-output-*/* | wc -l`)],
      workspace,
      { temporaryDirectory: folder },
    );
    expect(results[0]).toContain(folder);
    expect(results[1]).toBe("30000\n");
  });

  it("asks whether a refused call may run outside", async () => {
    const { asked, approve } = answering({ decision: "allow" }, { decision: "allow" });
    const path = outside();
    const { results } = await run([toolCall("write", { path, content: "x" })], workspace, {
      permissions: { mode: "ask" },
      approve,
    });
    expect(asked.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("permission mode ask"),
      "sandbox_refused",
    ]);
    expect(results[0]).toContain("Successfully wrote");
    expect(readFileSync(path, "utf8")).toBe("x");
  });

  it("reruns a command outside only if that is allowed", async () => {
    const line = `echo run >> log; touch "$HOME/new"`;
    const HOME = outside();
    mkdirSync(HOME);
    for (const decision of ["allow", "deny"] as const) {
      const { approve } = answering({ decision: "allow" }, { decision });
      const home = temporaryFolder();
      const { cwd, results } = await run([bash(line)], workspace, {
        permissions: { mode: "ask" },
        approve,
        environment: { PATH: process.env.PATH, HOME },
        homeDirectory: home,
      });
      const runs = readFileSync(join(cwd, "log"), "utf8").split("\n").length - 1;
      expect(runs).toBe(decision === "allow" ? 2 : 1);
      if (decision === "deny") expect(results[0]).toContain("sandbox");
    }
  });

  it("does not ask if every call is allowed", async () => {
    const { asked, approve } = answering();
    const { results } = await run([bash("touch /usr/x")], workspace, { approve });
    expect(asked).toEqual([]);
    expect(results[0]).toContain("sandbox");
  });

  it("applies to the client's commands, too", async () => {
    const { session } = await run([], workspace);
    const result = await session.bash.run("touch /usr/x");
    expect(result.exitCode).toBe(1);
    expect(result.output).toContain("Read-only file system");
  });

  it("refuses jobs that would outlive it", async () => {
    const { results } = await run(
      [toolCall("bash", { command: "sleep 1", background: true, detached: true })],
      workspace,
    );
    expect(results[0]).toMatch(/sandbox|allowDetached/);
  });
});

describe("a sandbox that this machine does not support", () => {
  const without = { environment: { PATH: "/nowhere" } };

  it("refuses commands, and explains the fix once at the start", async () => {
    const { results, session } = await run([bash("echo hi")], workspace, without);
    expect(results[0]).toMatch(/sandbox is not available.*not installed.*apt install bubblewrap/);
    expect(session.diagnostics.filter(({ code }) => code === "sandbox_unavailable")).toHaveLength(
      1,
    );
    expect(await session.bash.describeSandbox()).toMatchObject({
      available: false,
      mode: "workspace",
      network: "off",
      reason: "bubblewrap is not installed",
    });
  });

  it("runs commands if the settings say so", async () => {
    const { results } = await run(
      [bash("echo hi")],
      { ...workspace, whenUnavailable: "run" },
      without,
    );
    expect(results[0]).toBe("hi\n");
  });

  it("asks if the settings say so, in every permission mode", async () => {
    const { asked, approve } = answering({ decision: "allow" });
    const sandbox: SandboxChange = { ...workspace, whenUnavailable: "ask" };
    const { results } = await run([bash("echo hi")], sandbox, { ...without, approve });
    expect(asked.map(({ reason }) => reason)).toEqual(["sandbox_unavailable"]);
    expect(results[0]).toBe("hi\n");
    const nobody = await run([bash("echo hi")], sandbox, without);
    expect(nobody.results[0]).toContain("sandbox is not available");
  });
});

describe("sandbox settings", () => {
  function withSettings(user: unknown, project?: unknown) {
    const folder = temporaryFolder();
    const places = placesIn(folder);
    const write = (directory: string, value: unknown) => {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, "settings.json"), JSON.stringify(value));
    };
    write(places.agentDirectory ?? "", user);
    if (project !== undefined) write(join(places.cwd, ".pi"), project);
    return createTestSession(["hi"], places);
  }

  it("fail the start when they are malformed", async () => {
    await expect(withSettings({ sandbox: { mode: "worksapce" } })).rejects.toMatchObject({
      code: "invalid_settings",
      message: expect.stringMatching(/sandbox\.mode.*"off", "workspace", "readOnly".*"worksapce"/),
    });
    await expect(withSettings({ sandbox: { netwrok: "all" } })).rejects.toThrow(/netwrok/);
    await expect(withSettings({ "sandbox.network": ["*"] })).rejects.toThrow(/sandbox\.network/);
  });

  it("can only tighten the sandbox in an untrusted project", async () => {
    const loose = await withSettings(
      { sandbox: { mode: "readOnly" } },
      { sandbox: { mode: "off", network: "all", write: ["/"], whenUnavailable: "run" } },
    );
    expect(await loose.session.bash.describeSandbox()).toMatchObject({
      mode: "readOnly",
      network: "off",
    });
    const tight = await withSettings({}, { sandbox: { mode: "workspace" } });
    expect((await tight.session.bash.describeSandbox()).mode).toBe("workspace");
    const broken = await withSettings({}, { sandbox: { mode: "none" } });
    expect((await broken.session.bash.describeSandbox()).mode).toBe("readOnly");
    expect(broken.session.diagnostics.map(({ code }) => code)).toContain("invalid_settings");
  });

  it("mean no sandbox by default", async () => {
    const { session } = await withSettings({});
    expect((await session.bash.describeSandbox()).mode).toBe("off");
  });
});
