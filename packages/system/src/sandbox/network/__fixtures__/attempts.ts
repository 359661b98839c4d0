import { gzipSync } from "node:zlib";
import type { SandboxSecret } from "../../policy/secret-settings.ts";
import type { Rule } from "./mutant.ts";
import { type Answer, conversation, echo, type SecretProxy, VALUE } from "./secret-proxy.ts";

/** One way to get at the value, and the rule that prevents it. */
export interface Attempt {
  readonly title: string;
  readonly rule: Rule;
  readonly secret?: Partial<SandboxSecret>;
  readonly answer?: Answer;
  /** Everything that the attacker sees; the attempt succeeds if that contains the value. */
  readonly run: (proxy: SecretProxy) => Promise<string>;
}

const rules = {
  bodies: {
    file: "secret-gate.ts",
    from: ".pipe(scrubStream(replacements))",
    to: "",
  },
  borders: { file: "scrub.ts", from: "if (needles.some(isBeginning)) return count;", to: "" },
  headers: { file: "secret-gate.ts", from: /headers\.push\(name, scrubText\(value, .*\)\);/, to: "headers.push(name, value);" },
  headerNames: {
    file: "secret-gate.ts",
    from: "if (scrubText(name, replacements()) !== name) continue;",
    to: "",
  },
  statusText: {
    file: "secret-gate.ts",
    from: "response.writeHead(statusCode, headers);",
    to: "response.writeHead(statusCode, found.statusMessage, headers);",
  },
  basic: { file: "secret-request.ts", from: /secrets\.hide\([^;]*\);/, to: "" },
  encodings: {
    file: "secret-gate.ts",
    from: 'encoding.toLowerCase() !== "identity" || ',
    to: "",
  },
  parts: { file: "secret-gate.ts", from: " || statusCode === 206", to: "" },
  ranges: { file: "secret-request.ts", from: '"range", "if-range", ', to: "" },
  hostNames: { file: "secret-request.ts", from: "if (!isSame ||", to: "if (" },
  targets: { file: "secret-request.ts", from: /\|\| !\/\^\(\?:\\\/\|\\\*\$\)\/\.test\(.*?\)\)/, to: ")" },
  paths: { file: "secret-request.ts", from: "return paths === undefined ||", to: "return true ||" },
  decoding: { file: "secret-request.ts", from: "decoded = decodeURIComponent(path);", to: "decoded = path;" },
  parameters: { file: "secret-request.ts", from: 'decoded.replace(/;[^/]*/g, "")', to: "decoded" },
  dots: { file: "secret-request.ts", from: 'if (part === "..") parts.pop();\n    else if', to: "if" },
  controls: { file: "secret-request.ts", from: "if (/[\\\\\\x00-\\x1f\\x7f]/.test(path)) return undefined;", to: "" },
  methods: {
    file: "secret-request.ts",
    from: /if \(methods\?\.some\(.*?\) === false\) return false;/,
    to: "",
  },
  plain: { file: "proxy.ts", from: "if (rules.secrets?.isNamed(hostOf(target))) {", to: "if (false) {" },
  sni: { file: "secret-gate.ts", from: "plainName(name) === host ?", to: "true ?" },
  urls: {
    file: "secret-gate.ts",
    from: "path: request.url,",
    to: 'path: request.url?.replaceAll(held[0]?.placeholder ?? "-", secrets.replacements[0]?.value ?? ""),',
  },
} satisfies Record<string, Rule>;

/** The headers of a request with the placeholder. */
const withToken = ({ placeholder }: SecretProxy) => ({
  authorization: `Bearer ${placeholder}`,
  "x-token": placeholder,
});
const valueIn = (text: string): Answer => (_request, response) => void response.end(text);

/** What a server received, for attempts to send it a value that is not meant for it. */
const whatReached = async (proxy: SecretProxy, talk: () => Promise<unknown>): Promise<string> => {
  await talk().catch(() => undefined);
  return proxy.reached.join("\n");
};

