import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { browse, LoginServer } from "../../../../packages/coding-agent/test/logins/login-server.ts";
import { makePlace, type Place } from "../support/place.ts";
import { refusingProxy } from "../support/refusing-proxy.ts";
import { binPath, startHost } from "../support/start-host.ts";

beforeAll(() => {
  // The server's library advises those who run it for real.
  for (const level of ["warn", "info"] as const) {
    vi.spyOn(console, level).mockImplementation(() => {});
  }
});

interface SetUp {
  readonly server: LoginServer;
  readonly place: Place;
}

/** A user whose models.json leads all logins to a server here, and models to `baseUrl` if given. */
async function setUp(baseUrl?: string): Promise<SetUp> {
  const server = await new LoginServer().start();
  const address = baseUrl === undefined ? {} : { baseUrl };
  const entries = Object.entries(server.overrides);
  const providers = Object.fromEntries(entries.map(([id, login]) => [id, { login, ...address }]));
  const place = makePlace({ files: { "agent/models.json": JSON.stringify({ providers }) } });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    place.remove();
  });
  return { server, place };
}

const stored = ({ folder }: Place): Record<string, Record<string, unknown>> => {
  const path = join(folder, "agent/auth.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
};

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tau auth`; a browser goes to the page that it prints. */
function auth({ cwd, variables }: Place, ...words: string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binPath, "auth", ...words], { cwd, env: variables });
    let [stdout, stderr, hasOpened] = ["", "", false];
    child.stdout.on("data", (text) => {
      stdout += text;
      const [, url, code] = /log in:\n(\S+)\n(?:Enter the code: (\S+)\n)?$/.exec(stdout) ?? [];
      if (url === undefined || hasOpened) return;
      hasOpened = true;
      browse(pageOf(url, code), code).catch(reject);
    });
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end();
  });
}

/** OpenAI's page asks for the code; the server here finds it in the address. */
function pageOf(url: string, code: unknown): string {
  return url.endsWith("/device-page") ? `${url}?code=${code}` : url;
}

describe("tau auth", () => {
  it.each([
    ["openai-codex", "oauth", "ChatGPT"],
    ["openai-codex", "device", "ChatGPT"],
    ["github-copilot", "device", "GitHub Copilot"],
  ])("logs in to %s by %s, checks it, and logs out", async (provider, method, name) => {
    const { place } = await setUp();
    const login = await auth(place, "login", provider, "--method", method);
    expect(login).toMatchObject({ code: 0, stderr: "" });
    expect(login.stdout).toContain(`Logged in to ${name}`);
    expect(login.stdout.includes("Enter the code: ")).toBe(method === "device");
    const { access, refresh } = stored(place)[provider] ?? {};
    const check = await auth(place, "check", provider);
    expect(check).toMatchObject({ code: 0, stderr: "" });
    expect(check.stdout).toMatch(
      new RegExp(`^${provider}: login in auth.json, valid until 20\\d\\d-`),
    );
    for (const secret of [access, refresh]) {
      expect(secret).toEqual(expect.stringMatching(/./));
      expect(login.stdout + check.stdout).not.toContain(String(secret));
    }
    expect(await auth(place, "check")).toMatchObject({ code: 0, stdout: check.stdout });
    const logout = await auth(place, "logout", provider);
    expect(logout).toEqual({ code: 0, stdout: `Logged out of ${provider}.\n`, stderr: "" });
    expect(stored(place)).toEqual({});
    const none = await auth(place, "check", provider);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain(`tau auth login ${provider}`);
  });

  it("takes the code by itself where there is no terminal", async () => {
    const { place } = await setUp();
    const { stdout } = await auth(place, "login", "openai-codex");
    expect(stdout).toContain("Enter the code: ");
    expect(stored(place)["openai-codex"]).toMatchObject({ type: "oauth", accountId: "acct-ada" });
  });

  it("says why a login failed, and stores nothing", async () => {
    const { server, place } = await setUp();
    server.faults.status = 400;
    const login = await auth(place, "login", "github-copilot");
    expect(login).toMatchObject({ code: 1 });
    expect(login.stderr).toMatch(/^tau: error: .*github-copilot.*invalid_grant/);
    expect(login.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(4);
    expect(stored(place)).toEqual({});
  });
});

describe("behind a proxy", () => {
  it.each([
    ["github-copilot", "device", "github.com:443"],
    ["openai-codex", "device", "auth.openai.com:443"],
  ])("a login to %s goes through it", async (provider, method, asked) => {
    const proxy = await refusingProxy();
    const place = makePlace();
    onTestFinished(place.remove);
    const variables = { ...place.variables, HTTPS_PROXY: proxy.url };
    const login = await auth({ ...place, variables }, "login", provider, "--method", method);
    expect(login).toMatchObject({ code: 1 });
    expect(proxy.asked).toEqual([asked]);
  });

  it("a renewal goes through it, also where a setting names it", async () => {
    const proxy = await refusingProxy();
    const expired = { type: "oauth", access: "a", refresh: "r", expires: 1, accountId: "acct" };
    const files = {
      "agent/auth.json": JSON.stringify({ "openai-codex": expired }),
      "agent/settings.json": JSON.stringify({ httpProxy: proxy.url }),
    };
    const place = makePlace({ files });
    onTestFinished(place.remove);
    const check = await auth(place, "check", "openai-codex");
    expect(check).toMatchObject({ code: 1, stdout: "" });
    expect(check.stderr).toContain("tau auth login openai-codex");
    expect(proxy.asked).toEqual(["auth.openai.com:443"]);
  });
});

const otherRequests = {
  type: "initialize",
  capabilities: { hostRequests: ["tool_approval"] },
};
const initialize = { type: "initialize", capabilities: { hostRequests: ["open_url"] } };

describe("login over RPC", () => {
  it.each([
    ["github-copilot", "gpt-6-sol"],
    ["openai-codex", "gpt-6.1-sol"],
  ])("to %s asks the client to open the page, and offers %s", async (provider, model) => {
    await using models = await startLoopbackServer({ scenario: ["Hello."] });
    const { place } = await setUp(models.url);
    const host = startHost({}, { place });
    host.send(initialize);
    await host.until({ "...": true, command: "initialize" });
    host.send({ type: "login", id: "login", provider });
    const asked = await host.until({ "...": true, type: "host_request", method: "open_url" });
    const { url, userCode } = asked.params as { url: string; userCode: string };
    expect(userCode).toMatch(/./);
    host.send({ type: "get_login_providers", id: "before" });
    const before = await host.until({ "...": true, id: "before" });
    expect(before.data).toMatchObject(providersWith({ id: provider, loggedIn: false }));
    host.send({ type: "host_response", id: asked.id, result: {} });
    await browse(pageOf(url, userCode), userCode);
    expect(await host.until({ "...": true, id: "login" }, 30_000)).toMatchObject({ success: true });
    host.send({ type: "get_login_providers", id: "after" });
    const after = await host.until({ "...": true, id: "after" });
    const expires = stored(place)[provider]?.expires;
    expect(after.data).toMatchObject(providersWith({ id: provider, loggedIn: true, expires }));
    host.send({ type: "set_model", id: "set", provider, modelId: model });
    expect(await host.until({ "...": true, id: "set" })).toMatchObject({ success: true });
    host.send({ type: "prompt", id: "prompt", message: "Hi" });
    await host.until({ "...": true, type: "agent_end" });
    const access = String(stored(place)[provider]?.access);
    expect(models.requests[0]?.headers.authorization).toBe(`Bearer ${access}`);
    expect(host.stdout).not.toContain(access);
    await host.finish();
  });

  it.each([
    ["nothing", undefined, {}],
    ["other requests", otherRequests, { code: "login_unavailable" }],
  ])("is refused to a client that answers %s, before any request", async (_, first, code) => {
    const { server, place } = await setUp();
    const host = startHost({}, { place });
    if (first !== undefined) host.send(first);
    for (const method of ["device", "oauth"]) {
      host.send({ type: "login", id: method, provider: "openai-codex", method });
      const answer = await host.until({ "...": true, id: method });
      expect(answer).toMatchObject({ success: false, ...code });
      expect(answer.error).toContain("tau auth login openai-codex");
    }
    await host.finish();
    expect(server.requestCount).toBe(0);
    expect(stored(place)).toEqual({});
  });

  it("ends when the client does not open the page", async () => {
    const { server, place } = await setUp();
    const host = startHost({}, { place });
    host.send(initialize);
    host.send({ type: "login", id: "login", provider: "github-copilot" });
    const { id } = await host.until({ "...": true, type: "host_request" });
    host.send({ type: "host_response", id, error: { message: "no browser here" } });
    const answer = await host.until({ "...": true, id: "login" });
    expect(answer).toMatchObject({ success: false, code: "login_failed" });
    expect(answer.error).toContain("no browser here");
    await host.finish();
    expect(server.exchanges).toEqual([]);
    expect(stored(place)).toEqual({});
  });
});

function providersWith(row: object): object {
  return { providers: expect.arrayContaining([expect.objectContaining(row)]) };
}
