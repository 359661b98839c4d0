import { describe, expect, it } from "vitest";
import { findRefusal } from "./index.ts";
import type { RuleRequest } from "./rule.ts";

const refusalOf = (request: Omit<RuleRequest, "headers">) =>
  findRefusal({ headers: {}, ...request }, { signed: new Map(), models: new Map() });

describe("the rules of Azure", () => {
  const api = "azure-openai-responses";
  const body = { model: "m", input: [{ role: "user", content: "Hi" }] };

  it.each([
    ["/openai/v1/responses", ""],
    ["/openai/v1/responses", "?api-version=preview"],
    ["/openai/responses", "?api-version=2025-04-01-preview"],
  ])("take %s%s", (path, search) => {
    expect(refusalOf({ api, path, search, body })).toBeUndefined();
  });

  it.each([
    ["/openai/v1/responses", "?api-version=2025-04-01-preview"],
    ["/openai/responses", ""],
    ["/openai/responses", "?api-version=v1"],
  ])("refuse %s%s", (path, search) => {
    expect(refusalOf({ api, path, search, body })).toMatchObject({ api, rule: "version" });
  });

  it("are those of OpenAI besides", () => {
    const request = { api, path: "/openai/v1/responses", search: "" } as const;
    const refusal = refusalOf({ ...request, body: { ...body, input: [] } });
    expect(refusal).toMatchObject({ api, rule: "required" });
  });
});
