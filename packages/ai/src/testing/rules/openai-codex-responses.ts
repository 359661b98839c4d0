import { type Rule, rule } from "./rule.ts";

const api = "openai-codex-responses";

/** Members of OpenAI's format that the backend of ChatGPT plans does not take. */
const unsupported = ["max_output_tokens", "temperature", "prompt_cache_retention"];

export const codexRules: readonly Rule[] = [
  rule(api, "instructions", function* ({ body: { instructions } }) {
    if (typeof instructions !== "string" || instructions === "") yield "Instructions are required";
  }),
  rule(api, "store", function* ({ body: { store, stream } }) {
    if (store !== false) yield "Store must be set to false";
    if (stream !== true) yield "Stream must be set to true";
  }),
  rule(api, "system message", function* ({ body: { input } }) {
    const [first] = Array.isArray(input) ? input : [];
    if (Object(first).role === "system") yield "System messages are not allowed";
  }),
  rule(api, "unsupported", function* ({ body }) {
    for (const name of unsupported) if (name in body) yield `Unsupported parameter: ${name}`;
  }),
];
