import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Environment } from "../provider.ts";
import { placeOf } from "./region.ts";

const folder = mkdtempSync(join(tmpdir(), "tau-region-"));
afterAll(() => rmSync(folder, { recursive: true }));
const config = join(folder, "config");
writeFileSync(config, "[default]\nregion = sa-east-1\n[profile dev]\nregion = ca-central-1\n");

const none: Environment = { HOME: join(folder, "empty") };
const files: Environment = { ...none, AWS_CONFIG_FILE: config };
const standard = "https://bedrock-runtime.us-west-2.amazonaws.com";
const arn = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude";

const hostOf = (region: string) => `https://bedrock-runtime.${region}.amazonaws.com`;

describe("the region of a request", () => {
  it.each<[string, string, Environment, string]>([
    ["of the ARN", arn, { AWS_REGION: "us-east-2" }, "eu-west-1"],
    [
      "of AWS_REGION",
      "m",
      { ...files, AWS_REGION: "us-east-2", AWS_DEFAULT_REGION: "x" },
      "us-east-2",
    ],
    ["of AWS_DEFAULT_REGION", "m", { ...files, AWS_DEFAULT_REGION: "eu-north-1" }, "eu-north-1"],
    ["of the named profile", "m", { ...files, AWS_PROFILE: "dev" }, "ca-central-1"],
    ["of the default profile", "m", files, "sa-east-1"],
    ["of the catalogue", "m", none, "us-west-2"],
    ["of the model's geography", "jp.anthropic.claude", none, "ap-northeast-1"],
    ["of the government's cloud", "us-gov.openai.gpt", none, "us-gov-west-1"],
    ["of the user for any model", "jp.anthropic.claude", files, "sa-east-1"],
  ])("is that %s", async (_, id, environment, region) => {
    const place = await placeOf({ id, baseUrl: standard }, environment);
    expect(place).toEqual({ region, endpoint: hostOf(region) });
  });

  it("is that of the configured address if it is in the model's geography", async () => {
    const baseUrl = hostOf("eu-west-3");
    const place = await placeOf({ id: "eu.anthropic.claude", baseUrl }, none);
    expect(place).toEqual({ region: "eu-west-3", endpoint: baseUrl });
  });

  it("uses a different AWS domain in China", async () => {
    const place = await placeOf({ id: "m", baseUrl: standard }, { AWS_REGION: "cn-north-1" });
    expect(place.endpoint).toBe("https://bedrock-runtime.cn-north-1.amazonaws.com.cn");
  });

  it("keeps a custom address", async () => {
    const vpce = "https://vpce-1-2.bedrock-runtime.ap-south-1.vpce.amazonaws.com";
    const found = await placeOf({ id: "m", baseUrl: `${vpce}/` }, none);
    expect(found).toEqual({ endpoint: vpce, region: "ap-south-1" });
    const named = { ...none, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:9" };
    expect((await placeOf({ id: "m", baseUrl: vpce }, named)).endpoint).toBe(vpce);
    expect((await placeOf({ id: "m", baseUrl: standard }, named)).endpoint).toBe(
      "http://127.0.0.1:9",
    );
  });

  it("uses the general AWS endpoint variable unless there is one for Bedrock", async () => {
    const all = { ...none, AWS_ENDPOINT_URL: "http://127.0.0.1:4566/" };
    const { endpoint } = await placeOf({ id: "m", baseUrl: standard }, all);
    expect(endpoint).toBe("http://127.0.0.1:4566");
    const both = { ...all, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:9" };
    expect((await placeOf({ id: "m", baseUrl: standard }, both)).endpoint).toBe(
      "http://127.0.0.1:9",
    );
  });
});
