import type { PathPlan } from "../paths/path-rules.ts";

export interface SeatbeltPlan extends Pick<PathPlan, "writable" | "denied"> {
  /** What of the writable stays as it is. */
  readonly readOnly: readonly string[];
  /** What is written all the same. */
  readonly alsoWritable?: readonly string[];
  /** All, nothing, or the port of a proxy on this machine. */
  readonly network: "all" | "off" | { readonly port: number };
}

/** Services of macOS that run programs for others. */
const closedServices = [
  "com.apple.coreservices.launchservicesd",
  "com.apple.lsd.open",
  "com.apple.security.agent",
];

/**
 * A profile for `sandbox-exec`, in the language of Seatbelt: the last rule that fits decides. Rules name
 * paths, so they also hold for what does not exist.
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
    // Neither the folders around what is protected, nor what is denied, can be moved out of the rules.
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

/** Folders on the way from what may be written to these paths. */
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

/** Strings of the profile's language escape quotes and backslashes. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
