/** The requirements of a wire format for tools. */
export interface ToolRules {
  readonly name: RegExp;
  /** Allowed keys of properties; by default, any. */
  readonly propertyName?: RegExp;
  /** Keywords that are refused at the root of a schema. */
  readonly refusedAtRoot: readonly string[];
}

const plain = /^[a-zA-Z0-9_-]{1,64}$/;

const openai: ToolRules = {
  name: plain,
  refusedAtRoot: ["anyOf", "oneOf", "allOf", "enum", "not", "const"],
};

const anthropic: ToolRules = {
  name: plain,
  propertyName: /^[a-zA-Z0-9_.-]{1,64}$/,
  refusedAtRoot: ["anyOf", "oneOf", "allOf"],
};

const google: ToolRules = {
  name: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  refusedAtRoot: ["anyOf", "oneOf", "allOf"],
};

/** For servers with unknown rules, and for those without rules beyond the usual name. */
const others: ToolRules = { name: plain, refusedAtRoot: [] };

/** By `api`; taken from the vendors' references and error texts. */
const rules: Readonly<Record<string, ToolRules>> = {
  "anthropic-messages": anthropic,
  "anthropic-vertex": anthropic,
  "azure-openai-responses": openai,
  "openai-codex-responses": openai,
  "bedrock-converse-stream": anthropic,
  "mistral-conversations": openai,
  "openai-completions": openai,
  "openai-responses": openai,
  "google-generative-ai": google,
  "google-vertex": google,
};

export function toolRules(api: string): ToolRules {
  return Object.hasOwn(rules, api) ? (rules[api] ?? others) : others;
}
