import type { Diagnostic } from "@tau-agent/system";
import type {
  ExtensionCommand,
  ExtensionFlag,
  ExtensionHandler,
  ExtensionShortcut,
} from "../api/api.ts";
import { ExtensionError } from "../api/errors.ts";
import type { ExtensionEventName } from "../api/events.ts";
import type { ExtensionTool } from "../api/tool.ts";
import type { VirtualModel } from "../api/virtual-model.ts";
import type { RegisteredProvider } from "../providers/provider-config.ts";
import type { ExtensionFile } from "./discover.ts";

/** A handler of any event; the event's name determines its types. */
export type AnyHandler = ExtensionHandler<ExtensionEventName>;

/** Other names for the same events in some pi-compatible hosts. */
const otherNames: Readonly<Record<string, ExtensionEventName>> = {
  session_before_branch: "session_before_fork",
  session_branch: "session_fork",
};

export class Extension {
  readonly file: ExtensionFile;
  readonly handlers = new Map<ExtensionEventName, AnyHandler[]>();
  readonly tools = new Map<string, ExtensionTool>();
  readonly commands = new Map<string, ExtensionCommand>();
  readonly flags = new Map<string, ExtensionFlag>();
  readonly providers = new Map<string, RegisteredProvider>();
  /** Kept for listing only; without a terminal nothing triggers them. */
  readonly shortcuts = new Map<string, ExtensionShortcut>();
  readonly messageRenderers = new Map<string, unknown>();
  readonly entryRenderers = new Map<string, unknown>();
  readonly mcpServers = new Map<string, unknown>();
  readonly virtualModels = new Map<string, VirtualModel>();

  constructor(file: ExtensionFile) {
    this.file = file;
  }

  get path(): string {
    return this.file.path;
  }

  addHandler(given: ExtensionEventName, handler: AnyHandler): () => void {
    const name = otherNames[given] ?? given;
    if (typeof handler !== "function") {
      throw new ExtensionError(
        "invalid_registration",
        `on("${name}"): the handler is not a function`,
      );
    }
    // Replaces the array, so that an ongoing event still reaches the handlers present at its start.
    this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]);
    return () => {
      const rest = (this.handlers.get(name) ?? []).filter((other) => other !== handler);
      this.handlers.set(name, rest);
    };
  }

  addTool(tool: ExtensionTool): void {
    const refuse = (reason: string): never => {
      throw new ExtensionError("invalid_registration", `registerTool: ${reason}`);
    };
    if (typeof tool !== "object" || tool === null) refuse("there is no tool");
    if (typeof tool.name !== "string" || tool.name === "") refuse("the tool has no name");
    if (typeof tool.execute !== "function") refuse(`${tool.name} has no execute function`);
    // Older hosts accepted tools without a schema, but models need one.
    const parameters = tool.parameters ?? { type: "object", properties: {} };
    // Some schema libraries represent schemas as functions.
    if (typeof parameters !== "object" && !("~standard" in Object(parameters)))
      refuse(`${tool.name} has no schema of parameters`);
    this.tools.set(tool.name, tool.parameters === parameters ? tool : { ...tool, parameters });
  }

  addCommand(name: string, command: ExtensionCommand): void {
    // A useless registration must not disable the rest of the extension: a name that cannot be
    // typed is listed anyway, and a command without a handler fails when it is run.
    if (typeof name !== "string" || name.trim() === "") {
      throw new ExtensionError(
        "invalid_registration",
        `registerCommand: ${JSON.stringify(name)} is not a command name`,
      );
    }
    if (typeof command !== "object" || command === null) {
      throw new ExtensionError("invalid_registration", `registerCommand: ${name} has no options`);
    }
    this.commands.set(name, command);
  }

  addFlag(name: string, flag: ExtensionFlag): void {
    if (typeof name !== "string" || name === "") {
      throw new ExtensionError("invalid_registration", "registerFlag: the flag has no name");
    }
    if (typeof flag !== "object" || flag === null) {
      throw new ExtensionError("invalid_registration", `registerFlag: ${name} has no options`);
    }
    this.flags.set(name, flag);
  }
}

/** Conflicts between extensions; the earlier one wins. */
export function findConflicts(extensions: readonly Extension[]): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const check = (kind: string, names: (extension: Extension) => Iterable<string>): void => {
    const owners = new Map<string, Extension>();
    for (const extension of extensions) {
      for (const name of names(extension)) {
        const owner = owners.get(name);
        if (owner === undefined) owners.set(name, extension);
        else {
          const message = `${kind} ${name} of ${extension.path} is ignored: ${owner.path} already registered it`;
          diagnostics.push({ severity: "warning", message, path: extension.path });
        }
      }
    }
  };
  check("The tool", ({ tools }) => tools.keys());
  check("The flag", ({ flags }) => [...flags.keys()].map((name) => `--${name}`));
  return diagnostics;
}
