import { describe, expect, it } from "vitest";
import { classify, classifyResponse } from "./errors.ts";

const thrown = (name: string, message = "words") => Object.assign(new Error(message), { name });

describe("Bedrock errors", () => {
  it.each([
    ["ThrottlingException", "rate_limited"],
    ["ServiceUnavailableException", "overloaded"],
    ["InternalServerException", "overloaded"],
    ["ModelStreamErrorException", "overloaded"],
    ["ModelNotReadyException", "overloaded"],
    ["ModelTimeoutException", "timeout"],
    ["AccessDeniedException", "auth"],
    ["ExpiredTokenException", "auth"],
    ["ValidationException", "invalid_request"],
    ["ResourceNotFoundException", "invalid_request"],
    ["ServiceQuotaExceededException", "quota"],
  ])("%s means %s", async (name, code) => {
    expect(classify(thrown(name))).toMatchObject({ code, message: `${name}: words` });
    const headers = { "x-amzn-errortype": `${name}:http://amazon` };
    const body = JSON.stringify({ message: "words" });
    expect(await classifyResponse(new Response(body, { status: 400, headers }))).toMatchObject({
      code,
      message: `400 ${name}: words`,
    });
  });

  it.each([
    [{ deep: 1 }, '{"deep":1}'],
    [[7], "[7]"],
    [null, "null"],
  ])("handle a message that is not text: %j", (message, words) => {
    const error = Object.assign(thrown("ThrottlingException"), { message });
    expect(classify(error)).toMatchObject({
      code: "rate_limited",
      message: `ThrottlingException: ${words}`,
    });
  });

  it("report that the conversation is too long", () => {
    const error = thrown("ValidationException", "Input is too long for requested model.");
    expect(classify(error).code).toBe("context_overflow");
  });

  it("name what to set if there are no credentials", () => {
    const { code, message } = classify(thrown("CredentialsProviderError", "Nothing found."));
    expect(code).toBe("auth");
    expect(message).toMatch(/Nothing found\. Set AWS_BEARER_TOKEN_BEDROCK/);
  });

  it("report damaged data if a checksum is wrong", () => {
    expect(classify(thrown("Error", "The prelude checksum does not match"))).toMatchObject({
      code: "network",
    });
  });

  it.each([
    ["a page", "<html>Bad gateway</html>"],
    ["another form", '{"error":{"message":"Bad gateway"}}'],
    [
      "a name in the body",
      '{"__type":"com.amazon#ServiceUnavailableException","Message":"Bad gateway"}',
    ],
  ])("are read from %s", async (_, body) => {
    const found = await classifyResponse(new Response(body, { status: 502 }));
    expect(found).toMatchObject({ code: "overloaded", status: 502 });
    expect(found.message).toContain("Bad gateway");
  });
});
