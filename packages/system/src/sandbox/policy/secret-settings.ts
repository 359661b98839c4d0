import { isIP } from "node:net";
import { isJsonObject, nearestHint } from "@tau-agent/rpc-protocol/plain";

/** A credential that the sandbox's proxy inserts into requests; commands see only a placeholder. */
export interface SandboxSecret {
  /** The variable with the placeholder in the environment of commands. */
  readonly env: string;
  /** `$NAME` or `!command`; for the library also the value itself, or a function that returns it. */
  readonly value: string | (() => string | Promise<string>);
  /** Exact names; port 443 unless `name:port`. */
  readonly hosts: readonly string[];
  /** The header to set if a request has none: `bearer`, `basic` or `header:<name>`. */
  readonly as?: string | undefined;
  /** The only allowed methods; all by default. */
  readonly methods?: readonly string[] | undefined;
  /** Globs for the only allowed paths, decoded and normalised; all by default. */
  readonly paths?: readonly string[] | undefined;
}

interface SecretProblem {
  readonly field: string;
  readonly reason: string;
}

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const schemes = /^(?:bearer|basic|header:[\w!#$%&'*+.^`|~-]+)$/;

/** The requirement for each member, in words; undefined for a valid value. */
const members: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  env: (value) =>
    typeof value === "string" && /^[A-Za-z_]\w*$/.test(value)
      ? undefined
      : "expected the name of a variable",
  value: () => undefined,
  hosts: (value) =>
    isList(value, isHost) && (value as unknown[]).length > 0
      ? undefined
      : 'expected a list of exact names such as "api.example.com" or "api.example.com:8443"',
  as: (value) =>
    value === undefined || (typeof value === "string" && schemes.test(value))
      ? undefined
      : 'expected "bearer", "basic" or "header:<name>"',
  methods: (value) =>
    value === undefined || isList(value, (method) => token.test(method))
      ? undefined
      : "expected a list of methods",
  paths: (value) =>
    value === undefined || isList(value, (path) => path.startsWith("/"))
      ? undefined
      : 'expected a list of globs such as "/api/**"',
};

/**
 * Reads `sandbox.secrets`. Error texts never show a value.
 *
 * @param isLibrary whether values may be given literally
 */
export function readSecrets(
  value: unknown,
  isLibrary: boolean,
  problems: SecretProblem[],
): readonly SandboxSecret[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    problems.push({ field: "secrets", reason: "expected a list of secrets" });
    return undefined;
  }
  const found = value.map((each, index) => problemOf(each, `secrets[${index}]`, isLibrary));
  problems.push(...found.filter((problem) => problem !== undefined));
  const names = value.map((each) => (isJsonObject(each) ? each.env : undefined));
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice !== -1) {
    problems.push({ field: `secrets[${twice}].env`, reason: "another secret has this variable" });
  }
  return problems.length > 0 ? undefined : (value as SandboxSecret[]);
}

function problemOf(value: unknown, field: string, isLibrary: boolean): SecretProblem | undefined {
  if (!isJsonObject(value)) return { field, reason: "expected an object" };
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) {
    const hint = nearestHint(unknown, Object.keys(members));
    return { field: `${field}.${unknown}`, reason: `there is no such member${hint}` };
  }
  for (const [name, check] of Object.entries(members)) {
    const reason = name === "value" ? valueProblem(value.value, isLibrary) : check(value[name]);
    if (reason !== undefined) return { field: `${field}.${name}`, reason };
  }
  return undefined;
}

function valueProblem(value: unknown, isLibrary: boolean): string | undefined {
  if (typeof value === "string" && /^(?:\$[A-Za-z_]\w*|![\s\S]*\S[\s\S]*)$/.test(value))
    return undefined;
  if (isLibrary && ((typeof value === "string" && value !== "") || typeof value === "function")) {
    return undefined;
  }
  return isLibrary
    ? 'expected "$NAME", "!command", a text or a function'
    : 'expected "$NAME" or "!command"; a secret itself does not belong into a file';
}

function isHost(host: string): boolean {
  const [, name = "", port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  if (isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0) return true;
  return /^(?!-)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?$/.test(name);
}

function isList(value: unknown, accepts: (each: string) => boolean): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && accepts(each));
}

/** The variables that values come from; no command inherits them. */
export function sourceVariables(secrets: readonly SandboxSecret[]): readonly string[] {
  return secrets.flatMap(({ value }) =>
    typeof value === "string" && /^\$[A-Za-z_]\w*$/.test(value) ? [value.slice(1)] : [],
  );
}

/** The name and the port of an entry of `hosts`. */
export function hostAndPort(host: string): { readonly name: string; readonly port: number } {
  const [, name = host, port = "443"] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? [];
  return { name: name.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}
