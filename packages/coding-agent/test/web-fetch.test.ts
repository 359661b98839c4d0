import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestSession } from "../src/create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../src/create/options/session-options.ts";

type Settings = Parameters<typeof SettingsStore.inMemory>[0];

const article = `<!doctype html><html><head><title>Fetch &amp; find</title><meta charset="utf-8"></head><body>
<nav><a href="/home">Home</a><a href="/login">Log in</a></nav>
<article><h1>How to fetch</h1><p>A page has a main part, and what is around it. The main part is what a reader wants,
so it is what a model gets. See <a href="next?page=2">the next page</a>, which has more about it.</p>
<pre><code class="language-ts">const a = 1;\n  b();</code></pre>
<table><tr><th>Name</th><th>Use</th></tr><tr><td>a|b</td><td>none</td></tr></table></article>
<script>alert("no")</script><footer>Imprint</footer></body></html>`;

let server: Server;
let answer: RequestListener;
let requests: string[];

beforeEach(async () => {
  requests = [];
  answer = (_request, response) =>
    void response.setHeader("content-type", "text/html").end(article);
  server = createServer((request, response) => {
    requests.push(`${request.headers.host?.split(":")[0]}${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;
const at = (host: string, path = "/") => `http://${host}:${port()}${path}`;
const here = { "web.fetch": true, "web.allow": ["127.0.0.1", "localhost"] } as const;

/** The result of one call by the model. */
async function fetched(
  args: Record<string, unknown>,
  settings: Settings = here,
  options: Partial<CreateAgentSessionOptions> = {},
): Promise<ToolResultMessage & { text: string }> {
  const { session } = await createTestSession([turn(toolCall("web_fetch", args)), "done"], {
    settings: SettingsStore.inMemory(settings),
    permissions: { mode: "all" },
    ...options,
  });
  await session.prompt("go");
  const result = session.messages.find(({ role }) => role === "toolResult") as ToolResultMessage;
  return { ...result, text: contentText(result.content, "\n") };
}

describe("web_fetch", () => {
  it("is offered only if tools or web.fetch enable it, and otherwise adds nothing to requests", async () => {
    const offered: string[][] = [];
    const ask = async (settings: Settings, options: Partial<CreateAgentSessionOptions> = {}) => {
      const { session } = await createTestSession(
        (request) => {
          offered.push((request.tools ?? []).map(({ name }) => name));
          return "ok";
        },
        { settings: SettingsStore.inMemory(settings), ...options },
      );
      await session.prompt("go");
      return offered.at(-1)?.includes("web_fetch");
    };
    expect(await ask({})).toBe(false);
    expect(await ask({}, { tools: { only: ["*"] } })).toBe(false);
    expect(await ask({}, { tools: { only: ["+web_fetch"] } })).toBe(true);
    expect(await ask({}, { tools: { only: ["read", "web_fetch"] } })).toBe(true);
    expect(await ask({ defaultTools: ["+web_fetch"] })).toBe(true);
    expect(await ask({ "web.fetch": true })).toBe(true);
    expect(await ask({ "web.fetch": true }, { tools: { only: ["read"] } })).toBe(false);
    expect(await ask({ "web.fetch": true }, { tools: { exclude: ["web_fetch"] } })).toBe(false);
    // All other tools are the same, in the same order.
    expect(offered[5]?.filter((name) => name !== "web_fetch")).toEqual(offered[0]);
  });

  it("shows the main part of a page as Markdown, with absolute links", async () => {
    const { text, details } = await fetched({ url: at("127.0.0.1", "/docs/a") });
    expect(text).toMatch(/^Title: Fetch & find\n\n/);
    expect(text).toContain(`[the next page](${at("127.0.0.1", "/docs/next?page=2")})`);
    expect(text).toContain("```ts\nconst a = 1;\n  b();\n```");
    expect(text).toContain("| Name | Use |\n| --- | --- |\n| a\\|b | none |");
    for (const noise of ["Log in", "alert", "Imprint"]) expect(text).not.toContain(noise);
    expect(details).toMatchObject({ url: at("127.0.0.1", "/docs/a"), status: 200 });
  });

  it.each([
    ["application/json", '{"a": "<b>"}', '{"a": "<b>"}'],
    ["application/vnd.api+json; charset=utf-8", "[1]", "[1]"],
    ["text/plain; charset=iso-8859-1", Buffer.from("gr\xFCn", "latin1"), "grün"],
    ["text/plain; charset=no-such", "grün", "grün"],
    ["text/html", Buffer.from("<meta charset=windows-1252><p>f\xFCr", "latin1"), "für"],
    ["text/plain", Buffer.from("\xFF\xFEh\0i\0", "latin1"), "hi"],
    ["", "plain words", "plain words"],
    ["", "<!doctype html><title>T</title><p>words", "Title: T\n\nwords"],
    ["text/html", "", "(empty)"],
  ])("decodes %s correctly", async (type, body, text) => {
    answer = (_request, response) => {
      if (type !== "") response.setHeader("content-type", type);
      response.end(body);
    };
    expect((await fetched({ url: at("127.0.0.1") })).text).toBe(text);
  });

  it.each(["image/png", "application/octet-stream"])("refuses %s", async (type) => {
    answer = (_request, response) => void response.setHeader("content-type", type).end("\0\x01");
    const { isError, text } = await fetched({ url: at("127.0.0.1") });
    expect(isError).toBe(true);
    expect(text).toContain(`is ${type}, not a page, text or PDF`);
  });

  it("truncates after maxTokens, and says so", async () => {
    answer = (_request, response) =>
      void response.setHeader("content-type", "text/plain").end("word ".repeat(20_000));
    const { text } = await fetched({ url: at("127.0.0.1"), maxTokens: 10 });
    expect(text).toBe(
      `${"word ".repeat(8)}\n\n[Cut after about 10 of 25000 tokens. Use maxTokens to see more.]`,
    );
    expect((await fetched({ url: at("127.0.0.1") })).text.length).toBeLessThan(41_000);
  });

  it("fails with the server's text on an HTTP error", async () => {
    answer = (_request, response) => {
      response.writeHead(401, { "content-type": "text/html" });
      response.end("<title>Sign in</title><p>Please sign in.");
    };
    const { isError, text } = await fetched({ url: at("127.0.0.1") });
    expect(isError).toBe(true);
    expect(text).toContain("answers HTTP 401.");
    expect(text).toContain("Please sign in.");
  });

  it("reports where a redirect led", async () => {
    answer = (request, response) => {
      if (request.url !== "/login") response.writeHead(302, { location: "/login" }).end();
      else response.setHeader("content-type", "text/plain").end("a login page");
    };
    const { text } = await fetched({ url: at("127.0.0.1", "/private") });
    expect(text).toBe(`URL: ${at("127.0.0.1", "/login")}\na login page`);
  });

  it("reaches no private address unless web.allow names it", async () => {
    const settings = { "web.fetch": true } as const;
    for (const host of ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]", "0"]) {
      const { isError, text } = await fetched({ url: at(host) }, settings);
      expect(isError).toBe(true);
      expect(text).toContain("web.allow");
    }
    expect(requests).toEqual([]);
  });

  it("uses no proxy except for names in web.allow, even with one in the environment", async () => {
    const environment = { PATH: process.env.PATH, HTTP_PROXY: at("127.0.0.1") };
    const url = "http://public.example/";
    const { text } = await fetched({ url }, { "web.fetch": true }, { environment });
    expect(text).toContain("where its address cannot be checked");
    expect(requests).toEqual([]);
  });
});

describe("the sandbox's network", () => {
  it.each([
    ["off", "the sandbox is without a network"],
    [["example.com", "*.example.org"], "the sandbox does not let 127.0.0.1 be reached"],
  ] as const)("%s applies to web_fetch", async (network, reason) => {
    const sandbox = { mode: "workspace", network, whenUnavailable: "run" } as const;
    const { text } = await fetched({ url: at("127.0.0.1") }, here, { sandbox });
    expect(text).toContain(reason);
    expect(requests).toEqual([]);
  });

  it("applies after a redirect, and allows the hosts that it names", async () => {
    const sandbox = { mode: "workspace", network: ["localhost"], whenUnavailable: "run" } as const;
    const read = await fetched({ url: at("localhost") }, here, { sandbox });
    expect(read.isError).toBe(false);
    answer = (_request, response) => response.writeHead(302, { location: at("127.0.0.1") }).end();
    const { text } = await fetched({ url: at("localhost") }, here, { sandbox });
    expect(text).toContain("the sandbox does not let 127.0.0.1 be reached");
    expect(requests.filter((each) => each.startsWith("127"))).toEqual([]);
  });
});

describe("permissions for web_fetch", () => {
  const rule = (match: string, action: "allow" | "deny" | "ask") => ({
    tool: "web_fetch",
    match,
    action,
  });

  it.each([
    ["localhost", "http://LOCALHOST.:PORT/"],
    ["127.0.0.1", "http://0x7f.1:PORT/"],
    ["*", "http://localhost:PORT/"],
  ])("match a deny rule for %s to the URL %s", async (match, url) => {
    const permissions = { mode: "all", rules: [rule(match, "deny")] } as const;
    const { isError } = await fetched({ url: url.replace("PORT", `${port()}`) }, here, {
      permissions,
    });
    expect(isError).toBe(true);
    expect(requests).toEqual([]);
  });

  it("ask before a host that no rule allows, and suggest a rule for it", async () => {
    const asked: unknown[] = [];
    const options: Partial<CreateAgentSessionOptions> = {
      permissions: { mode: "ask", rules: [rule("127.0.0.1", "allow")] },
      approve: async (request) => {
        asked.push(request.title, request.suggestions);
        return { decision: "allow" };
      },
    };
    expect((await fetched({ url: at("127.0.0.1") }, here, options)).isError).toBe(false);
    expect(asked).toEqual([]);
    expect((await fetched({ url: at("localhost") }, here, options)).isError).toBe(false);
    expect(asked).toEqual([`Allow web_fetch: ${at("localhost")}?`, [rule("localhost", "allow")]]);
  });

  it("apply after a redirect: another host needs a rule or its own call", async () => {
    const moving = (target: string) => {
      answer = (request, response) => {
        const isFirst = request.headers.host?.startsWith("localhost") === true;
        if (isFirst) response.writeHead(302, { location: at(target) }).end();
        else response.setHeader("content-type", "text/plain").end("there");
      };
    };
    moving("127.0.0.1");
    const denied = { mode: "all", rules: [rule("127.0.0.1", "deny")] } as const;
    const refused = await fetched({ url: at("localhost") }, here, { permissions: denied });
    expect(refused.text).toContain("the permissions do not let web_fetch go to that host");
    const asking: Partial<CreateAgentSessionOptions> = {
      permissions: { mode: "ask" },
      approve: async () => ({ decision: "allow" }),
    };
    const { text } = await fetched({ url: at("localhost") }, here, asking);
    expect(text).toContain(`call web_fetch with that address`);
    expect(requests.filter((each) => each.startsWith("127"))).toEqual([]);
    expect((await fetched({ url: at("localhost") })).text).toContain("there");
  });

  it("do not treat it as read-only", async () => {
    const { isError } = await fetched({ url: at("127.0.0.1") }, here, {
      permissions: { mode: "readOnly" },
    });
    expect(isError).toBe(true);
    expect(requests).toEqual([]);
  });
});

describe("an image address in a prompt", () => {
  it("is not fetched from a private address", async () => {
    const { session } = await createTestSession(["ok"]);
    for (const host of ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "0x7f.1"]) {
      const source = { type: "url" as const, url: `https://${host}:${port()}/a.png` };
      const submitted = session.submit("look", { images: [{ type: "image", source }] });
      await expect(submitted).rejects.toThrow("is not an address on the public internet");
    }
    expect(requests).toEqual([]);
  });
});
