import type { KeySource } from "./key-types.ts";

/** The pages where makers of models issue keys. */
const keyPages: Readonly<Record<string, string>> = {
  anthropic: "https://platform.claude.com/settings/keys",
  azure: "https://portal.azure.com",
  cerebras: "https://cloud.cerebras.ai/platform",
  "cloudflare-ai-gateway": "https://dash.cloudflare.com/profile/api-tokens",
  "cloudflare-workers-ai": "https://dash.cloudflare.com/profile/api-tokens",
  deepseek: "https://platform.deepseek.com/api_keys",
  fireworks: "https://app.fireworks.ai/settings/users/api-keys",
  google: "https://aistudio.google.com/apikey",
  groq: "https://console.groq.com/keys",
  huggingface: "https://huggingface.co/settings/tokens",
  "kimi-coding": "https://www.kimi.com/code/console",
  minimax: "https://platform.minimax.io/user-center/basic-information/interface-key",
  mistral: "https://console.mistral.ai/api-keys",
  moonshotai: "https://platform.moonshot.ai/console/api-keys",
  nvidia: "https://build.nvidia.com/settings/api-keys",
  openai: "https://platform.openai.com/api-keys",
  opencode: "https://opencode.ai/auth",
  openrouter: "https://openrouter.ai/settings/keys",
  together: "https://api.together.ai/settings/api-keys",
  "vercel-ai-gateway": "https://vercel.com/dashboard/ai-gateway/api-keys",
  xai: "https://console.x.ai",
  zai: "https://z.ai/manage-apikey/apikey-list",
};

function keyPage(provider: string): string | undefined {
  return Object.hasOwn(keyPages, provider) ? keyPages[provider] : undefined;
}

const places: Partial<Record<KeySource, string>> = {
  runtime: "--api-key",
  credentials: "credentials",
  auth_file: "auth.json",
  models_file: "models.json",
};

/**
 * What to do when a provider refuses a key: where the key came from, and where to get another one.
 * Undefined if no key was sent.
 *
 * @param variable - the variable that holds the key, if one does
 */
export function stepForRefusedKey(
  provider: string,
  source: KeySource,
  variable: string | undefined,
): string | undefined {
  if (source === "login") {
    return `The login of ${provider} was refused; log in again with tau auth login ${provider}.`;
  }
  const place = source === "environment" ? variable : places[source];
  if (place === undefined) return undefined;
  const page = keyPage(provider);
  const next = page === undefined ? "Check it" : `Check it, or get one at ${page}`;
  return `The key from ${place} was refused. ${next}.`;
}
