import type { PathPlan } from "../paths/path-rules.ts";

export interface SeatbeltPlan extends Pick<PathPlan, "writable" | "denied"> {
  /** Paths inside the writable ones that are read-only. */
  readonly readOnly: readonly string[];
  /** Paths that are writable nevertheless. */
  readonly alsoWritable?: readonly string[];
  /** All, nothing, or only the port of a proxy on this machine. */
  readonly network: "all" | "off" | { readonly port: number };
}

/** Services of macOS that run programs for others. */
const closedServices = [
  "com.apple.coreservices.launchservicesd",
  "com.apple.lsd.open",
  "com.apple.security.agent",
];

/**
 * A profile for `sandbox-exec`, in the language of Seatbelt: the last matching rule decides. Rules name
 * paths, so they also apply to paths that do not exist.
 */
export function seatbeltProfile(plan: SeatbeltPlan): string {
  const { writable, readOnly, alsoWritable = [], denied, network } = plan;
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    rule("allow file-write*", ["/dev/null", "/dev/zero", "/dev/tty"].map(literal)),
    rule("allow file-write*", writable.map(subpath)),
    rule("deny file-write*", readOnly.map(subpath)),
    rule("allow file-write*", alsoWritable.map(subpath)),
    rule("deny file-write* file-read*", denied.map(subpath)),
    // Neither folders around protected paths nor denied paths can be moved to escape the rules.
    rule("deny file-write-unlink", parents([...readOnly, ...denied], writable).map(literal)),
    rule(
      "deny mach-lookup",
      closedServices.map((name) => `(global-name ${quoted(name)})`),
    ),
    "(deny process-info* (target others))",
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    ...networkRules(network),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function networkRules(network: SeatbeltPlan["network"]): readonly string[] {
  if (network === "all") return [];
  if (network === "off") return ["(deny network*)"];
  return [
    "(deny network*)",
    `(allow network-outbound (remote ip ${quoted(`localhost:${network.port}`)}))`,
  ];
}

function rule(head: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${head} ${filters.join(" ")})`;
}

/** Folders between the writable ones and these paths. */
function parents(paths: readonly string[], writable: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const outer = writable.find((each) => path.startsWith(`${each}/`));
    if (outer === undefined) continue;
    const parts = path.slice(outer.length + 1).split("/");
    parts.slice(0, -1).forEach((_, index) => {
      found.add(`${outer}/${parts.slice(0, index + 1).join("/")}`);
    });
  }
  return [...found];
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

/** Quotes a string for a profile, escaping quotes and backslashes. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
