import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { makePlace } from "../support/place.ts";
import { startHost } from "../support/start-host.ts";

const keys = { accessKeyId: "AKIAFOUND", secretAccessKey: "found/secret", sessionToken: "session" };
const later = "2099-01-01T00:00:00Z";

/** Simulates the AWS services that issue credentials, and the instance's metadata service. */
class Services implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then(([type, body]) => {
      response.writeHead(200, { "content-type": type }).end(body);
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<[type: string, body: string]> {
    let sent = "";
    for await (const piece of request) sent += piece;
    const { method, url = "", headers } = request;
    const action = new URLSearchParams(sent).get("Action") ?? "";
    this.asked.push(`${method} ${new URL(url, this.url).pathname} ${action}`.trimEnd());
    if (action !== "") return ["text/xml", roleKeys(action)];
    if (url.startsWith("/federation/credentials")) {
      if (headers["x-amz-sso_bearer_token"] !== "sso-token") return ["application/json", "{}"];
      const roleCredentials = { ...keys, expiration: Date.parse(later) };
      return ["application/json", JSON.stringify({ roleCredentials })];
    }
    if (url === "/latest/api/token") return ["text/plain", "imds-token"];
    if (url === "/latest/meta-data/iam/security-credentials/") return ["text/plain", "machine"];
    const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken } = keys;
    const found = { Code: "Success", Type: "AWS-HMAC", AccessKeyId, SecretAccessKey };
    const body = { ...found, Token: sessionToken, Expiration: later, LastUpdated: later };
    return ["application/json", JSON.stringify(body)];
  }
}

