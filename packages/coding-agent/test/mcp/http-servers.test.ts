import { readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HttpFixture } from "../../../mcp/src/__fixtures__/http-server.ts";
import type { AgentSession } from "../../src/session/agent-session.ts";
import { callTool, McpWorkspace, textOf } from "./mcp-session.ts";

let workspace: McpWorkspace;
let server: HttpFixture;
beforeEach(async () => {
  workspace = await McpWorkspace.create();
  server = await HttpFixture.start();
});
afterEach(async () => {
  await workspace.remove();
  server.stop();
});

const stateOf = async (session: AgentSession) => (await session.mcp.list()).servers[0];
const call = (session: AgentSession) => callTool(session, "mcp__web__hello");
const authFile = () => join(workspace.agentDirectory, "mcp-auth.json");
const key = () => `mcp__web|${server.url}`;

const readState = () => JSON.parse(readFileSync(authFile(), "utf8"))[key()];

async function open(more: object = {}): Promise<AgentSession> {
  await workspace.configure({ web: { url: server.url, ...more } });
  return workspace.openReady();
}

/** Stores a login in the format of another pi-compatible host. */
async function store(tokens: object, more: object = {}): Promise<void> {
  const clientInformation = { client_id: "client-1" };
  const state = { serverUrl: server.url, clientInformation, tokens, ...more };
  await writeFile(authFile(), JSON.stringify({ [key()]: state, other: { kept: true } }), {
    mode: 0o644,
  });
}

/** Acts as a user who visits every page. */
function goToPages(session: AgentSession, before?: (page: URL) => Promise<void>): string[] {
  const pages: string[] = [];
  session.requests.attach({
    answers: (method) => method === "open_url",
    closed: () => {},
    open: (request) => {
      if (request.method !== "open_url") return false;
      pages.push(request.params.url);
      expect(request.params.server).toBe("web");
      queueMicrotask(async () => {
        await before?.(new URL(request.params.url));
        session.requests.answer(request.id, { result: {} });
        await fetch(request.params.url);
      });
      return true;
    },
  });
  return pages;
}

describe("a server over HTTP", () => {
  it("receives the headers of its entry and answers calls", async () => {
    server.tokens = new Set(["from-entry"]);
    const session = await open({ headers: { authorization: "!echo Bearer from-entry" } });
    expect(await stateOf(session)).toMatchObject({ status: "connected", transport: "http" });
    expect(textOf(await call(session))).toBe("called hello");
  });

  it("gets a new session and the call again after it has forgotten the session", async () => {
    const session = await open();
    server.sessions.clear();
    expect(textOf(await call(session))).toBe("called hello");
    expect(server.count("initialize")).toBeGreaterThan(2);
    expect(server.count("POST tools/call")).toBe(2);
  });

  it("is restarted after a period of 404 answers, and reported with status and address", async () => {
    const session = await open();
    server.refusal = 404;
    const place = `HTTP 404 from ${server.url}`;
    await expect(call(session)).rejects.toThrow(place);
    expect(await stateOf(session)).toMatchObject({ status: "restarting" });
    expect((await stateOf(session))?.error).toContain(place);
    server.refusal = undefined;
    await expect.poll(() => stateOf(session)).toMatchObject({ status: "connected", restarts: 1 });
    expect(textOf(await call(session))).toBe("called hello");
  });

  it("is restarted after its address has refused all requests for a while", async () => {
    const session = await open();
    server.sessions.clear();
    server.refusal = 405;
    await expect(call(session)).rejects.toThrow(`HTTP 405 from ${server.url}`);
    server.refusal = 404;
    await expect(call(session)).rejects.toThrow(`HTTP 404 from ${server.url}`);
    server.refusal = 410;
    await expect
      .poll(() => stateOf(session))
      .toMatchObject({ restarts: 1, error: expect.stringContaining("HTTP 410 from") });
    expect(await stateOf(session)).toMatchObject({ status: "restarting" });
  });

  it("is reported with its address, but without secrets", async () => {
    server.refusal = 404;
    await workspace.configure({ web: { url: `${server.url}?key=secret` } });
    const session = await workspace.open();
    await expect
      .poll(() => stateOf(session))
      .toMatchObject({ status: "restarting", error: expect.stringContaining("HTTP 404 from") });
    expect(JSON.stringify(await stateOf(session))).not.toContain("secret");
  });

  it("fails the call when it is gone, and is tried again", async () => {
    const session = await open();
    server.stop();
    await expect(call(session)).rejects.toThrow("The MCP server web was lost");
    expect(await stateOf(session)).toMatchObject({ status: "restarting" });
  });
});

