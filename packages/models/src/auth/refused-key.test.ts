import { expect, it } from "vitest";
import { stepForRefusedKey } from "./refused-key.ts";

it.each([
  ["runtime", "--api-key"],
  ["auth_file", "auth.json"],
  ["models_file", "models.json"],
  ["environment", "ANTHROPIC_API_KEY"],
] as const)(
  "says where a key of the source %s came from, and where there are others",
  (source, place) => {
    expect(stepForRefusedKey("anthropic", source, "ANTHROPIC_API_KEY")).toBe(
      `The key from ${place} was refused. Check it, or get one at https://platform.claude.com/settings/keys.`,
    );
  },
);

it("names no page for providers without a known one", () => {
  expect(stepForRefusedKey("mine", "models_file", undefined)).toBe(
    "The key from models.json was refused. Check it.",
  );
  expect(stepForRefusedKey("constructor", "runtime", undefined)).toContain("Check it.");
});

it("says how to log in again, and nothing if there is no key", () => {
  expect(stepForRefusedKey("anthropic", "login", undefined)).toContain("tau auth login anthropic");
  expect(stepForRefusedKey("local", "none", undefined)).toBeUndefined();
});
