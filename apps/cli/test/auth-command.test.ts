import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { loginPlace, printedPageReader, stored } from "./support/login-place.ts";
import { makePlace, type Place } from "./support/place.ts";
import { refusingProxy } from "./support/refusing-proxy.ts";
import { runCommand } from "./support/run-command.ts";

beforeAll(() => {
  // The server's library logs advice for production use.
  for (const level of ["warn", "info"] as const) {
    vi.spyOn(console, level).mockImplementation(() => {});
  }
});

/** Runs `tau auth`; a simulated browser visits the page that it prints. */
async function auth(place: Place, ...words: string[]) {
  const read = printedPageReader();
  const pages: Promise<void>[] = [];
  const outcome = await runCommand(place, ["auth", ...words], (stdout) => {
    pages.push(read(stdout));
  });
  await Promise.all(pages);
  return outcome;
}

// e2e/logins.test.ts covers the built program.
describe("tau auth", () => {
  it.each([
    ["openai-codex", "oauth", "ChatGPT"],
    ["openai-codex", "device", "ChatGPT"],
    ["github-copilot", "device", "GitHub Copilot"],
  ])("logs in to %s by %s, checks the login and logs out", async (provider, method, name) => {
    const { place } = await loginPlace();
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

  it("receives the code automatically when there is no terminal", async () => {
    const { place } = await loginPlace();
    const { stdout } = await auth(place, "login", "openai-codex");
    expect(stdout).toContain("Enter the code: ");
    expect(stored(place)["openai-codex"]).toMatchObject({ type: "oauth", accountId: "acct-ada" });
  });

  it("explains why a login failed and stores nothing", async () => {
    const { server, place } = await loginPlace();
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
  ])("a login to %s uses the proxy", async (provider, method, asked) => {
    const proxy = await refusingProxy();
    const place = makePlace();
    onTestFinished(place.remove);
    const variables = { ...place.variables, HTTPS_PROXY: proxy.url };
    const login = await auth({ ...place, variables }, "login", provider, "--method", method);
    expect(login).toMatchObject({ code: 1 });
    expect(proxy.asked).toEqual([asked]);
  });

  it("a token renewal uses the proxy, even one named in the settings", async () => {
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