function echoes(): Attempt[] {
  const bodies: Record<string, string> = {
    alone: VALUE,
    "in JSON": JSON.stringify({ token: VALUE }),
    twice: `${VALUE}${VALUE}`,
    "after its own beginning": `${VALUE.slice(0, 9)}${VALUE}`,
    "behind many bytes": `${"x".repeat(70_000)}${VALUE}`,
  };
  const whole = Object.entries(bodies).map(([where, text]) => ({
    title: `a server that says it ${where}`,
    rule: rules.bodies,
    answer: valueIn(text),
    run: (proxy: SecretProxy) => proxy.request(withToken(proxy)),
  }));
  const split = [1, 2, 5, 11, VALUE.length - 1].map((at) => ({
    title: `a server that says it in two chunks, cut at ${at}`,
    rule: rules.borders,
    answer: ((_request, response) => {
      response.write(VALUE.slice(0, at));
      setTimeout(() => response.end(VALUE.slice(at)), 30);
    }) as Answer,
    run: async (proxy: SecretProxy) => unchunked(await proxy.request(withToken(proxy))),
  }));
  const headers = ["x-echo", "location", "set-cookie", "www-authenticate", "etag", "link"];
  const named = headers.map((name) => ({
    title: `a server that says it in ${name}`,
    rule: rules.headers,
    answer: ((_request, response) => {
      response.writeHead(name === "location" ? 302 : 200, { [name]: `a ${VALUE}` }).end();
    }) as Answer,
    run: (proxy: SecretProxy) => proxy.request(withToken(proxy)),
  }));
  return [
    ...whole,
    ...split,
    ...named,
    {
      title: "a server that names a header so",
      rule: rules.headerNames,
      answer: (_request, response) => void response.writeHead(200, { [VALUE]: "1" }).end(),
      run: (proxy) => proxy.request(withToken(proxy)),
    },
    {
      title: "a server that says it instead of OK",
      rule: rules.statusText,
      answer: (_request, response) => void response.writeHead(200, VALUE).end(),
      run: (proxy) => proxy.request(withToken(proxy)),
    },
    ...["bearer", "header:x-token"].map((as) => ({
      title: `an echo of what ${as} set`,
      rule: rules.bodies,
      secret: { as },
      answer: ((request, response) => {
        response.end(`${request.headers.authorization} ${request.headers["x-token"]}`);
      }) as Answer,
      run: (proxy: SecretProxy) => proxy.request(),
    })),
    {
      title: "an echo of Basic, decoded by the attacker",
      rule: rules.basic,
      run: async (proxy) => {
        const encoded = Buffer.from(`x:${proxy.placeholder}`).toString("base64");
        const answer = await proxy.request({ authorization: `Basic ${encoded}` });
        const [, said = ""] = /Basic ([\w+/=]+)/.exec(answer) ?? [];
        return Buffer.from(said, "base64").toString();
      },
    },
  ];
}

function encodings(): Attempt[] {
  const compressed = (encoding: string, bytes: Buffer): Answer => (_request, response) => {
    response.writeHead(200, { "content-encoding": encoding }).end(bytes);
  };
  const reversed = Buffer.from([...VALUE].reverse().join(""));
  return [
    ...["gzip", "GZIP", "x-gzip", "identity, gzip", "deflate", "br", "zstd", "rot13"].map(
      (encoding) => ({
        title: `an answer in ${encoding}`,
        rule: rules.encodings,
        answer: compressed(encoding, encoding.toLowerCase().includes("gzip") ? gzipSync(VALUE) : reversed),
        run: async (proxy: SecretProxy) => {
          const answer = await proxy.request(withToken(proxy));
          return answer.startsWith("HTTP/1.1 200") ? VALUE : answer;
        },
      }),
    ),
    {
      title: "an answer in parts that was not asked for",
      rule: rules.parts,
      answer: (_request, response) => {
        response.writeHead(206, { "content-range": "bytes 0-9/23" }).end(VALUE.slice(0, 10));
      },
      run: async (proxy) => ((await proxy.request(withToken(proxy))).includes(VALUE.slice(0, 10)) ? VALUE : ""),
    },
    ...["bytes=0-9", "bytes=-5", "bytes=3-"].map((range) => ({
      title: `a question for ${range} of an echo`,
      rule: rules.ranges,
      answer: ((request, response) => {
        response.end(request.headers.range === undefined ? "whole" : VALUE.slice(0, 10));
      }) as Answer,
      run: async (proxy: SecretProxy) =>
        (await proxy.request({ ...withToken(proxy), range })).includes(VALUE.slice(0, 10)) ? VALUE : "",
    })),
  ];
}

