import { describe, expect, it } from "vitest";
import { redactSecrets } from "./redact-secrets.ts";

describe("redactSecrets", () => {
  it.each([
    "sk-ant-api03-abcdefghijklmnop",
    "AIzaSyA1234567890abcdefghijklmnopq",
    "gsk_abcdefghijklmnopqrst",
    "xai-abcdefghijklmnopqrst",
  ])("hides %s", (secret) => {
    expect(redactSecrets(`key ${secret} is wrong`)).toBe("key [redacted] is wrong");
  });

  it("hides keys in headers and addresses, but keeps words", () => {
    expect(redactSecrets("Authorization: Bearer abc.def-ghi123")).toBe(
      "Authorization: Bearer [redacted]",
    );
    expect(redactSecrets("GET /v1?key=12345&x=1")).toBe("GET /v1?key=[redacted]&x=1");
    expect(redactSecrets("connect to http://me:hunter2@proxy:8080/ and redis://:p%40ss@box")).toBe(
      "connect to http://me:[redacted]@proxy:8080/ and redis://:[redacted]@box",
    );
    const address = "see http://proxy:8080/@types and mail me@proxy";
    expect(redactSecrets(address)).toBe(address);
    const plain = "The task-runner-of-the-day sk-1 model claude-sonnet-4-5 is fine";
    expect(redactSecrets(plain)).toBe(plain);
  });
});
