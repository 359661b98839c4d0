import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LastMade } from "../request/last-made.ts";
import { keyOf, vertexHeaders } from "./vertex-auth.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tau-adc-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const user = { type: "authorized_user", client_id: "i", client_secret: "s", refresh_token: "r1" };

/** A token service that returns a different token each time, valid for an hour by default. */
function tokenService(expires_in = 3600) {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(`${url} ${init?.body}`);
    return Response.json({ access_token: `token-${asked.length}`, expires_in });
  };
  return { asked, fetch, clients: new LastMade() };
}

type Service = ReturnType<typeof tokenService>;

function headers(
  { fetch, clients }: Service,
  environment: Record<string, string> = {},
  baseUrl = "https://europe-west1-aiplatform.googleapis.com/v1",
) {
  return vertexHeaders({
    ...{ baseUrl, fetch, clients },
    options: { environment: { HOME: home, ...environment } },
  });
}

function logIn(login: object = user): void {
  mkdirSync(join(home, ".config/gcloud"), { recursive: true });
  writeFileSync(
    join(home, ".config/gcloud/application_default_credentials.json"),
    JSON.stringify(login),
  );
}

describe("application default credentials", () => {
  it("are exchanged for a token through the given fetch, which is reused while it is valid", async () => {
    const printed = vi.spyOn(console, "warn");
    logIn({ ...user, quota_project_id: "pays" });
    const service = tokenService();
    for (let request = 0; request < 2; request++) {
      expect(await headers(service)).toEqual({
        authorization: "Bearer token-1",
        "x-goog-user-project": "pays",
      });
    }
    expect(service.asked).toEqual([expect.stringContaining("https://oauth2.googleapis.com/token")]);
    expect(service.asked[0]).toContain("refresh_token=r1");
    expect(printed).not.toHaveBeenCalled();
  });

  it("are renewed when the token is about to expire", async () => {
    logIn();
    const service = tokenService(60);
    await headers(service);
    expect(await headers(service)).toEqual({ authorization: "Bearer token-2" });
  });

  it("are read from the file that the variable names, including a service account", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
    const path = join(home, "account.json");
    const account = { type: "service_account", client_email: "a@b", private_key };
    writeFileSync(path, JSON.stringify(account));
    const service = tokenService();
    const found = await headers(service, { GOOGLE_APPLICATION_CREDENTIALS: path });
    expect(found).toEqual({ authorization: "Bearer token-1" });
    expect(service.asked[0]).toContain("jwt-bearer");
  });

  it("can be those of another account that the user impersonates, through the given fetch", async () => {
    const service_account_impersonation_url =
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken";
    logIn({
      type: "impersonated_service_account",
      service_account_impersonation_url,
      source_credentials: user,
    });
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const { authorization } = Object.fromEntries(new Headers(init?.headers));
      asked.push(`${url} ${authorization}`);
      return String(url).startsWith("https://iamcredentials.")
        ? Response.json({ accessToken: "acting", expireTime: "2099-01-01T00:00:00Z" })
        : Response.json({ access_token: "own", expires_in: 3600 });
    };
    const service = { ...tokenService(), fetch };
    expect(await headers(service)).toEqual({ authorization: "Bearer acting" });
    expect(asked).toEqual([
      "https://oauth2.googleapis.com/token undefined",
      `${service_account_impersonation_url} Bearer own`,
    ]);
  });

  it("are looked up again after they were missing", async () => {
    const service = tokenService();
    const missing = { GOOGLE_APPLICATION_CREDENTIALS: join(home, "later.json") };
    await expect(headers(service, missing)).rejects.toThrow(/later\.json, which does not exist/);
    writeFileSync(missing.GOOGLE_APPLICATION_CREDENTIALS, JSON.stringify(user));
    expect(await headers(service, missing)).toEqual({ authorization: "Bearer token-1" });
  });

  it("explain what to do when they are refused", async () => {
    logIn();
    const fetch: typeof globalThis.fetch = async () =>
      Response.json({ error: "invalid_grant" }, { status: 400 });
    const failed = headers({ ...tokenService(), fetch });
    await expect(failed).rejects.toMatchObject({ code: "auth" });
    await expect(failed).rejects.toThrow(/gcloud auth application-default login/);
  });

  it("are not needed for a local server", async () => {
    expect(await headers(tokenService(), {}, "http://127.0.0.1:9/v1")).toEqual({});
  });
});

it("does not mistake the placeholder for a login for a key", () => {
  expect(
    ["k", "<authenticated>", "gcp-vertex-credentials", ""].map((apiKey) => keyOf({ apiKey })),
  ).toEqual(["k", undefined, undefined, undefined]);
});