function roleKeys(action: string): string {
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${later}</Expiration></Credentials></${action}Result></${action}Response>`;
}

const role = "arn:aws:iam::123456789012:role/tau";
const sso = "sso_account_id = 123456789012\nsso_role_name = Reader\n";
const portal = "https://tau.awsapps.com/start";
const cached = JSON.stringify({
  accessToken: "sso-token",
  expiresAt: later,
  region: "eu-north-1",
  startUrl: portal,
});
const cacheOf = (name: string) =>
  `.aws/sso/cache/${createHash("sha1").update(name).digest("hex")}.json`;
const printed = JSON.stringify({
  Version: 1,
  AccessKeyId: keys.accessKeyId,
  SecretAccessKey: keys.secretAccessKey,
  SessionToken: keys.sessionToken,
});
const sources = "[source]\naws_access_key_id = AKIASOURCE\naws_secret_access_key = s\n";

interface Way {
  readonly title: string;
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The requests for credentials, made once for two requests to the model. */
  readonly asked: readonly string[];
}

const assumed = "POST / AssumeRole";
const ssoAsked = ["GET /federation/credentials"];
const ways: readonly Way[] = [
  {
    title: "a profile with keys",
    files: {
      ".aws/credentials": `[work]\naws_access_key_id = ${keys.accessKeyId}\naws_secret_access_key = ${keys.secretAccessKey}\naws_session_token = ${keys.sessionToken}\n`,
    },
    environment: { AWS_PROFILE: "work" },
    asked: [],
  },
  {
    title: "credential_process",
    config: "[profile work]\ncredential_process = cat {{folder}}/keys.json\n",
    files: { "keys.json": printed },
    environment: { AWS_PROFILE: "work" },
    asked: [],
  },
  {
    title: "a session of single sign-on",
    config: `[profile work]\nsso_session = tau\n${sso}\n[sso-session tau]\nsso_region = eu-north-1\nsso_start_url = ${portal}\n`,
    files: { [cacheOf("tau")]: cached },
    environment: { AWS_PROFILE: "work" },
    asked: ssoAsked,
  },
  {
    title: "single sign-on as it was before sessions",
    config: `[profile work]\nsso_region = eu-north-1\nsso_start_url = ${portal}\n${sso}`,
    files: { [cacheOf(portal)]: cached },
    environment: { AWS_PROFILE: "work" },
    asked: ssoAsked,
  },
  {
    title: "single sign-on in the default profile of another file",
    files: {
      "other-config": `[default]\nsso_region = eu-north-1\nsso_start_url = ${portal}\n${sso}`,
      [cacheOf(portal)]: cached,
    },
    environment: { AWS_CONFIG_FILE: "{{folder}}/other-config" },
    asked: ssoAsked,
  },
  {
    title: "single sign-on of a profile that auth.json names",
    files: {
      "other-config": `[profile work]\nsso_region = eu-north-1\nsso_start_url = ${portal}\n${sso}`,
      [cacheOf(portal)]: cached,
      "agent/auth.json": JSON.stringify({
        "amazon-bedrock": {
          type: "api_key",
          env: { AWS_PROFILE: "work", AWS_CONFIG_FILE: "{{folder}}/other-config" },
        },
      }),
    },
    asked: ssoAsked,
  },
  {
    title: "a role of another profile's user",
    config: `[profile work]\nrole_arn = ${role}\nsource_profile = source\n`,
    files: { ".aws/credentials": sources },
    environment: { AWS_PROFILE: "work" },
    asked: [assumed],
  },
  {
    title: "web identity of a profile",
    config: `[profile work]\nrole_arn = ${role}\nweb_identity_token_file = {{folder}}/token\n`,
    files: { token: "web-token" },
    environment: { AWS_PROFILE: "work" },
    asked: [`${assumed}WithWebIdentity`],
  },
  {
    title: "web identity of variables",
    config: "",
    files: { token: "web-token" },
    environment: { AWS_WEB_IDENTITY_TOKEN_FILE: "{{folder}}/token", AWS_ROLE_ARN: role },
    asked: [`${assumed}WithWebIdentity`],
  },
  {
    title: "the task's role in a container",
    environment: { AWS_CONTAINER_CREDENTIALS_FULL_URI: "{{services}}/task" },
    asked: ["GET /task"],
  },
  {
    title: "nothing but the machine's own role",
    config: "",
    environment: { AWS_EC2_METADATA_SERVICE_ENDPOINT: "{{services}}" },
    asked: [
      "PUT /latest/api/token",
      "GET /latest/meta-data/iam/security-credentials/",
      "GET /latest/meta-data/iam/security-credentials/machine",
    ],
  },
];

it.each(ways)("a request to Bedrock is signed with $title", async (way) => {
  await using services = await new Services().start();
  await using server = await startLoopbackServer({
    scenario: ["One.", "Two."],
    credentials: { aws: { ...keys, region: "eu-west-3" } },
  });
  const providers = { "amazon-bedrock": { baseUrl: server.url } };
  const place = makePlace({ files: { "agent/models.json": JSON.stringify({ providers }) } });
  const fill = (text: string) =>
    text.replaceAll("{{folder}}", place.folder).replaceAll("{{services}}", services.url);
  const { config, files = {}, environment = {} } = way;
  const all = { ...files, ...(config !== undefined && { ".aws/config": config }) };
  for (const [path, text] of Object.entries(all)) put(join(place.folder, path), fill(text));
  const filled = Object.entries(environment).map(([name, value]) => [name, fill(value)]);
  const variables = {
    ...place.variables,
    AWS_REGION: "eu-west-3",
    AWS_ENDPOINT_URL_SSO: services.url,
    AWS_ENDPOINT_URL_STS: services.url,
    ...Object.fromEntries(filled),
  };
  const words = ["--mode", "rpc", "--provider", "amazon-bedrock"];
  const host = startHost({}, { place: { ...place, variables, arguments: words } });
  for (const [message, text] of [
    ["first", "One."],
    ["second", "Two."],
  ]) {
    host.send({ type: "prompt", message });
    const end = await host.until({ "...": true, type: "agent_end" });
    expect(JSON.stringify(end)).toContain(`"text":"${text}"`);
  }
  expect(services.asked).toEqual(way.asked);
  expect(host.stdout).not.toContain(keys.secretAccessKey);
  await host.finish();
});

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
