import type { Diagnostic } from "@tau-agent/system";
import type { ExtensionCommand, SlashCommandInfo } from "../api/api.ts";
import type { CommandContext, ExtensionContext } from "../api/context.ts";
import { ExtensionError, reasonOf } from "../api/errors.ts";
import type {
  ExtensionEvent,
  ExtensionEventName,
  ExtensionEventResult,
  RegisteredMcpServer,
} from "../api/events.ts";
import type { ExtensionTool } from "../api/tool.ts";
import { type Extension, findConflicts } from "../load/registration.ts";
import { sourceInfoOf } from "../load/source-info.ts";
import { BEGIN_LIMIT_MS, HANDLER_LIMIT_MS, inTime } from "./in-time.ts";

export interface ExtensionFailure {
  readonly extensionPath: string;
  readonly event: string;
  readonly error: string;
}

/** A command with its unique name; a second command of the same name gets the suffix `:1`. */
export interface NamedCommand {
  readonly name: string;
  readonly command: ExtensionCommand;
  readonly extension: Extension;
}

export interface OwnedTool {
  readonly tool: ExtensionTool;
  readonly extension: Extension;
}

/** Time limits for handlers of events that differ from {@link HANDLER_LIMIT_MS}. */
const limits: Partial<Record<ExtensionEventName, number>> = {
  session_start: BEGIN_LIMIT_MS,
  resources_discover: BEGIN_LIMIT_MS,
  session_shutdown: BEGIN_LIMIT_MS,
  // These may ask a person in ways that the host cannot observe.
  tool_call: Number.POSITIVE_INFINITY,
  user_bash: Number.POSITIVE_INFINITY,
};

export interface RunnerOptions {
  readonly extensions: readonly Extension[];
  readonly context: ExtensionContext;
  readonly commandContext: CommandContext;
  readonly onFailure: (failure: ExtensionFailure) => void;
  readonly isAsking: () => boolean;
}

/** Returned by a step of {@link ExtensionRunner.each} to skip further handlers. */
export const STOP: unique symbol = Symbol("stop");

/**
 * Calls the handlers of extensions one after another, in the order of loading and registration. If a handler fails, the
 * failure is reported and the next one is called.
 */
export class ExtensionRunner {
  readonly extensions: readonly Extension[];
  readonly context: ExtensionContext;
  readonly commandContext: CommandContext;
  readonly #onFailure: RunnerOptions["onFailure"];
  readonly #isAsking: RunnerOptions["isAsking"];

  constructor(options: RunnerOptions) {
    this.extensions = options.extensions;
    this.context = options.context;
    this.commandContext = options.commandContext;
    this.#onFailure = options.onFailure;
    this.#isAsking = options.isAsking;
  }

  /** Whether any handler listens; events without handlers are not even created. */
  has(name: ExtensionEventName): boolean {
    return this.extensions.some(({ handlers }) => (handlers.get(name) ?? []).length > 0);
  }

  /**
   * Calls every handler of an event.
   *
   * @param event - called for each handler, so that each sees the changes of earlier ones
   * @param take - receives each handler's result; {@link STOP} ends the loop
   * @param fail - receives a handler's exception and ends the loop; for events that fail closed
   */
  async each<Name extends ExtensionEventName>(
    name: Name,
    event: () => ExtensionEvent<Name>,
    {
      take,
      fail,
    }: {
      readonly take?: (result: ExtensionEventResult<Name>) => typeof STOP | undefined;
      readonly fail?: (extension: Extension, error: unknown) => typeof STOP | undefined;
    } = {},
  ): Promise<void> {
    for (const extension of this.extensions) {
      for (const handler of extension.handlers.get(name) ?? []) {
        try {
          const result = await this.#inTime(extension, name, handler(event(), this.context));
          if (result === undefined || result === null) continue;
          if (take?.(result as ExtensionEventResult<Name>) === STOP) return;
        } catch (error) {
          this.reportFailure(extension, name, error);
          if (fail?.(extension, error) === STOP) return;
        }
      }
    }
  }

