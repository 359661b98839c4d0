import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Environment } from "../provider.ts";
import { identityOf } from "./credentials.ts";

const folder = mkdtempSync(join(tmpdir(), "tau-aws-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, ".aws"));
const profiles = `[default]
aws_access_key_id = DEFAULT
aws_secret_access_key = s1
[dev]
aws_access_key_id = DEV
aws_secret_access_key = s2
`;
writeFileSync(join(folder, ".aws/credentials"), profiles);
const tokenFile = join(folder, "token");
writeFileSync(tokenFile, "web-token");
const role = `[profile roled]
role_arn = arn:aws:iam::1:role/r
web_identity_token_file = ${tokenFile}
[profile abroad]
role_arn = arn:aws:iam::1:role/r
source_profile = dev
region = ap-south-1
[profile sso]
sso_account_id = 1
sso_role_name = r
sso_region = eu-north-1
sso_start_url = https://tau.invalid/start
[profile sso-session]
sso_account_id = 1
sso_role_name = r
sso_session = tau
[sso-session tau]
sso_region = eu-north-1
sso_start_url = https://tau.invalid/start
`;
writeFileSync(join(folder, ".aws/config"), role);

const home: Environment = { HOME: folder, AWS_EC2_METADATA_DISABLED: "true" };
const away: Environment = { HOME: join(folder, "none"), AWS_EC2_METADATA_DISABLED: "true" };
const place = { endpoint: "https://bedrock-runtime.eu-west-1.amazonaws.com", region: "eu-west-1" };
const noFetch = () => Promise.reject(new Error("nothing is asked"));

async function keyId(environment: Environment, fetch: typeof globalThis.fetch = noFetch) {
  const { credentials } = await identityOf({ environment }, place, fetch);
  const found = typeof credentials === "function" ? await credentials() : credentials;
  return found?.accessKeyId;
}

const keys = { AWS_ACCESS_KEY_ID: "VARIABLE", AWS_SECRET_ACCESS_KEY: "s" };

/** A token service that returns the same keys for any role. */
function tokenService(action = "AssumeRoleWithWebIdentity") {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(`${url} ${init?.body}`);
    const xml = `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials><AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></${action}Result></${action}Response>`;
    return new Response(xml, { headers: { "content-type": "text/xml" } });
  };
  return { asked, fetch };
}

describe("the AWS credential chain", () => {
  it.each<[string, Environment, string]>([
    ["variables", { ...home, ...keys }, "VARIABLE"],
    ["a named profile, also beside keys", { ...home, ...keys, AWS_PROFILE: "dev" }, "DEV"],
    ["the default profile", home, "DEFAULT"],
  ])("accepts %s", async (_, environment, wanted) => {
    expect(await keyId(environment)).toBe(wanted);
  });

  it("calls the token service through the given fetch", async () => {
    const web = { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: "arn:aws:iam::1:role/r" };
    for (const environment of [
      { ...away, ...web },
      { ...home, AWS_PROFILE: "roled" },
    ]) {
      const { asked, fetch } = tokenService();
      expect(await keyId(environment, fetch)).toBe("ROLE");
      expect(asked).toEqual([expect.stringMatching(/^https:\/\/sts\.[^ ]+ .*web-token/)]);
    }
  });

  it("assumes a role in the region of its profile", async () => {
    const { asked, fetch } = tokenService("AssumeRole");
    expect(await keyId({ ...home, AWS_PROFILE: "abroad" }, fetch)).toBe("ROLE");
    expect(asked).toEqual([expect.stringMatching(/^https:\/\/sts\.ap-south-1\.amazonaws\.com\//)]);
  });

  // The SDK looks for the token in the process's home directory.
  it.each([
    ["sso", "https://tau.invalid/start"],
    ["sso-session", "tau"],
  ])("uses the region of single sign-on for profile %s", async (profile, name) => {
    vi.stubEnv("HOME", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const hash = createHash("sha1").update(name).digest("hex");
    const token = { accessToken: "sso-token", expiresAt: "2099-01-01T00:00:00Z" };
    mkdirSync(join(folder, ".aws/sso/cache"), { recursive: true });
    writeFileSync(join(folder, `.aws/sso/cache/${hash}.json`), JSON.stringify(token));
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      asked.push(new URL(String(url)).host);
      expect(new Headers(init?.headers).get("x-amz-sso_bearer_token")).toBe("sso-token");
      const keys = { accessKeyId: "SSO", secretAccessKey: "s", sessionToken: "t" };
      return Response.json({ roleCredentials: { ...keys, expiration: 4_070_908_800_000 } });
    };
    expect(await keyId({ ...home, AWS_PROFILE: profile }, fetch)).toBe("SSO");
    expect(asked).toEqual(["portal.sso.eu-north-1.amazonaws.com"]);
  });

  it("finds single sign-on in a file that only the given variables name", async () => {
    const path = join(folder, "other-config");
    writeFileSync(path, role.replace("[profile sso]", "[profile elsewhere]"));
    const environment = { ...away, AWS_CONFIG_FILE: path, AWS_PROFILE: "elsewhere" };
    await expect(keyId(environment)).rejects.toThrow(/SSO session/);
  });

  it("requests credentials from the container endpoint named by the variables", async () => {
    const server = createServer((request, response) => {
      const isAllowed = request.headers.authorization === "let-me-in";
      const body = { AccessKeyId: "TASK", SecretAccessKey: "s", Token: "t" };
      response.writeHead(isAllowed ? 200 : 403, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...body, Expiration: "2099-01-01T00:00:00Z" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const environment = {
      ...away,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/task`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: "let-me-in",
    };
    expect(await keyId(environment)).toBe("TASK");
    server.close();
  });

  it("fails with an error if there are no credentials", async () => {
    await expect(keyId(away)).rejects.toMatchObject({ name: "CredentialsProviderError" });
  });
});

describe("the identity of a request", () => {
  it("is the key, if there is one", async () => {
    const identity = await identityOf({ apiKey: "k", environment: keys }, place, noFetch);
    expect(identity).toEqual({ token: { token: "k" }, authSchemePreference: ["httpBearerAuth"] });
  });

  it("is anonymous on a local server if the user has no credentials", async () => {
    const local = { ...place, endpoint: "http://127.0.0.1:9" };
    const isUnsigned = async (environment: Environment, to = local) =>
      (await identityOf({ environment }, to, noFetch)).signer !== undefined;
    expect(await isUnsigned(away)).toBe(true);
    expect(await isUnsigned({ ...away, ...keys })).toBe(false);
    expect(await isUnsigned(home)).toBe(false);
    expect(await isUnsigned(away, place)).toBe(false);
    expect(await isUnsigned({ ...keys, AWS_BEDROCK_SKIP_AUTH: "1" }, place)).toBe(true);
  });
});
