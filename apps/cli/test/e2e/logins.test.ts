import { spawn } from "node:child_process";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { browse } from "../../../../packages/coding-agent/test/logins/login-server.ts";
import { loginPlace, pageOf, printedPageReader, stored } from "../support/login-place.ts";
import { startMemoryHost } from "../support/memory-host.ts";
import type { Place } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";

beforeAll(() => {
  // The server's library logs advice for production use.
  for (const level of ["warn", "info"] as const) {
    vi.spyOn(console, level).mockImplementation(() => {});
  }
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tau auth`; a simulated browser visits the page that it prints. */
function auth({ cwd, variables }: Place, ...words: string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binPath, "auth", ...words], { cwd, env: variables });
    let [stdout, stderr] = ["", ""];
    const read = printedPageReader();
    child.stdout.on("data", (text) => {
      stdout += text;
      read(stdout).catch(reject);
    });
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end();
  });
}

// ../auth-command.test.ts covers other logins and failures, without a process for each command.
describe("tau auth", () => {
  it("logs in with a code, checks the login and logs out", async () => {
    const { place } = await loginPlace();
    const login = await auth(place, "login", "github-copilot");
    expect(login).toMatchObject({ code: 0, stderr: "" });
    expect(login.stdout).toContain("Enter the code: ");
    expect(login.stdout).toContain("Logged in to GitHub Copilot");
    const check = await auth(place, "check", "github-copilot");
    expect(check).toMatchObject({ code: 0, stderr: "" });
    expect(check.stdout).toMatch(/^github-copilot: login in auth\.json, valid until 20\d\d-/);
    const { access, refresh } = stored(place)["github-copilot"] ?? {};
    for (const secret of [access, refresh]) {
      expect(secret).toEqual(expect.stringMatching(/./));
      expect(login.stdout + check.stdout).not.toContain(String(secret));
    }
    const logout = await auth(place, "logout", "github-copilot");
    expect(logout).toEqual({ code: 0, stdout: "Logged out of github-copilot.\n", stderr: "" });
    const none = await auth(place, "check", "github-copilot");
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("tau auth login github-copilot");
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
  ])("to %s asks the client to open the page, and then offers %s", async (provider, model) => {
    await using models = await startLoopbackServer({ scenario: ["Hello."] });
    const { place } = await loginPlace(models.url);
    const host = await startMemoryHost({}, place);
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
    expect(await host.until({ "...": true, id: "login" })).toMatchObject({ success: true });
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
  ])("is refused before any request if the client answers %s", async (_, first, code) => {
    const { server, place } = await loginPlace();
    const host = await startMemoryHost({}, place);
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

  it("ends if the client does not open the page", async () => {
    const { server, place } = await loginPlace();
    const host = await startMemoryHost({}, place);
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
