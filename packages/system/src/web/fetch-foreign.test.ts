import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ForeignRequest } from "../base/foreign-request.ts";
import { createFetchForeign } from "./fetch-foreign.ts";
import type { ForeignAccess } from "./foreign-connection.ts";

/** Addresses that only this machine or its network should reach, in all their spellings. */
const literals4 = [
  ...[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "127.0.0.1.",
  ],
  ...["127.255.255.254", "0", "0.0.0.0", "0x0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "012.1"],
  ...[
    "100.64.0.1",
    "100.127.255.254",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "169.254.170.2",
  ],
  ...["172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1"],
  ...["192.168.0.1", "0xc0.0xa8.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9"],
  ...["224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "4294967295"],
  ...["１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "%31%32%37.0.0.1", "0X7F.0.0.1"],
];
const literals6 = [
  ...[
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
  ],
  ...["[::FFFF:10.0.0.1]", "[::ffff:8.8.8.8]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]"],
  ...[
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a00:1]",
    "[64:ff9b:0:0:0:0:c0a8:1]",
    "[0064:FF9B::169.254.169.254]",
  ],
  ...[
    "[64:ff9b:1::a00:1]",
    "[64:ff9b:1:ffff::127.0.0.1]",
    "[64:ff9b:0:1::8.8.8.8]",
    "[100::1]",
    "[100:0:0:1::1]",
  ],
  ...["[2001::1]", "[2001:0:7f00:1::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001:2::1]"],
  ...[
    "[2001:10::1]",
    "[2001:1::4]",
    "[2001:db8::1]",
    "[2002:7f00:1::1]",
    "[2002:a00:1::]",
    "[2002:808:808::1]",
  ],
  ...[
    "[3fff::1]",
    "[4000::1]",
    "[5f00::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
  ],
];
/** Names, and the addresses they resolve to. */
const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ["127.0.0.1"],
  "LOCALHOST.": ["::1"],
  "app.localhost": ["127.0.0.1"],
  "metadata.google.internal": ["169.254.169.254"],
  "router.example": ["192.168.1.1"],
  "mapped.example": ["::ffff:10.0.0.7"],
  "nat64.example": ["64:ff9b::a00:1"],
  "teredo.example": ["2001:0:7f00:1::1"],
  "six.example": ["2002:a00:1::1"],
  "mixed.example": ["93.184.215.14", "10.0.0.1"],
  "mixed6.example": ["93.184.215.14", "fd00::1"],
  "zone.example": ["fe80::1%eth0"],
  "zone-public.example": ["2606:4700::1%1"],
  "odd.example": ["not-an-address"],
};
const open: Readonly<Record<string, readonly string[]>> = {
  "public.example": ["93.184.215.14"],
  "public6.example": ["2606:4700::1111"],
};
const ways = [...literals4, ...literals6, ...Object.keys(names)];
const hops = ["127.0.0.1", "[::ffff:127.0.0.1]", "router.example", "169.254.169.254", "localhost"];
const statuses = [301, 302, 303, 307, 308];

let server: Server;
let answer: RequestListener;
let dialled: string[];
let lookups: string[];

beforeEach(async () => {
  dialled = [];
  lookups = [];
  answer = (_request, response) => void response.end("secret of the inside");
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const noGuard = { has: () => true };

function get(
  url: string,
  access: Partial<ForeignAccess> = {},
  request: Partial<ForeignRequest> = {},
) {
  const fetchForeign = createFetchForeign({
    allow: () => [],
    resolve: async (host) => {
      lookups.push(host);
      const all: Readonly<Record<string, readonly string[]>> = {
        ...open,
        ...names,
        "localhost.": ["::1"],
      };
      return all[host] ?? all[host.toUpperCase()] ?? [];
    },
    dial: (address) => {
      dialled.push(address);
      return connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
    },
    ...access,
  });
  const schemes = ["http:", "https:"];
  const limits = { accept: "*/*", maxBytes: 5 * 1024 * 1024, timeoutMs: 60_000 };
  return fetchForeign({ url, schemes, ...limits, ...request });
}

it("covers a hundred ways to internal addresses", () => {
  expect(ways.length + hops.length * statuses.length).toBeGreaterThanOrEqual(100);
});

describe.each(ways)("http://%s/", (host) => {
  it("is reached without the guard, and refused with it", async () => {
    const url = `http://${host}/`;
    const { body } = await get(url, { addresses: noGuard });
    expect(body.toString()).toBe("secret of the inside");
    expect(dialled).toHaveLength(1);
    dialled = [];
    await expect(get(url)).rejects.toMatchObject({
      isRefused: true,
      message: expect.stringContaining("is not an address on the public internet"),
    });
    expect(dialled).toEqual([]);
  });
});

describe.each(hops)("a redirect to %s", (host) => {
  it.each(statuses)("by %i is followed without the guard, and refused with it", async (status) => {
    answer = (request, response) => {
      const isOutside = request.headers.host === "public.example";
      if (!isOutside) return void response.end("secret of the inside");
      // Locations without a scheme count, too.
      const location = status === 302 ? `//${host}/` : `http://${host}/`;
      response.writeHead(status, { location }).end();
    };
    const { body } = await get("http://public.example/", { addresses: noGuard });
    expect(body.toString()).toBe("secret of the inside");
    dialled = [];
    await expect(get("http://public.example/")).rejects.toMatchObject({ isRefused: true });
    expect(dialled).toEqual(["93.184.215.14"]);
  });
});

describe("a name", () => {
  it("is looked up only once, and the connection goes to the checked address", async () => {
    let count = 0;
    const rebinding = async () => [count++ === 0 ? "93.184.215.14" : "127.0.0.1"];
    await get("http://rebinding.example/", { resolve: rebinding });
    expect(dialled).toEqual(["93.184.215.14"]);
    expect(count).toBe(1);
    // A redirect to the same name is checked again.
    count = 0;
    answer = (_request, response) => response.writeHead(302, { location: "/again" }).end();
    await expect(get("http://rebinding.example/", { resolve: rebinding })).rejects.toThrow(
      "rebinding.example is at 127.0.0.1",
    );
  });

  it("with public addresses of both kinds is reached, with its own name as Host", async () => {
    answer = (request, response) => void response.end(request.headers.host);
    for (const [host, addresses] of Object.entries(open)) {
      expect((await get(`http://${host}/`)).body.toString()).toBe(host);
      expect(dialled.splice(0)).toEqual(addresses);
    }
    for (const literal of [
      "1.1.1.1",
      "[2606:4700::1111]",
      "192.0.0.9",
      "[64:ff9b::101:101]",
      "[2001:4:112::1]",
    ]) {
      expect((await get(`http://${literal}/`)).status).toBe(200);
    }
  });

  it("tries the next address if one refuses", async () => {
    const resolve = async () => ["93.184.215.14", "93.184.215.15"];
    const dial = (address: string) => {
      dialled.push(address);
      const { port } = server.address() as AddressInfo;
      return connect({ host: "127.0.0.1", port: address.endsWith("14") ? 1 : port });
    };
    expect((await get("http://two.example/", { resolve, dial })).status).toBe(200);
    expect(dialled).toHaveLength(2);
  });

  it("may have any address if it is in web.allow, which allows no other names", async () => {
    const allow = () => ["router.example", "*.localhost", "10.0.0.1"];
    for (const url of ["http://router.example/", "http://app.localhost/", "http://10.0.0.1/"]) {
      expect((await get(url, { allow })).status).toBe(200);
    }
    const others = [
      "http://localhost/",
      "http://192.168.1.1/",
      "http://x.router.example/",
      "http://10.0.0.2/",
    ];
    for (const url of others) await expect(get(url, { allow })).rejects.toThrow();
  });
});

describe("an address", () => {
  it.each([
    ...[
      "file:///etc/passwd",
      "ftp://public.example/",
      "gopher://public.example/",
      "data:text/plain,x",
    ],
    ...[
      "javascript:alert(1)",
      "ws://public.example/",
      "unix:/run/docker.sock",
      "about:blank",
      "//public.example",
    ],
    ...[
      "http://user:secret@public.example/",
      "http://public.example@127.0.0.1/",
      "",
      "not an address",
    ],
  ])("%s is refused, including as a redirect", async (url) => {
    await expect(get(url)).rejects.toMatchObject({ isRefused: true });
    expect(dialled).toEqual([]);
    if (!/^[a-z]+:/.test(url)) return;
    answer = (_request, response) => response.writeHead(302, { location: url }).end();
    await expect(get("http://public.example/")).rejects.toMatchObject({ isRefused: true });
    expect(dialled).toEqual(["93.184.215.14"]);
  });

  it("that refusalOf refuses is not connected to, not even after a redirect", async () => {
    const refusalOf = ({ hostname }: URL) => (hostname === "public6.example" ? "no" : undefined);
    answer = (_request, response) =>
      response.writeHead(302, { location: "http://public6.example/" }).end();
    await expect(get("http://public.example/", {}, { refusalOf })).rejects.toThrow("no");
    expect(dialled).toEqual(["93.184.215.14"]);
  });

  it("that redirects endlessly is not followed forever", async () => {
    answer = (_request, response) => response.writeHead(302, { location: "/" }).end();
    await expect(get("http://public.example/")).rejects.toThrow("redirects too many times");
    expect(dialled).toHaveLength(6);
  });
});

describe("a proxy", () => {
  const proxyFor = () => new URL("http://me:word@proxy.example:3128");

  it("is used only for names in web.allow, whatever their addresses", async () => {
    const asked: string[] = [];
    server.on("connect", ({ url, headers }, socket) => {
      asked.push(`${url} ${headers["proxy-authorization"]}`);
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
    });
    const { body } = await get("http://public.example/", {
      proxyFor,
      allow: () => ["public.example"],
    });
    expect(body.toString()).toBe("hi");
    expect(asked).toEqual([`public.example:80 Basic ${btoa("me:word")}`]);
    expect(lookups).toEqual([]);
    dialled = [];
    for (const host of ["public.example", "localhost", "127.0.0.1", "[::1]"]) {
      await expect(get(`http://${host}/`, { proxyFor })).rejects.toMatchObject({ isRefused: true });
    }
    expect(dialled).toEqual([]);
  });

  it("is named in the error when it refuses", async () => {
    server.on("connect", (_request, socket) => socket.end("HTTP/1.1 407 Login\r\n\r\n"));
    const access = { proxyFor, allow: () => ["public.example"] };
    await expect(get("http://public.example/", access)).rejects.toThrow("HTTP 407");
  });
});

describe("an answer", () => {
  const url = "http://public.example/";

  it.each([
    ["gzip", gzipSync("plain")],
    ["br", brotliCompressSync("plain")],
    ["identity", Buffer.from("plain")],
  ])("in %s is decompressed", async (encoding, bytes) => {
    answer = (_request, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(bytes);
    expect((await get(url)).body.toString()).toBe("plain");
  });

  it.each([
    [
      "that says it is too large",
      (bytes: number) => ({ headers: { "content-length": bytes }, body: "" }),
    ],
    ["that is too large", (bytes: number) => ({ headers: {}, body: Buffer.alloc(bytes) })],
    [
      "that is a bomb",
      (bytes: number) => ({
        headers: { "content-encoding": "gzip" },
        body: gzipSync(Buffer.alloc(bytes)),
      }),
    ],
    [
      "that is a brotli bomb",
      (bytes: number) => ({
        headers: { "content-encoding": "br" },
        body: brotliCompressSync(Buffer.alloc(bytes)),
      }),
    ],
  ])("%s is refused", async (_title, make) => {
    answer = (_request, response) => {
      const { headers, body } = make(6 * 1024 * 1024);
      response.writeHead(200, headers).end(body);
    };
    await expect(get(url)).rejects.toThrow("it is larger than 5 MiB");
  });

  it("that never ends is cut off at the time limit, before and after its headers", async () => {
    const limits = { timeoutMs: 300 };
    for (const headers of [false, true]) {
      answer = (_request, response) => {
        if (headers) response.writeHead(200).write("a");
      };
      await expect(get(url, {}, limits)).rejects.toThrow("it took longer than 0.3 s");
    }
    const resolve = () => new Promise<never>(() => {});
    await expect(get(url, { resolve }, limits)).rejects.toThrow("it took longer");
  });

  it("is aborted by the signal of the call, with its reason", async () => {
    const ending = new AbortController();
    answer = () => ending.abort(new Error("aborted by the user"));
    await expect(get(url, {}, { signal: ending.signal })).rejects.toThrow("aborted by the user");
  });

  it.each([
    ["in an encoding that nobody asked for", { "content-encoding": "compress" }, "compress"],
    ["in two encodings", { "content-encoding": "gzip, gzip" }, "gzip, gzip"],
    ["that is damaged", { "content-encoding": "gzip" }, "header"],
  ])("%s is refused", async (_title, headers, text) => {
    answer = (_request, response) => response.writeHead(200, headers).end("plain");
    await expect(get(url)).rejects.toThrow(text);
  });

  it("that is not HTTP, or ends too early, is a failure", async () => {
    answer = (request) => void request.socket.end("SSH-2.0-OpenSSH\r\n");
    await expect(get(url)).rejects.toMatchObject({ isRefused: false });
    answer = (_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("a");
      response.destroy();
    };
    await expect(get(url)).rejects.toMatchObject({ isRefused: false });
  });

  it("gets no keys: the request contains only what a fetch needs", async () => {
    answer = (request, response) => void response.end(Object.keys(request.headers).sort().join());
    const { body } = await get("http://public.example/#part");
    expect(body.toString()).toBe("accept,accept-encoding,connection,host,user-agent");
  });
});
