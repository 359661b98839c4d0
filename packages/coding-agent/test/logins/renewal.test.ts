import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createModelRegistry } from "@tau-agent/models";
import { ProcessRegistry } from "@tau-agent/system";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createAgentSession } from "../../src/create/create-session.ts";
import { browse, LoginServer } from "./login-server.ts";

const provider = "openai-codex";
const minute = 60_000;
let agentDirectory: string;
let server: LoginServer;

beforeAll(() => {
  // Silences the advice that the library prints for production use.
  for (const level of ["warn", "info"] as const) {
    vi.spyOn(console, level).mockImplementation(() => {});
  }
});
beforeEach(async () => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-renewal-"));
  server = await new LoginServer().start();
  const login = server.overrides[provider];
  const models = { providers: { [provider]: { login } } };
  writeFileSync(join(agentDirectory, "models.json"), JSON.stringify(models));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(agentDirectory, { recursive: true, force: true });
});

const authFile = () => join(agentDirectory, "auth.json");
const stored = () => JSON.parse(readFileSync(authFile(), "utf8"))[provider];
const change = (members: object) =>
  writeFileSync(authFile(), JSON.stringify({ [provider]: { ...stored(), ...members } }));

function newKeys() {
  const { keys, logins } = createModelRegistry({
    agentDirectory,
    environment: {},
    processes: new ProcessRegistry(),
    catalog: { providers: () => ({}), models: async () => [] },
  });
  return { keys, logins };
}

async function logIn(): Promise<void> {
  const open = async ({ url }: { url: string }) => void browse(url);
  await newKeys().logins?.login(provider, { method: "oauth", open });
}

const script = join(import.meta.dirname, "renew-once.ts");
const keyInProcess = async (): Promise<string> => {
  const words = ["-C", "@tau-agent/source", script, agentDirectory, provider];
  return (await promisify(execFile)(process.execPath, words)).stdout;
};

describe("a stored login", () => {
  it("is renewed once for any number of processes, and each uses the new tokens", async () => {
    await logIn();
    change({ expires: Date.now() + minute, ours: "kept" });
    const { access, refresh } = stored();
    server.faults.delayMs = 300;
    const keys = await Promise.all([
      ...Array.from({ length: 5 }, keyInProcess),
      ...Array.from({ length: 3 }, async () => (await newKeys().keys.require(provider)).key),
    ]);
    expect(server.refreshes).toBe(1);
    expect(new Set(keys)).toEqual(new Set([stored().access]));
    expect(stored()).toMatchObject({ ours: "kept", accountId: "acct-ada" });
    expect(stored().access).not.toBe(access);
    expect(stored().refresh).not.toBe(refresh);
    expect(readdirSync(agentDirectory).sort()).toEqual(["auth.json", "models.json"]);
  });

  it.each([
    [4.9 * minute, 1],
    [5.5 * minute, 0],
  ])("with %s ms left, is renewed %s times", async (lifeMs, refreshes) => {
    await logIn();
    change({ expires: Date.now() + lifeMs });
    await newKeys().keys.require(provider);
    expect(server.refreshes).toBe(refreshes);
  });

  it("is renewed as it runs out, not for each request, when its tokens are always short-lived", async () => {
    await server[Symbol.asyncDispose]();
    server = await new LoginServer().start(60);
    const models = { providers: { [provider]: { login: server.overrides[provider] } } };
    writeFileSync(join(agentDirectory, "models.json"), JSON.stringify(models));
    await logIn();
    const { keys } = newKeys();
    for (let request = 0; request < 4; request += 1) await keys.require(provider);
    expect(server.refreshes).toBe(1);
  });

  it("stays unchanged when the vendor refuses to renew it, and the error says how to log in again", async () => {
    await logIn();
    change({ expires: Date.now() - 1 });
    const before = readFileSync(authFile(), "utf8");
    server.faults.status = 400;
    const error: Error = await newKeys()
      .keys.require(provider)
      .then(
        () => new Error("was renewed"),
        (reason) => reason,
      );
    expect(error).toMatchObject({ code: "key_unresolved" });
    expect(error.message).toContain("run tau auth login openai-codex");
    expect(error.message).toContain("invalid_grant");
    expect(error.message).not.toContain(stored().refresh);
    expect(readFileSync(authFile(), "utf8")).toBe(before);
  });

  it("is used while it is valid, even if its server is down or answers nonsense", async () => {
    await logIn();
    change({ expires: Date.now() + minute });
    const { access } = stored();
    server.faults.dies = true;
    expect(await newKeys().keys.require(provider)).toMatchObject({ key: access });
    server.faults.dies = false;
    server.faults.status = 500;
    expect(await newKeys().keys.require(provider)).toMatchObject({ key: access });
    expect(stored().access).toBe(access);
    server.faults.status = undefined;
    expect((await newKeys().keys.require(provider)).key).not.toBe(access);
  });

  it("is renewed although a process died while renewing it", async () => {
    await logIn();
    change({ expires: Date.now() - 1 });
    mkdirSync(`${authFile()}.lock`);
    const longAgo = new Date(Date.now() - 31_000);
    utimesSync(`${authFile()}.lock`, longAgo, longAgo);
    await newKeys().keys.require(provider);
    expect(server.refreshes).toBe(1);
    expect(readdirSync(agentDirectory).sort()).toEqual(["auth.json", "models.json"]);
  });

  it("is stored although the session ends during its renewal", async () => {
    await logIn();
    change({ expires: Date.now() - 1 });
    const { refresh } = stored();
    server.faults.delayMs = 300;
    const session = await createAgentSession({
      cwd: agentDirectory,
      agentDirectory,
      environment: {},
      session: { kind: "memory" },
      provider,
      model: "gpt-6-sol",
    });
    const run = session.prompt("Hi").catch(() => undefined);
    await expect.poll(() => server.refreshes).toBe(1);
    await session.dispose();
    expect(stored().refresh).not.toBe(refresh);
    await run;
  });

  it("takes effect from the next request on when another process stores it", async () => {
    const { keys } = newKeys();
    await expect(keys.require(provider)).rejects.toMatchObject({
      code: "no_key",
      message: expect.stringContaining("tau auth login openai-codex"),
    });
    await logIn();
    expect(await keys.require(provider)).toMatchObject({ key: stored().access });
    await newKeys().logins?.logout(provider);
    await expect(keys.require(provider)).rejects.toMatchObject({ code: "no_key" });
  });
});
