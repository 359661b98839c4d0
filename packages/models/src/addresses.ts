import type { Model } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Environment } from "@tau-agent/system";

/** A variable with the address of a provider, as the vendor's own programs read it. */
interface AddressVariable {
  readonly name: string;
  readonly baseUrl: (address: string) => string;
}

const asItIs = (address: string) => address.replace(/\/+$/, "");

const addressVariables: Readonly<Record<string, AddressVariable>> = {
  anthropic: { name: "ANTHROPIC_BASE_URL", baseUrl: asItIs },
  openai: { name: "OPENAI_BASE_URL", baseUrl: asItIs },
  google: {
    name: "GOOGLE_GEMINI_BASE_URL",
    // Google's own programs append the version themselves, while a model's address includes it.
    baseUrl: (address) => {
      const base = asItIs(address);
      return /\/v\d[^/]*$/.test(base) ? base : `${base}/v1beta`;
    },
  },
};

/** A part of an address that differs for each user: the name of a variable in braces. */
const placeholder = /\{([A-Z][A-Z0-9_]*)\}/g;

/**
 * The built-in models at the addresses from the environment: the address of the whole provider, and
 * the parts in braces. A part without a value stays; {@link requireAddress} names it.
 */
export async function withAddresses(
  models: readonly Model[],
  provider: string,
  readEnvironment: () => Promise<Environment>,
): Promise<readonly Model[]> {
  const variable = Object.hasOwn(addressVariables, provider)
    ? addressVariables[provider]
    : undefined;
  if (variable === undefined && !models.some(hasGaps)) return models;
  const environment = await readEnvironment();
  const address = variable && environment[variable.name]?.trim();
  return models.map((model) => {
    if (variable !== undefined && address) return { ...model, baseUrl: variable.baseUrl(address) };
    if (!model.baseUrl.includes("{")) return model;
    const fill = (whole: string, name: string) => environment[name]?.trim() || whole;
    return { ...model, baseUrl: model.baseUrl.replaceAll(placeholder, fill) };
  });
}

/** Whether parts of a model's address are missing. */
export function hasGaps({ baseUrl }: Model): boolean {
  return baseUrl.search(placeholder) !== -1;
}

/**
 * Refuses an address that no request can reach.
 * @throws {SessionError} `invalid_option` naming the invalid or missing variable
 */
export function requireAddress({ provider, baseUrl }: Model, environment: Environment): void {
  const [, missing] = [...baseUrl.matchAll(placeholder)][0] ?? [];
  if (missing !== undefined) {
    const reason = `the address of ${provider} has it as a part, and it is not set`;
    throw new SessionError("invalid_option", { option: missing, reason });
  }
  const variable = Object.hasOwn(addressVariables, provider)
    ? addressVariables[provider]
    : undefined;
  const address = variable && environment[variable.name]?.trim();
  if (!variable || !address || baseUrl !== variable.baseUrl(address)) return;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return;
  const reason = `it must be an http or https URL, such as https://proxy.example.com, not ${address}`;
  throw new SessionError("invalid_option", { option: variable.name, reason });
}
