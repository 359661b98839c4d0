import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defaultFetch, HttpTransport } from "./http-transport.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const close of closing.splice(0)) await close();
});

/** Starts a server for the test that counts its connections. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  const seen = { connections: 0 };
  server.on("connection", () => {
    seen.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

describe("HttpTransport", () => {
  it("sends method, headers and body, and returns status, headers and body", async () => {
    const { url } = await serve(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      response.writeHead(418, "Teapot", { "x-answer": "yes" });
      response.end(`${request.method} ${request.headers["x-ask"]} ${body}`);
    });
    const { fetch } = new HttpTransport();
    const response = await fetch(url, {
      method: "POST",
      headers: { "X-Ask": "é".normalize("NFKD")[0] ?? "" },
      body: "bödy",
    });
    expect([response.status, response.statusText, response.ok]).toEqual([418, "Teapot", false]);
    expect(response.headers.get("X-Answer")).toBe("yes");
    expect(await response.text()).toBe("POST e bödy");
  });

  it("keeps a connection for the next request", async () => {
    const { url, seen } = await serve((_, response) => void response.end("{}"));
    const { fetch } = new HttpTransport();
    for (let count = 0; count < 3; count++) expect(await (await fetch(url)).json()).toEqual({});
    expect(seen.connections).toBe(1);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["identity", Buffer.from],
  ] as const)("reads a body compressed with %s", async (encoding, compress) => {
    const { url } = await serve((request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(compress(Buffer.from(String(request.headers["accept-encoding"]))));
    });
    const response = await new HttpTransport().fetch(url);
    expect(await response.text()).toBe("gzip, deflate, br");
  });

  it("fails like fetch when nobody listens", async () => {
    const { url } = await serve(() => {});
    for (const close of closing.splice(0)) await close();
    const failed = new HttpTransport().fetch(url);
    await expect(failed).rejects.toMatchObject({
      message: "fetch failed",
      cause: { code: "ECONNREFUSED" },
    });
    await expect(new HttpTransport().fetch("ftp://host.invalid/")).rejects.toThrow("fetch failed");
  });

  it("ends a request that is aborted before its reply", async () => {
    const controller = new AbortController();
    const { url } = await serve(() => controller.abort(new Error("enough")));
    const { fetch } = new HttpTransport();
    await expect(fetch(url, { signal: controller.signal })).rejects.toThrow("enough");
    await expect(fetch(url, { signal: controller.signal })).rejects.toThrow("enough");
  });

  it("ends a reply that is aborted, and its connection", async () => {
    const controller = new AbortController();
    let isClosed = false;
    const { url } = await serve((_, response) => {
      response.write("begun");
      response.on("close", () => {
        isClosed = true;
      });
    });
    const response = await new HttpTransport().fetch(url, { signal: controller.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("begun");
    const next = reader?.read();
    controller.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    await expect.poll(() => isClosed).toBe(true);
  });

  it("reports a truncated body", async () => {
    const { url } = await serve((_, response) => {
      response.write("begun");
      setImmediate(() => response.destroy());
    });
    const response = await new HttpTransport().fetch(url);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  it("closes the connection of a cancelled reply", async () => {
    let isClosed = false;
    const { url } = await serve((_, response) => {
      response.write("begun");
      response.on("close", () => {
        isClosed = true;
      });
    });
    const response = await new HttpTransport().fetch(url);
    await response.body?.cancel();
    await expect.poll(() => isClosed).toBe(true);
  });

  it("leaves bodies that are not text to the global fetch", async () => {
    const { url } = await serve(async (request, response) => {
      for await (const piece of request) response.write(piece);
      response.end();
    });
    const { fetch } = new HttpTransport();
    const sent = await fetch(url, { method: "POST", body: new URLSearchParams({ a: "1" }) });
    expect(await sent.text()).toBe("a=1");
    expect(await (await fetch(new Request(url, { method: "POST", body: "b" }))).text()).toBe("b");
  });

  it("prefers a global fetch that was replaced", () => {
    const transport = new HttpTransport();
    expect(defaultFetch(transport)).toBe(transport.fetch);
    const replaced = vi.fn();
    vi.stubGlobal("fetch", replaced);
    expect(defaultFetch(transport)).toBe(replaced);
  });
});
