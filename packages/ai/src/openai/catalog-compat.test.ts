import { type Model, thinkingLevels } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { listProviders, loadModels } from "../models/catalog.ts";
import { resolveCompletionsCompat } from "../openai-completions/compat.ts";
import { encodeRequest as encodeCompletions } from "../openai-completions/request.ts";
import { resolveResponsesCompat } from "../openai-responses/compat.ts";
import { encodeRequest as encodeResponses } from "../openai-responses/request.ts";
import type { Context, StreamOptions } from "../provider.ts";

/** Features of vendors that we do not use; they change nothing about our requests. */
const unused = new Set([
  "supportsExplicitPromptCacheMode",
  "supportsOpenAIGrammarTools",
  "supportsToolSearch",
]);

const formats: Readonly<
  Record<
    string,
    {
      resolve: (model: Model) => object;
      encode: (model: Model, context: Context, options: StreamOptions) => object;
    }
  >
> = {
  "openai-completions": { resolve: resolveCompletionsCompat, encode: encodeCompletions },
  "openai-responses": { resolve: resolveResponsesCompat, encode: encodeResponses },
};

const context: Context = {
  systemPrompt: "S",
  messages: [{ role: "user", content: "Hi", timestamp: 1 }],
  tools: [{ name: "read", description: "Reads", parameters: { type: "object" } }],
};

describe.each(listProviders())("the catalogue's models of $id", ({ id }) => {
  it("have no flag that is neither read nor listed as unused", async () => {
    for (const model of await loadModels(id)) {
      const format = formats[model.api];
      if (format === undefined) continue;
      const resolved: Record<string, unknown> = { ...format.resolve(model) };
      for (const [flag, value] of Object.entries(model.compat ?? {})) {
        if (!unused.has(flag)) expect({ [flag]: resolved[flag] }).toEqual({ [flag]: value });
      }
    }
  });

  it("support every level with a value that the vendor accepts", async () => {
    for (const model of await loadModels(id)) {
      const format = formats[model.api];
      for (const thinkingLevel of format === undefined ? [] : thinkingLevels) {
        if (model.thinkingLevelMap?.[thinkingLevel] === null) continue;
        const request = JSON.stringify(format?.encode(model, context, { thinkingLevel }));
        const word = model.thinkingLevelMap?.[thinkingLevel];
        const isTold = !request.includes("_effort") && !request.includes('"effort"');
        if (word !== undefined && !isTold) expect(request).toContain(`"${word}"`);
        expect(request).not.toContain("null");
      }
    }
  });
});
