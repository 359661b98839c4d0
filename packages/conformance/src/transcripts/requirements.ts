import { protocolNames } from "@tau-agent/rpc-protocol";
import { dialectSections } from "./dialect-sections.ts";
import { sections } from "./requirement-sections.ts";

export const requirements: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(sections),
  ...Object.values(dialectSections),
);

const own: ReadonlySet<string> = new Set(Object.keys(sections["Beyond the document"]));
const [pi, ...others] = protocolNames;

/** The dialect whose document makes a statement; undefined for Tau's additions to all dialects. */
export function documentOf(id: string): string | undefined {
  if (own.has(id)) return undefined;
  const [prefix = ""] = id.split(".");
  return others.find((name) => name === prefix) ?? pi;
}