describe("a login to an MCP server", () => {
  beforeEach(() => {
    server.tokens = new Set();
  });

  it("is requested first, and the session says how to log in", async () => {
    const session = await open();
    expect(await stateOf(session)).toMatchObject({ status: "needs_auth" });
    expect(session.diagnostics).toContainEqual(
      expect.objectContaining({ message: "MCP server web needs a login: tau mcp login web" }),
    );
  });

  it("opens the page, and stores tokens that only the user can read", async () => {
    const session = await open();
    await store({ access_token: "stale", token_type: "Bearer" });
    const pages = goToPages(session, async (page) => {
      const wrong = new URL(page.searchParams.get("redirect_uri") ?? "");
      wrong.search = "?code=stolen&state=guessed";
      expect((await fetch(wrong)).status).toBe(400);
    });
    await session.mcp.login("web");
    expect(await stateOf(session)).toMatchObject({ status: "connected" });
    expect(pages).toHaveLength(1);
    expect(server.lastPage?.get("scope")).toBe("read");
    expect(textOf(await call(session))).toBe("called hello");
    expect(statSync(authFile()).mode & 0o777).toBe(0o600);
    const stored = JSON.parse(readFileSync(authFile(), "utf8"));
    expect(stored.other).toEqual({ kept: true });
    expect(stored[key()]).toMatchObject({
      serverUrl: server.url,
      tokens: { access_token: "access-1", refresh_token: "refresh-1" },
      tokensExpireAt: expect.any(Number),
      clientInformation: { client_id: "client-1" },
    });
    await session.mcp.logout("web");
    expect(JSON.parse(readFileSync(authFile(), "utf8"))).toEqual({ other: { kept: true } });
    expect(await stateOf(session)).toMatchObject({ status: "needs_auth" });
  });

  it("fails if nobody opens the page, and names the command", async () => {
    const session = await open();
    await expect(session.mcp.login("web")).rejects.toThrow(/no client opened.*tau mcp login web/);
  });

  it("does not open a page that is neither https nor on this machine", async () => {
    server.authorizationEndpoint = "http://evil.example/authorize";
    const session = await open();
    const pages = goToPages(session);
    await expect(session.mcp.login("web")).rejects.toThrow();
    expect(pages).toEqual([]);
  });

  it("is renewed once for calls that are refused at the same time", async () => {
    const issued = server.issue();
    await store(issued);
    const session = await open();
    expect(await stateOf(session)).toMatchObject({ status: "connected" });
    server.tokens?.clear();
    server.renewalMs = 50;
    const results = await Promise.all([call(session), call(session), call(session)]);
    expect(results.map(textOf)).toEqual(["called hello", "called hello", "called hello"]);
    expect(server.count("grant_type=refresh_token")).toBe(1);
    expect(JSON.parse(readFileSync(authFile(), "utf8"))[key()].tokens).toMatchObject({
      access_token: "access-2",
    });
    expect(statSync(authFile()).mode & 0o777).toBe(0o600);
  });

  it("is renewed before an expired token would be sent", async () => {
    await store(server.issue(), { tokensExpireAt: Date.now() - 1000 });
    const session = await open();
    expect(await stateOf(session)).toMatchObject({ status: "connected" });
    expect(server.count("grant_type=refresh_token")).toBe(1);
  });

  it("is requested again when its renewal is refused, and calls say so", async () => {
    await store(server.issue());
    const session = await open();
    server.tokens?.clear();
    server.refreshTokens.clear();
    await expect(call(session)).rejects.toThrow(/needs a login.*tau mcp login web/);
    expect(await stateOf(session)).toMatchObject({ status: "needs_auth" });
    expect(JSON.parse(readFileSync(authFile(), "utf8"))[key()].tokens).toBeDefined();
  });

  it("belongs to the authorization server that issued it, whose name is stored", async () => {
    const warned = vi.spyOn(console, "warn");
    const session = await open();
    goToPages(session);
    await session.mcp.login("web");
    const issuer = server.origin;
    expect(readState()).toMatchObject({ tokens: { issuer }, clientInformation: { issuer } });
    server.tokens?.clear();
    expect(textOf(await call(session))).toBe("called hello");
    expect(readState()).toMatchObject({ tokens: { access_token: "access-2", issuer } });
    // A second login reuses the stored registration.
    await session.mcp.login("web");
    expect(server.count("/register")).toBe(1);
    expect(warned).not.toHaveBeenCalled();
  });

  it("lacks the name of its authorization server if it comes from another host, until its first renewal", async () => {
    const warned = vi.spyOn(console, "warn");
    await store(server.issue());
    const session = await open();
    server.tokens?.clear();
    expect(textOf(await call(session))).toBe("called hello");
    expect(readState()).toMatchObject({ tokens: { issuer: server.origin } });
    goToPages(session);
    await session.mcp.login("web");
    expect(readState()).toMatchObject({ clientInformation: { issuer: server.origin } });
    expect(warned).not.toHaveBeenCalled();
  });

  it.each(["tokens", "clientInformation"])(
    "is not renewed at another authorization server, which receives no %s",
    async (member) => {
      const issuer = "https://other.example";
      const tokens = server.issue();
      const clientInformation = { client_id: "client-1", client_secret: "secret" };
      const state = { tokens, clientInformation };
      Object.assign(Object(state)[member], { issuer });
      await store(tokens, { clientInformation });
      const session = await open();
      server.tokens?.clear();
      await expect(call(session)).rejects.toThrow(/tau mcp login web/);
      expect((await stateOf(session))?.error).toContain(`(${server.origin}) than the login is of`);
      expect(server.count("/token")).toBe(0);
      // A new login registers again, and sends nothing that belongs to the other server.
      goToPages(session);
      await session.mcp.login("web");
      expect(server.requests.join("\n")).not.toContain("secret=secret");
      expect(readState()).toMatchObject({ tokens: { issuer: server.origin } });
    },
  );

  it("requests a missing scope, and keeps the scopes it had", async () => {
    server.grantedScope = "read";
    await store(server.issue());
    const session = await open();
    server.neededScope = "write";
    await expect(call(session)).rejects.toThrow(/needs a login/);
    goToPages(session);
    await session.mcp.login("web");
    expect(server.lastPage?.get("scope")?.split(" ").sort()).toEqual(["read", "write"]);
    expect(textOf(await call(session))).toBe("called hello");
  });
});
