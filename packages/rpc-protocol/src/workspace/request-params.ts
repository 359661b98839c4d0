import { isJsonObject, type JsonObject } from "../vocabulary/json-object.ts";
import { type FrameId, isFrameId } from "./frames.ts";
import type {
  WorkspaceOwner,
  WorkspaceReach,
  WorkspaceSandboxRequest,
  WorkspaceSandboxUse,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

/**
 * Reads and validates the members of a request. Hand-written, because a schema library would be most of an
 * exec server. `null` counts as absent.
 */
export class RequestParams {
  readonly #values: JsonObject;

  /** @throws {WorkspaceError} `failed` if the value is not an object */
  constructor(values: unknown) {
    if (!isJsonObject(values ?? {})) throw wrong("params", "an object");
    this.#values = (values ?? {}) as JsonObject;
  }

  #read<Value>(
    name: string,
    expected: string,
    accepts: (value: unknown) => value is Value,
  ): Value | undefined {
    const value = this.#values[name] ?? undefined;
    if (value !== undefined && !accepts(value)) throw wrong(name, expected);
    return value;
  }

  text(name: string): string {
    return this.optionalText(name) ?? missing(name, "a string");
  }

  optionalText(name: string): string | undefined {
    return this.#read(name, "a string", isText);
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, "true or false", isFlag);
  }

  /** A whole number, 0 or greater. */
  count(name: string): number | undefined {
    return this.#read(name, "a whole number from 0 on", isCount);
  }

  id(name: string): FrameId {
    return this.optionalId(name) ?? missing(name, "a number or a string");
  }

  optionalId(name: string): FrameId | undefined {
    return this.#read(name, "a number or a string", isFrameId);
  }

  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const isWord = (value: unknown): value is Word => words.some((word) => word === value);
    return this.#read(name, `one of ${words.join(", ")}`, isWord);
  }

  bytes(name: string): Uint8Array {
    const text = this.text(name);
    const bytes = Buffer.from(text, "base64");
    // The decoder skips characters that are not base64.
    if (bytes.length !== Buffer.byteLength(text, "base64")) throw wrong(name, "base64");
    return bytes;
  }

  command(): string | readonly string[] {
    const isCommand = (value: unknown) => isText(value) || isTexts(value);
    const check = isCommand as (value: unknown) => value is string | readonly string[];
    const expected = "a string or a list of strings";
    return this.#read("command", expected, check) ?? missing("command", expected);
  }

  environment(): Readonly<Record<string, string | null>> | undefined {
    const isEnvironment = (value: unknown): value is Record<string, string | null> =>
      isJsonObject(value) && Object.values(value).every((each) => each === null || isText(each));
    return this.#read("environment", "an object of strings and null", isEnvironment);
  }

  /** On behalf of which session something is changed; both members or none. */
  owner(): WorkspaceOwner | undefined {
    const session = this.optionalText("session");
    const epoch = this.count("epoch");
    if (session === undefined && epoch === undefined) return undefined;
    if (session === undefined) return missing("session", "a string");
    if (!isSessionName(session)) throw wrong("session", nameRule);
    return { session, epoch: epoch ?? missing("epoch", "a whole number from 0 on") };
  }

  /** The id of a kept command, which is also the name of a folder. */
  commandId(): string | undefined {
    return this.#read("commandId", nameRule, isSessionName);
  }

  /** A name that is also used as the name of a file or folder. */
  name(name: string): string {
    return this.#read(name, nameRule, isSessionName) ?? missing(name, nameRule);
  }

  sandbox(): WorkspaceSandboxUse | undefined {
    const isUse = (value: unknown): value is WorkspaceSandboxUse =>
      isJsonObject(value) && isText(value.id) && isText(value.cwd);
    return this.#read("sandbox", "{id, cwd}", isUse);
  }

  /** The parameters of `open_sandbox`. */
  sandboxRequest(): Omit<WorkspaceSandboxRequest, "onConnection"> {
    const isVariables = (value: unknown): value is Record<string, string> =>
      isJsonObject(value) && Object.values(value).every(isText);
    const words = (name: string) => this.#read(name, "a list of strings", isTexts);
    const mode = this.oneOf("mode", ["workspace", "readOnly"]);
    const network = this.oneOf("network", ["off", "all", "host"]);
    return {
      sandboxId: this.name("sandboxId"),
      cwd: this.text("cwd"),
      mode: mode ?? missing("mode", "workspace or readOnly"),
      write: words("write") ?? [],
      denyRead: words("denyRead") ?? [],
      network: network ?? missing("network", "off, all or host"),
      whenUnavailable: this.oneOf("whenUnavailable", ["refuse", "ask", "run"]) ?? "refuse",
      variables: this.#read("variables", "an object of strings", isVariables),
      hidden: words("hidden"),
      certificate: this.optionalText("certificate"),
    };
  }

  within(): WorkspaceReach | undefined {
    const isReach = (value: unknown): value is WorkspaceReach =>
      isJsonObject(value) && isTexts(value.allow) && isTexts(value.deny);
    return this.#read("within", "{allow, deny}, lists of strings", isReach);
  }
}

const nameRule = "letters, digits, - and _";
const isText = (value: unknown): value is string => typeof value === "string";
const isSessionName = (value: unknown): value is string =>
  isText(value) && /^[A-Za-z0-9_-]{1,128}$/.test(value);
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

function missing(name: string, expected: string): never {
  throw new WorkspaceError("failed", `"${name}" is missing: ${expected}`);
}

function wrong(name: string, expected: string): WorkspaceError {
  return new WorkspaceError("failed", `"${name}" must be ${expected}`);
}
