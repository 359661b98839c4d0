import { isJsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import { checkNames } from "../../base/check-options.ts";

interface SpecBase {
  /** The absolute path of the folder in which work starts. */
  readonly cwd: string;
  /** A name for the workspace that stays the same when its spec changes; by default derived from the spec. */
  readonly id?: string | undefined;
}

/** A program that speaks the protocol of `tau exec-server` on its stdin and stdout. */
export interface CommandSpec extends SpecBase {
  /** The program and its arguments. */
  readonly command: readonly string[];
}

/** A program that runs its last argument as a line of `sh`. */
export interface ShellSpec extends SpecBase {
  /** The program and its first arguments. */
  readonly shell: readonly string[];
}

/** The client of the host. */
export interface ClientSpec extends SpecBase {
  readonly client: true;
}

/** Where a workspace is and how it is reached. */
export type WorkspaceSpec = CommandSpec | ShellSpec | ClientSpec;

export interface SpecSource {
  /** The name of the spec in errors. */
  readonly name?: string;
  /** Whether its id is that of a workspace that another host reaches, in whatever form. */
  readonly isCallers?: boolean | undefined;
}

const forms = ["command", "shell", "client"] as const;

/**
 * Checks a spec.
 *
 * @throws {SessionError} `invalid_option` naming the member
 */
export function readWorkspaceSpec(
  value: unknown,
  { name = "workspace", isCallers = false }: SpecSource = {},
): WorkspaceSpec {
  if (!isJsonObject(value)) refuse(name, "expected an object");
  const given = Object.fromEntries(Object.entries(value).filter(([, each]) => each != null));
  checkNames(given, [...forms, "cwd", "id"], `${name}.`);
  const [form, other] = forms.filter((each) => given[each] !== undefined);
  if (form === undefined) refuse(name, "one of command, shell and client is required");
  if (other !== undefined) refuse(`${name}.${other}`, `a spec with ${form} cannot have it`);
  if (form === "client") {
    if (given.client !== true) refuse(`${name}.client`, "expected true");
  } else checkWords(given[form], `${name}.${form}`);
  checkFolder(given.cwd, `${name}.cwd`, form);
  if (given.id !== undefined && !isCallers) checkId(given.id, `${name}.id`);
  return given as unknown as WorkspaceSpec;
}

/** The id of the workspace across sessions. */
export function workspaceIdOf({ id, cwd: _, ...place }: WorkspaceSpec): string {
  if (id !== undefined) return id;
  // Loaded on demand.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256").update(canonicalJson(place)).digest("hex");
  return `ws-${hash.slice(0, 12)}`;
}

/** Canonical JSON (RFC 8785) of a value without numbers. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  const texts = members.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`);
  return `{${texts.join(",")}}`;
}

function checkWords(value: unknown, option: string): void {
  const isText = (word: unknown): word is string => typeof word === "string";
  if (!Array.isArray(value) || !value.every(isText)) refuse(option, "expected a list of strings");
  if (value.length === 0 || value[0] === "") refuse(option, "it is empty: name a program");
  if (value.some((word) => word.includes("\0"))) refuse(option, "no word may contain a NUL");
}

function checkFolder(value: unknown, option: string, form: (typeof forms)[number]): void {
  if (typeof value !== "string") refuse(option, "it is required: an absolute path there");
  if (value.includes("\0")) refuse(option, "it may not contain a NUL");
  // The platform is known only after connecting; a shell's is never Windows.
  const isAbsolute = value.startsWith("/") || /^(?:[A-Za-z]:[\\/]|\\\\)/.test(value);
  const isPossible = form === "shell" ? value.startsWith("/") : isAbsolute;
  if (!isPossible) refuse(option, `expected an absolute path there, got ${JSON.stringify(value)}`);
}

function checkId(value: unknown, option: string): void {
  if (typeof value !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)) {
    refuse(option, "expected 1 to 64 letters, digits, dots, hyphens and underscores");
  }
  if (value === "local" || value.startsWith("ws-")) {
    refuse(option, `${value} is reserved; choose another`);
  }
}

function refuse(option: string, reason: string): never {
  throw new SessionError("invalid_option", { option, reason });
}
