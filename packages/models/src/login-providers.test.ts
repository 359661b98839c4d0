import { expect, it } from "vitest";
import { providerHint } from "./login-providers.ts";

const providers = [
  { id: "github-copilot", name: "GitHub Copilot" },
  { id: "openai-codex", name: "ChatGPT (Codex)" },
  { id: "xai", name: "xAI (SuperGrok)" },
  { id: "anthropic", name: "anthropic" },
  { id: "google", name: "google" },
];

it.each([
  ["antropic", "anthropic"],
  ["claude", "anthropic"],
  ["copilot", "github-copilot"],
  ["chatgpt", "openai-codex"],
  ["grok", "xai"],
  ["gemini", "google"],
])("names the provider that %s means", (word, id) => {
  expect(providerHint(word, providers)).toBe(`; the nearest is ${id}`);
});

it.each(["nothing", "a"])("names some providers for %s", (word) => {
  expect(providerHint(word, providers)).toMatch(/^; there are github-copilot, .* and others$/);
});