  #inTime(extension: Extension, name: ExtensionEventName, handled: unknown): Promise<unknown> {
    return inTime(handled, {
      isAsking: this.#isAsking,
      limitMs: limits[name] ?? HANDLER_LIMIT_MS,
      onSlow: (seconds) => {
        const text = `The session has been waiting for this handler for ${seconds} s`;
        this.reportFailure(extension, name, new Error(text));
      },
    });
  }

  /** Sends an event that handlers cannot change. */
  emit<Name extends ExtensionEventName>(event: ExtensionEvent<Name>): Promise<void> {
    return this.each(event.type as Name, () => event);
  }

  /** Reports a problem caused by several extensions together. */
  report(event: string, error: unknown): void {
    this.#onFailure({ extensionPath: "", event, error: reasonOf(error) });
  }

  reportFailure(extension: Extension, event: string, error: unknown): void {
    this.#onFailure({ extensionPath: extension.path, event, error: reasonOf(error) });
  }

  /** The effective tools; of tools with the same name, the first wins. */
  get tools(): OwnedTool[] {
    const tools = new Map<string, OwnedTool>();
    for (const extension of this.extensions) {
      for (const [name, tool] of extension.tools) {
        if (!tools.has(name)) tools.set(name, { tool, extension });
      }
    }
    return [...tools.values()];
  }

  get mcpServers(): RegisteredMcpServer[] {
    const servers = new Map<string, RegisteredMcpServer>();
    for (const { mcpServers, path } of this.extensions) {
      for (const [name, config] of mcpServers) {
        if (!servers.has(name)) servers.set(name, { name, config, extensionPath: path });
      }
    }
    return [...servers.values()];
  }

  /** All commands, with a number appended to duplicate names. */
  get commands(): NamedCommand[] {
    const commands = new Map<string, NamedCommand>();
    for (const extension of this.extensions) {
      for (const [wanted, command] of extension.commands) {
        let name = wanted;
        for (let count = 1; commands.has(name); count += 1) name = `${wanted}:${count}`;
        commands.set(name, { name, command, extension });
      }
    }
    return [...commands.values()];
  }

  get commandInfos(): SlashCommandInfo[] {
    return this.commands.map(({ name, command, extension }) => ({
      name,
      ...(command.description === undefined ? {} : { description: command.description }),
      source: "extension",
      path: extension.path,
    }));
  }

  get describedCommands(): SlashCommandInfo[] {
    const { commands } = this;
    return this.commandInfos.map((info, index) => {
      const extension = commands[index]?.extension;
      return extension === undefined ? info : { ...info, sourceInfo: sourceInfoOf(extension) };
    });
  }

  /** The command at the start of a text, and the text after its name; undefined if there is none. */
  findCommand(text: string): { command: NamedCommand; args: string } | undefined {
    const match = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text);
    const command = match && this.commands.find(({ name }) => name === match[1]);
    if (!match || !command) return undefined;
    return { command, args: (match[2] ?? "").trim() };
  }

  /** Runs a command; its exceptions are reported, not passed on. */
  async runCommand({ command, extension, name }: NamedCommand, args: string): Promise<void> {
    try {
      if (typeof command.handler !== "function") {
        throw new ExtensionError("invalid_registration", `/${name} has no handler`);
      }
      await command.handler(args, this.commandContext);
    } catch (error) {
      this.reportFailure(extension, `command:${name}`, error);
    }
  }

  /** Registrations that are ignored because an earlier extension has made them. */
  get conflicts(): Diagnostic[] {
    return findConflicts(this.extensions);
  }

  /** The flags that extensions declare, by name; a boolean flag takes no value. */
  get flagTypes(): ReadonlyMap<string, "boolean" | "string"> {
    const flags = this.extensions.flatMap((extension) => [...extension.flags]);
    return new Map(flags.map(([name, { type }]) => [name, type]));
  }
}