function hosts(): Attempt[] {
  const wrong = ["evil.example", "localhost.evil.example", "evil@localhost", "localhost", "127.0.0.1", ""];
  const otherHost = wrong.map((host) => ({
    title: `another Host: ${host || "(empty)"}`,
    rule: rules.hostNames,
    run: (proxy: SecretProxy) =>
      whatReached(proxy, () => proxy.request(withToken(proxy), { host })),
  }));
  const raw = (title: string, rule: Rule, text: (proxy: SecretProxy) => string): Attempt => ({
    title,
    rule,
    run: (proxy) => whatReached(proxy, () => proxy.raw(text(proxy))),
  });
  const own = (proxy: SecretProxy) => `host: localhost:${proxy.serverPort}\r\n`;
  const end = "connection: close\r\n\r\n";
  return [
    ...otherHost,
    raw("a second Host", rules.hostNames, (proxy) =>
      `GET / HTTP/1.1\r\n${own(proxy)}host: evil\r\nx-token: ${proxy.placeholder}\r\n${end}`),
    raw("an address instead of a path", rules.targets, (proxy) =>
      `GET https://evil.example/ HTTP/1.1\r\n${own(proxy)}x-token: ${proxy.placeholder}\r\n${end}`),
    raw("a request that is hidden behind a length", rules.hostNames, (proxy) => {
      const second = `GET /second HTTP/1.1\r\nhost: evil\r\nx-token: ${proxy.placeholder}\r\n${end}`;
      return `POST / HTTP/1.1\r\n${own(proxy)}content-length: 0\r\n\r\n${second}`;
    }),
    {
      title: "plain HTTP to the host",
      rule: rules.plain,
      run: async (proxy) => {
        const socket = await import("node:net").then(({ connect }) => connect(proxy.port, "127.0.0.1"));
        const answer = await conversation(
          socket,
          `GET http://localhost:${proxy.serverPort}/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
        );
        // Anyone on the network path can read an unencrypted request.
        return answer.startsWith("HTTP/1.1 403") ? "" : VALUE;
      },
    },
    ...["evil.example", "localhost.evil.example", "sub.localhost"].map((servername) => ({
      title: `another name in TLS: ${servername}`,
      rule: rules.sni,
      run: (proxy: SecretProxy) =>
        whatReached(proxy, () =>
          proxy.raw(`GET / HTTP/1.1\r\n${own(proxy)}x-token: ${proxy.placeholder}\r\n${end}`, { servername }),
        ),
    })),
  ];
}

function places(): Attempt[] {
  const outside = [
    "/admin",
    "/api/../admin",
    "/api/x/../../admin",
    "//admin",
    "/",
    "/API/x",
    "/apix",
  ];
  const encoded = ["/api/%2e%2e/admin", "/api/..%2fadmin", "/api/%252e%252e/admin", "/api/%25252e%25252e/admin"];
  const secret = { paths: ["/api/**"] };
  const at = (path: string, rule: Rule): Attempt => ({
    title: `the path ${path}`,
    rule,
    secret,
    run: (proxy) => whatReached(proxy, () => proxy.request(withToken(proxy), { path })),
  });
  return [
    ...outside.map((path) => at(path, path.includes("..") ? rules.dots : rules.paths)),
    ...encoded.map((path) => at(path, rules.decoding)),
    at("/api/..;/admin", rules.parameters),
    at("/api/..;a=b/admin", rules.parameters),
    at("/api/..\\admin", rules.controls),
    at("/api/%00/../x", rules.controls),
    ...["POST", "PUT", "DELETE", "PATCH", "OPTIONS"].map((method) => ({
      title: `the method ${method}`,
      rule: rules.methods,
      secret: { methods: ["GET"] },
      run: (proxy: SecretProxy) =>
        whatReached(proxy, () => proxy.request(withToken(proxy), { method })),
    })),
    {
      title: "the placeholder in the path and the query",
      rule: rules.urls,
      run: async (proxy) => {
        const path = `/${proxy.placeholder}?q=${proxy.placeholder}`;
        await proxy.request(withToken(proxy), { path });
        return proxy.reached.map((head) => head.split("\n")[0]).join("\n");
      },
    },
  ];
}

export const attempts: readonly Attempt[] = [
  ...echoes(),
  ...encodings(),
  ...hosts(),
  ...places(),
].map((attempt) => ({ answer: echo, ...attempt }));

/** The body of an answer without the chunk lengths. */
function unchunked(answer: string): string {
  return answer.replace(/\r\n[0-9a-f]+\r\n/g, "");
}
