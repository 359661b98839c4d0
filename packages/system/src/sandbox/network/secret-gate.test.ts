import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SecretProxy, VALUE } from "./__fixtures__/secret-proxy.ts";
import { createAuthority } from "./authority.ts";
import { openDoor } from "./open-door.ts";
import { SecretGate } from "./secret-gate.ts";
import { SessionSecrets } from "./session-secrets.ts";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

describe("the proxy of a sandbox with a secret", () => {
  it("replaces the placeholder by the value, and removes the value from the answer", async () => {
    const proxy = await SecretProxy.start();
    const answer = await proxy.request({ authorization: `Bearer ${proxy.placeholder}` });
    expect(proxy.reached.join()).toContain(`Bearer ${VALUE}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain(proxy.placeholder);
    expect(answer).not.toContain(VALUE);
  });

  it("replaces placeholders inside Basic credentials, and requests an unencoded answer", async () => {
    const proxy = await SecretProxy.start();
    const answer = await proxy.request({
      authorization: basic(`x:${proxy.placeholder}`),
      "accept-encoding": "gzip, br",
    });
    expect(proxy.reached.join()).toContain(basic(`x:${VALUE}`));
    expect(proxy.reached.join().toLowerCase()).toContain('"accept-encoding","identity"');
    expect(answer).toContain(basic(`x:${proxy.placeholder}`));
    expect(answer).not.toContain(basic(`x:${VALUE}`));
  });

  it.each([
    ["bearer", "authorization", `Bearer ${VALUE}`],
    ["basic", "authorization", basic(VALUE)],
    ["header:X-Token", "x-token", VALUE],
  ])("sets the header for %s if there is none", async (as, name, value) => {
    const proxy = await SecretProxy.start({ secret: { as } });
    await proxy.request();
    expect(proxy.reached[0]?.toLowerCase()).toContain(
      JSON.stringify([name, value]).slice(1, -1).toLowerCase(),
    );
    await proxy.request({ [name]: "mine" });
    expect(proxy.reached.at(-1)).toContain("mine");
    expect(proxy.reached.at(-1)).not.toContain(value);
  });

  it("passes bodies and long answers on", async () => {
    const long = "x".repeat(300_000);
    const proxy = await SecretProxy.start({
      answer: (_request, response) => void response.end(`${long}${VALUE}${long}`),
    });
    const body = `{"a": "${proxy.placeholder}"}`;
    const headers = { authorization: proxy.placeholder };
    const answer = await proxy.request(headers, { method: "POST", body });
    expect(proxy.reached.slice(1).join("")).toBe(body);
    expect(answer.split("x").length).toBeGreaterThan(600_000);
    expect(answer).toContain(`x${proxy.placeholder}x`);
    expect(answer).not.toContain(VALUE);
  });

  it("reads a value again, once, if the server refuses it", async () => {
    let reads = 0;
    const proxy = await SecretProxy.start({
      value: () => `value-number-${++reads}`,
      answer: (request, response) => {
        const isNew = request.headers.authorization === "Bearer value-number-2";
        response.writeHead(isNew ? 200 : 401).end(request.headers.authorization);
      },
    });
    const headers = { authorization: `Bearer ${proxy.placeholder}` };
    const answer = await proxy.request(headers, { method: "POST", body: "hello" });
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).not.toContain("value-number");
    expect(proxy.reached.filter((text) => text === "hello")).toHaveLength(2);
    expect(proxy.reads()).toBe(2);
  });

  it("refuses plain HTTP, other methods and other paths with an explanation, and reports it", async () => {
    const proxy = await SecretProxy.start({ secret: { methods: ["GET"], paths: ["/api/**"] } });
    expect(await proxy.request({}, { path: "/api/x" })).toMatch(/^HTTP\/1\.1 200/);
    expect(await proxy.request({}, { path: "/x" })).toMatch(/^HTTP\/1\.1 403/);
    expect(await proxy.request({}, { path: "/api/x", method: "POST" })).toMatch(/^HTTP\/1\.1 403/);
    expect(await proxy.request({}, { host: "other" })).toMatch(/^HTTP\/1\.1 421/);
    expect(proxy.notes).toHaveLength(3);
    expect(proxy.reached).toHaveLength(1);
  });

  it("reveals nothing if the value cannot be read", async () => {
    const proxy = await SecretProxy.start({
      value: () => {
        throw new Error(`no ${VALUE}`);
      },
    });
    const answer = await proxy.request({ authorization: proxy.placeholder });
    expect(answer).toMatch(/^HTTP\/1\.1 502/);
    expect(answer).toContain("The value of the secret TOKEN cannot be read.");
    expect(answer).not.toContain(VALUE);
  });
});

it("serves only clients with its password if the sandbox shares the machine's network", async () => {
  const authority = await createAuthority(["localhost"]);
  const sources = { environment: {}, runCommand: async () => "" };
  const secrets = new SessionSecrets([{ env: "T", value: VALUE, hosts: ["localhost:9"] }], sources);
  const gate = new SecretGate({ secrets, authority, closedPorts: () => [] });
  const rules = { domains: [], closedPorts: () => [], secrets: gate };
  const door = await openDoor({ folder: "", isShared: true }, rules);
  onTestFinished(() => door.close());
  const { username, password, port } = new URL(door.variables.https_proxy ?? "");
  const said = Buffer.from(`${username}:${password}`).toString("base64");
  const ask = async (header: string) => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`CONNECT localhost:9 HTTP/1.1\r\nhost: localhost:9\r\n${header}\r\n`);
    const [chunk] = await once(socket, "data");
    socket.destroy();
    return String(chunk);
  };
  expect(await ask("")).toMatch(/^HTTP\/1\.1 407/);
  expect(await ask("Proxy-Authorization: Basic dGF1Og==\r\n")).toMatch(/^HTTP\/1\.1 407/);
  expect(await ask(`Proxy-Authorization: Basic ${said}\r\n`)).toMatch(/^HTTP\/1\.1 200/);
});

describe("a protocol that the proxy does not support", () => {
  it.each(["websocket", "h2c"])(
    "is refused with an explanation: an upgrade to %s",
    async (protocol) => {
      const proxy = await SecretProxy.start();
      const head = `GET / HTTP/1.1\r\nhost: localhost:${proxy.serverPort}\r\n`;
      const answer = await proxy.raw(`${head}connection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 501[\s\S]*no WebSocket and no HTTP\/2/);
      expect(proxy.notes.join()).toContain("501");
    },
  );

  it("is refused with an explanation: HTTP/2 from the start", async () => {
    const proxy = await SecretProxy.start();
    expect(await proxy.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).toContain("takes HTTP/1.1 here");
    await expect(proxy.raw("", { alpn: ["h2"] })).rejects.toThrow(/alert|protocol|closed|reset/i);
  });

  it("does not trust a server with a certificate for another host", async () => {
    const proxy = await SecretProxy.start({ secret: { hosts: ["localhost:1"] } });
    await expect(proxy.tunnel("localhost:2")).rejects.toThrow();
  });
});
