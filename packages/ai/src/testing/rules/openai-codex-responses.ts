import { rulesOf } from "./rule.ts";

/** Members of OpenAI's format that the backend of ChatGPT plans does not accept. */
const unsupported = ["max_output_tokens", "temperature", "prompt_cache_retention"];

export const codexRules = rulesOf("openai-codex-responses", {
  instructions: function* ({ body: { instructions } }) {
    if (typeof instructions !== "string" || instructions === "") yield "Instructions are required";
  },
  store: function* ({ body: { store, stream } }) {
    if (store !== false) yield "Store must be set to false";
    if (stream !== true) yield "Stream must be set to true";
  },
  "system message": function* ({ body: { input } }) {
    const [first] = Array.isArray(input) ? input : [];
    if (Object(first).role === "system") yield "System messages are not allowed";
  },
  unsupported: function* ({ body }) {
    for (const name of unsupported) if (name in body) yield `Unsupported parameter: ${name}`;
  },
});
