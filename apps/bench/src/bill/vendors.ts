import type { BillingVendor } from "@tau-agent/ai/testing";

/** A vendor, the model that does the work, and the model to switch to. */
export interface VendorChoice {
  readonly vendor: BillingVendor;
  readonly model: string;
  readonly other: string;
}

export const vendorChoices: readonly VendorChoice[] = [
  { vendor: "anthropic", model: "claude-sonnet-5", other: "claude-opus-4-8" },
  { vendor: "openai", model: "gpt-5.4", other: "gpt-5.4-mini" },
  { vendor: "google", model: "gemini-3.8-flash", other: "gemini-3.5-flash" },
];
