import type { GoogleGenAI, GoogleGenAIOptions } from "@google/genai/web";

/**
 * Makes the vendor's client without what it prints about keys in the environment, which it does not use
 * here: a host's stderr belongs to its user. The console is the own one again when this returns.
 */
export function makeClient(Client: typeof GoogleGenAI, options: GoogleGenAIOptions): GoogleGenAI {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return new Client(options);
  } finally {
    console.warn = warn;
  }
}
