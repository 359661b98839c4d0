import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type LoopbackApi,
  type LoopbackServer,
  overloaded,
  startLoopbackServer,
  thinking,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import type { SessionStart } from "@tau-agent/sessions/log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentSession } from "../../src/create/create-session.ts";

let agentDirectory: string;
let cwd: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-plans-"));
  cwd = mkdtempSync(join(tmpdir(), "tau-plans-cwd-"));
  writeFileSync(join(cwd, "a.txt"), "content of a\n");
});
afterEach(() => {
  for (const folder of [agentDirectory, cwd]) rmSync(folder, { recursive: true, force: true });
});

const copilotToken = "tid=1;exp=9999999999;proxy-ep=proxy.business.githubcopilot.com;sku=x";

/** Writes an auth.json in the form observed in pi 1.5.2. */
function putAuth(): string {
  const path = join(agentDirectory, "auth.json");
  const expires = Date.now() + 3_600_000;
  const entries = {
    "github-copilot": {
      type: "oauth",
      refresh: "gho_refresh",
      access: copilotToken,
      expires,
      availableModelIds: ["gpt-6-sol", "claude-sonnet-5", "gemini-3.8-flash"],
    },
    "openai-codex": { type: "oauth", access: "opaque", refresh: "r", expires, accountId: "acct-1" },
  };
  const text = JSON.stringify(entries, null, 2);
  writeFileSync(path, text);
  chmodSync(path, 0o600);
  return text;
}

/** Redirects the requests of both plans to a loopback server, through the user's models.json. */
function putModels(server: LoopbackServer, path = ""): void {
  const baseUrl = `${server.url}${path}`;
  const providers = { "github-copilot": { baseUrl }, "openai-codex": { baseUrl } };
  writeFileSync(join(agentDirectory, "models.json"), JSON.stringify({ providers }));
}

function open(provider: string, model: string, session: SessionStart = { kind: "new" }) {
  return createAgentSession({
    cwd,
    agentDirectory,
    sessionDirectory: join(agentDirectory, "sessions"),
    environment: {},
    provider,
    model,
    session,
  });
}

const plans: readonly {
  readonly provider: string;
  readonly model: string;
  readonly api: LoopbackApi;
  readonly token: string;
  readonly path: string;
}[] = [
  {
    provider: "openai-codex",
    model: "gpt-6-sol",
    api: "openai-codex-responses",
    token: "opaque",
    path: "/codex/responses",
  },
  {
    provider: "github-copilot",
    model: "gpt-6-sol",
    api: "openai-responses",
    token: copilotToken,
    path: "/responses",
  },
  {
    provider: "github-copilot",
    model: "claude-sonnet-5",
    api: "anthropic-messages",
    token: copilotToken,
    path: "/v1/messages",
  },
  {
    provider: "github-copilot",
    model: "gemini-3.8-flash",
    api: "openai-completions",
    token: copilotToken,
    path: "/chat/completions",
  },
];

describe.each(plans)(
  "pi's login for $provider, $model",
  ({ provider, model, api, token, path }) => {
    it.each(["high", "off"] as const)(
      "works for turns and a resumed session, thinking %s",
      async (level) => {
        const written = putAuth();
        const scenario = [
          turn([thinking("Which?", { signature: "c2ln" }), toolCall("read", { path: "a.txt" })]),
          "Read.",
          "Still here.",
        ];
        await using server = await startLoopbackServer({
          scenario,
          credentials: { bearer: token },
        });
        putModels(server);
        await using session = await open(provider, model);
        session.models.setThinkingLevel(level);
        expect(await session.prompt("Look")).toMatchObject({ status: "completed", text: "Read." });
        const { sessionFile = "" } = session.state;
        await session.dispose();
        await using resumed = await open(provider, model, { kind: "file", path: sessionFile });
        expect(await resumed.prompt("And?")).toMatchObject({ text: "Still here." });
        expect(server.requests.map((request) => [request.api, request.path])).toEqual([
          [api, path],
          [api, path],
          [api, path],
        ]);
        const sent = server.requests.map(({ headers }) => headers);
        if (provider === "openai-codex") {
          expect(sent[0]).toMatchObject({ "chatgpt-account-id": "acct-1" });
        } else {
          const initiators = sent.map((headers) => headers["x-initiator"]);
          expect(initiators).toEqual(["user", "agent", "user"]);
          expect(sent[0]).toMatchObject({ "editor-version": expect.stringMatching(/^vscode/) });
        }
        expect(server.refusals).toEqual([]);
        // No token was due for renewal, so the file is unchanged.
        expect(readFileSync(join(agentDirectory, "auth.json"), "utf8")).toBe(written);
        expect(readFileSync(sessionFile, "utf8")).not.toContain(token);
      },
    );
  },
);

describe("a Copilot plan", () => {
  it("offers the models that its login lists", async () => {
    putAuth();
    await using session = await open("github-copilot", "gpt-6-sol");
    const models = await session.models.registry.models("github-copilot");
    expect(models.map(({ id }) => id).sort()).toEqual([
      "claude-sonnet-5",
      "gemini-3.8-flash",
      "gpt-6-sol",
    ]);
  });

  it("marks prompts as user requests, but not retries", async () => {
    putAuth();
    const scenario = [turn("", { fault: overloaded() }), "First.", "Second."];
    await using server = await startLoopbackServer({ scenario });
    putModels(server);
    await using session = await open("github-copilot", "gpt-6-sol");
    session.settings.override("retry.baseDelayMs", 1);
    await session.prompt("One");
    await session.prompt("Two");
    const initiators = server.requests.map(({ headers }) => headers["x-initiator"]);
    expect(initiators).toEqual(["user", "agent", "user"]);
  });

  it("sends requests to the address in its token, unless models.json names another", async () => {
    putAuth();
    await using session = await open("github-copilot", "gpt-6-sol");
    const { registry } = session.models;
    const found = await registry.find("github-copilot", "gpt-6-sol");
    if (found === undefined) throw new TypeError("no model");
    expect(await registry.requestAuth(found)).toMatchObject({
      baseUrl: "https://api.business.githubcopilot.com",
    });
    const auth = await registry.requestAuth({ ...found, baseUrl: "http://127.0.0.1:9" });
    expect(auth).not.toHaveProperty("baseUrl");
  });
});
