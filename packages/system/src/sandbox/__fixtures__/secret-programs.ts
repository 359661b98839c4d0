import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { VALUE } from "../network/__fixtures__/secret-proxy.ts";
import type { SandboxPolicy } from "../policy/sandbox-settings.ts";
import { SandboxedPlace } from "./sandboxed-place.ts";

/** A project with a secret for a server beside it. */
export interface World extends AsyncDisposable {
  readonly place: SandboxedPlace;
  readonly address: string;
  /** `authorization` of each request. */
  readonly seen: (string | null)[];
}

const server = fileURLToPath(new URL("https-server.mjs", import.meta.url));
const certificate =
  "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost";

/** A server with its own certificate in a folder, and the requests it received. */
export interface SecretServer {
  /** The host name with the port. */
  readonly host: string;
  /** The certificate file to trust. */
  readonly authority: string;
  /** `authorization` of each request. */
  readonly seen: (string | null)[];
  readonly stop: () => void;
}

/** Starts the server as a separate process: the sandbox cannot reach ports of the host. */
export async function serveSecrets(folder: string): Promise<SecretServer> {
  const authority = join(folder, "authority.pem");
  const files = ["-keyout", join(folder, "key.pem"), "-out", authority];
  execFileSync("openssl", [...certificate.split(" "), ...files], { stdio: "ignore" });
  execFileSync("git", ["init", "-q", "--bare", join(folder, "repo.git")]);
  const settings = ["config", "http.receivepack", "true"];
  execFileSync("git", ["-C", join(folder, "repo.git"), ...settings]);
  const child = spawn(process.execPath, [server, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const [port] = await once(lines, "line");
  const seen: (string | null)[] = [];
  lines.on("line", (line) => void seen.push(JSON.parse(line)));
  return { host: `localhost:${port}`, authority, seen, stop: () => child.kill() };
}

/** A sandbox with a secret for a server on this machine. */
export async function world(
  enter: (place: SandboxedPlace, policy: Partial<SandboxPolicy>) => Promise<unknown>,
): Promise<World> {
  const place = new SandboxedPlace();
  const { host, authority, seen, stop } = await serveSecrets(place.outside);
  await enter(place, {
    secrets: [{ env: "TOKEN", value: () => VALUE, hosts: [host] }],
    upstreamCertificates: authority,
  });
  return {
    place,
    address: `https://${host}`,
    seen,
    async [Symbol.asyncDispose]() {
      stop();
      await place[Symbol.asyncDispose]();
    },
  };
}

export function has(command: string): boolean {
  try {
    execFileSync("sh", ["-c", command], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Programs that use a secret, and what they need on the machine. */
export const clients: Readonly<Record<string, { needs: string; line: string }>> = {
  curl: { needs: "curl --version", line: 'curl -sS -H "Authorization: Bearer $TOKEN" $AT/x' },
  "curl with Basic": { needs: "curl --version", line: "curl -sS -u x:$TOKEN $AT/x" },
  "Node's fetch": {
    needs: "node --version",
    line: `node -e 'fetch(process.env.AT, {headers: {authorization: "Bearer " + process.env.TOKEN}}).then((r) => r.text()).then(console.log)'`,
  },
  "Python's urllib": {
    needs: "python3 --version",
    line: `python3 -c 'import os,urllib.request as u; print(u.urlopen(u.Request(os.environ["AT"], headers={"Authorization": "Bearer " + os.environ["TOKEN"]})).read().decode())'`,
  },
  "Python's requests": {
    needs: "python3 -c 'import requests'",
    line: `python3 -c 'import os,requests; print(requests.get(os.environ["AT"], auth=("x", os.environ["TOKEN"])).text)'`,
  },
  git: {
    needs: "git --version",
    line: `git push -q "https://x:$TOKEN@\${AT#https://}/repo.git" HEAD:main && git ls-remote "https://x:$TOKEN@\${AT#https://}/repo.git" && echo said`,
  },
  npm: {
    needs: "npm --version",
    line: `printf '//%s/:_authToken=%s\\n' "\${AT#https://}" "$TOKEN" > .npmrc && npm ping --registry $AT/ 2>&1 && echo said`,
  },
  pip: {
    needs: "python3 -m pip --version",
    line: `python3 -m pip --disable-pip-version-check index versions thing --index-url "https://x:$TOKEN@\${AT#https://}/simple/"; echo said`,
  },
};

/** Whether a text shows the value, plain or in the base64 of Basic. */
export const shows = (text: string) =>
  [VALUE, Buffer.from(`x:${VALUE}`).toString("base64")].filter((each) => text.includes(each));

/** Where a command may look for the value, with the line that does so. */
export const hidingPlaces: readonly (readonly [string, string])[] = [
  ["variables", "env; export -p"],
  ["processes", "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; ps axeww"],
  [
    "memory",
    "for p in /proc/[0-9]*; do strings -n 8 $p/mem 2>/dev/null | head -c 100000; done; true",
  ],
  [
    "open files",
    "for f in /proc/self/fd/* /proc/1/fd/*; do timeout 1 head -c 100 $f 2>/dev/null; done",
  ],
  ["folders", "timeout 30 grep -rIhs s3cr3t /tmp /run /dev/shm /var/tmp $HOME . 2>/dev/null"],
  ["the bundle", "cat $SSL_CERT_FILE; grep -c 'PRIVATE KEY' $SSL_CERT_FILE"],
  [
    "the proxy's socket",
    "ls -la $(dirname $SSL_CERT_FILE); cat $(dirname $SSL_CERT_FILE)/* 2>&1",
  ],
  ["core dumps", "ulimit -c unlimited; sh -c 'kill -ABRT $$'; cat core* 2>/dev/null"],
  ["no proxy", "NO_PROXY='*' no_proxy='*' curl -sS -m 5 -H \"a: $TOKEN\" $AT/ 2>&1; echo"],
  [
    "a raw socket",
    "exec 3<>/dev/tcp/${AT#https://localhost:} 2>&1; echo; bash -c 'exec 3<>/dev/tcp/localhost/${AT##*:}' 2>&1",
  ],
  [
    "a trace",
    'curl -v -H "Authorization: Bearer $TOKEN" $AT/ 2>&1; GIT_CURL_VERBOSE=1 GIT_TRACE_CURL=1 git ls-remote https://x:$TOKEN@${AT#https://}/repo.git 2>&1',
  ],
  ["a body", 'curl -sS -d "$TOKEN" -H "x: $TOKEN" $AT/ 2>&1'],
];
