/** Former ids of providers that are still in use in files and by people. */
const aliases: Readonly<Record<string, string>> = { "azure-openai-responses": "azure" };

export function canonicalProvider(id: string): string {
  return Object.hasOwn(aliases, id) ? (aliases[id] ?? id) : id;
}
