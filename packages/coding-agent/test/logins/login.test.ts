import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModelRegistry, type LoginPage } from "@tau-agent/models";
import { ProcessRegistry } from "@tau-agent/system";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { browse, LoginServer } from "./login-server.ts";

let agentDirectory: string;
beforeAll(() => {
  // Silences the advice that the library prints for production use.
  for (const level of ["warn", "info"] as const) {
    vi.spyOn(console, level).mockImplementation(() => {});
  }
});
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-login-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const authFile = () => join(agentDirectory, "auth.json");
const stored = () => JSON.parse(readFileSync(authFile(), "utf8"));

async function setUp() {
  const server = await new LoginServer().start();
  const entries = Object.entries(server.overrides).map(([id, login]) => [id, { login }]);
  const providers = Object.fromEntries(entries);
  writeFileSync(join(agentDirectory, "models.json"), JSON.stringify({ providers }));
  return { server, registry: newRegistry() };
}

function newRegistry() {
  return createModelRegistry({
    agentDirectory,
    environment: {},
    processes: new ProcessRegistry(),
    catalog: { providers: () => ({}), models: async () => [] },
  });
}

const openPages = (opened: LoginPage[]) => async (page: LoginPage) => {
  opened.push(page);
  void browse(page.userCode === undefined ? page.url : withCode(page), page.userCode);
};
const withCode = ({ url, userCode }: LoginPage) => `${url}?code=${userCode}`;

describe("a login against a published OAuth server", () => {
  it.each([
    ["openai-codex", "oauth", false],
    ["openai-codex", "device", true],
    ["github-copilot", "device", true],
  ] as const)("%s by %s yields tokens that renew", async (provider, method, hasCode) => {
    const { server, registry } = await setUp();
    await using _ = server;
    writeFileSync(authFile(), JSON.stringify({ other: { type: "later", kept: 1 } }));
    const opened: LoginPage[] = [];
    await registry.logins?.login(provider, { method, open: openPages(opened) });
    expect(opened).toHaveLength(1);
    expect(opened[0]?.userCode !== undefined).toBe(hasCode);
    expect(stored()).toMatchObject({ other: { type: "later", kept: 1 } });
    expect(stored()[provider]).toMatchObject({ type: "oauth" });
    expect(stored()[provider].expires).toBeGreaterThan(Date.now());
    expect(statSync(authFile()).mode & 0o777).toBe(0o600);
    const first = await registry.keys.require(provider);
    expect(first).toMatchObject({ source: "login", key: stored()[provider].access });
    // The vendor refuses the token before it expires.
    expect(await registry.keys.renewRefused(provider)).toBe(undefined);
    const second = await registry.keys.require(provider);
    expect(second.key).not.toBe(first.key);
    if (provider === "openai-codex") {
      expect(stored()[provider]).toMatchObject({ accountId: "acct-ada" });
      expect(second.headers).toEqual({ "chatgpt-account-id": "acct-ada" });
    } else {
      expect(stored()[provider]).toMatchObject({ availableModelIds: ["gpt-6-sol"] });
      expect(second.baseUrl).toBe("https://api.example.com");
    }
  });

  it("ends at once and stores nothing when the user refuses to open the page", async () => {
    const { server, registry } = await setUp();
    await using _ = server;
    for (const method of ["oauth", "device"] as const) {
      const login = registry.logins?.login("openai-codex", {
        method,
        open: () => Promise.reject(new Error("no browser")),
      });
      await expect(login).rejects.toMatchObject({
        code: "login_failed",
        message: expect.stringContaining("no browser"),
      });
    }
    expect(() => readFileSync(authFile())).toThrow();
    expect(server.tokenRequests).toEqual([]);
  });

  it("survives a server that is down for a moment, and ends when the server refuses", async () => {
    const { server, registry } = await setUp();
    await using _ = server;
    server.faults.status = 503;
    const login = registry.logins?.login("github-copilot", {
      open: async ({ url, userCode }) => {
        await expect.poll(() => server.tokenRequests.length).toBeGreaterThan(1);
        server.faults.status = undefined;
        await browse(url, userCode);
      },
    });
    await login;
    expect(stored()["github-copilot"].access).toContain("tid=1");
    server.faults.status = 400;
    const refused = registry.logins?.login("github-copilot", { open: async () => {} });
    await expect(refused).rejects.toThrow(/refused null \(HTTP 400\)/);
  });

  it("is abandoned when its signal aborts", async () => {
    const { server, registry } = await setUp();
    await using _ = server;
    const ending = new AbortController();
    const login = registry.logins?.login("github-copilot", {
      signal: ending.signal,
      open: async () => ending.abort(new Error("the session ended")),
    });
    await expect(login).rejects.toThrow(/the session ended/);
  });
});
