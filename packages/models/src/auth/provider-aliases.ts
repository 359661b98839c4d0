/** Earlier ids of providers, still in files and habits. */
const aliases: Readonly<Record<string, string>> = { "azure-openai-responses": "azure" };

export function canonicalProvider(id: string): string {
  return Object.hasOwn(aliases, id) ? (aliases[id] ?? id) : id;
}
