import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { proxiedFetch, proxyFinder } from "./proxied-fetch.ts";

let target: Server;
let proxy: Server;
/** The connections requested from the proxy. */
let asked: string[];
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeEach(async () => {
  asked = [];
  target = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`${request.method} ${request.url} ${request.headers["x-key"] ?? "-"} ${body}`);
  });
  proxy = createServer();
  proxy.on("connect", ({ url = "" }, client) => {
    asked.push(url);
    const server = connect(portOf(target), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      server.pipe(client).pipe(server);
    });
    server.on("error", () => client.destroy());
    client.on("error", () => server.destroy());
  });
  await Promise.all(
    [target, proxy].map((server) => once(server.listen(0, "127.0.0.1"), "listening")),
  );
});
afterEach(() => {
  for (const server of [target, proxy]) {
    server.closeAllConnections();
    server.close();
  }
});

/** The response from `url`, fetched with the user's settings. */
async function get(
  url: string,
  { environment = {}, setting }: { environment?: Record<string, string>; setting?: string },
): Promise<string> {
  const fetch = await proxiedFetch({ environment, setting: () => setting })();
  const response = await (fetch ?? globalThis.fetch)(url, {
    method: "POST",
    body: "hello",
    headers: new Headers({ "x-key": "k" }),
  });
  return response.text();
}

const proxyUrl = () => `http://127.0.0.1:${portOf(proxy)}`;

describe("a request", () => {
  it("goes through the proxy of the setting, with its method, headers and body", async () => {
    const text = await get("http://model.invalid/v1", { setting: proxyUrl() });
    expect(text).toBe("POST /v1 k hello");
    expect(asked).toEqual(["model.invalid:80"]);
  });

  it.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])(
    "goes through %s",
    async (name) => {
      const address = `127.0.0.1:${portOf(proxy)}`;
      await get("http://model.invalid/v1", { environment: { [name]: address } });
      expect(asked).toEqual(["model.invalid:80"]);
    },
  );

  it("goes through the setting's proxy rather than the environment's", async () => {
    const environment = { HTTP_PROXY: "http://127.0.0.1:9" };
    await get("http://model.invalid/v1", { environment, setting: proxyUrl() });
    expect(asked).toHaveLength(1);
  });

  it("to a server on this machine bypasses the proxy", async () => {
    const url = `http://127.0.0.1:${portOf(target)}/here`;
    expect(await get(url, { setting: proxyUrl() })).toBe("POST /here k hello");
    expect(asked).toEqual([]);
  });

  it.each(["127.0.0.2", "127.9.8.7", "[::1]", "localhost", "model.localhost"])(
    "to %s goes to this machine directly",
    async (host) => {
      // Not every machine has a listener there.
      await get(`http://${host}:${portOf(target)}/`, { setting: proxyUrl() }).catch(() => "");
      expect(asked).toEqual([]);
    },
  );

  it.each(["model.invalid", ".invalid", "other, invalid", "*"])(
    "to a host of NO_PROXY=%s goes there directly",
    async (list) => {
      const environment = { HTTP_PROXY: proxyUrl(), NO_PROXY: list };
      await expect(get("http://model.invalid/v1", { environment })).rejects.toThrow("fetch failed");
      expect(asked).toEqual([]);
    },
  );

  it("that is a Request arrives complete", async () => {
    const fetch = await proxiedFetch({ environment: {}, setting: proxyUrl })();
    const request = new Request("http://model.invalid/r", { method: "PUT", body: "whole" });
    expect(await (await fetch?.(request))?.text()).toBe("PUT /r - whole");
  });
});

describe("the user's proxy settings", () => {
  it("without a proxy yield no fetch", async () => {
    const environment = { NO_PROXY: "x", HTTP_PROXY: " " };
    expect(await proxiedFetch({ environment, setting: () => undefined })()).toBeUndefined();
  });

  it.each([
    ["socks5://proxy:1080", "httpProxy"],
    ["http://", "httpProxy"],
  ])("are refused by name for %s", async (setting, name) => {
    const asking = proxiedFetch({ environment: {}, setting: () => setting })();
    await expect(asking).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining(name),
    });
  });

  it("keep their fetch as long as they stay the same", async () => {
    let setting = proxyUrl();
    const fetch = proxiedFetch({ environment: {}, setting: () => setting });
    const first = await fetch();
    expect(await fetch()).toBe(first);
    setting = "http://127.0.0.1:9";
    expect(await fetch()).not.toBe(first);
  });
});

it.each([
  ["https://a.test/", { HTTPS_PROXY: "proxy:3128" }, "http://proxy:3128/"],
  ["http://a.test/", { HTTPS_PROXY: "proxy:3128" }, undefined],
  ["http://a.test/", { ALL_PROXY: "http://proxy" }, "http://proxy/"],
  ["http://localhost:8080/", { ALL_PROXY: "http://proxy" }, undefined],
  ["http://a.test/", { ALL_PROXY: "http://proxy", NO_PROXY: "a.test" }, undefined],
  ["http://www.A.test./", { ALL_PROXY: "http://proxy", NO_PROXY: ".a.test" }, undefined],
  ["http://www.a.test/", { ALL_PROXY: "http://proxy", NO_PROXY: "b.test, *.a.test" }, undefined],
  ["http://a.test/", { ALL_PROXY: "http://proxy", NO_PROXY: "a.test:8080" }, "http://proxy/"],
  ["http://a.test:8080/", { ALL_PROXY: "http://proxy", NO_PROXY: "a.test:8080" }, undefined],
  ["http://xa.test/", { ALL_PROXY: "http://proxy", NO_PROXY: "a.test" }, "http://proxy/"],
  ["http://a.test/", { ALL_PROXY: "http://proxy", NO_PROXY: "*" }, undefined],
] as const)("for %s and %j the proxy is %s", (url, environment, proxy) => {
  const find = proxyFinder({ environment, setting: () => undefined });
  expect(find(new URL(url))?.href).toBe(proxy);
});
