import type { AgentTool } from "@tau-agent/agent";
import type { Context, ToolDefinition } from "@tau-agent/ai";
import type { AgentMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, SETUP_ENTRY, type SessionTree } from "@tau-agent/sessions/log";
import { SparseSet } from "@tau-agent/system";
import { type MessagesAt, PastRequests, type Setup } from "./past-requests.ts";

/** The type of the message with changed context files and skills. */
const CHANGED_TEXTS = "context_changed";

/** The setup according to the session's current tools and files. */
export interface WantedSetup extends Setup {
  readonly tools: readonly AgentTool[];
}

export interface RequestSetupOptions {
  readonly conversation: () => Pick<Conversation, "append" | "add" | "messages">;
  /** Whether a tool's text comes from the host or a server rather than from the session's user. */
  readonly isFixed: (tool: AgentTool) => boolean;
  /** Converts messages to what the model read at a time. */
  readonly toLlmMessages: MessagesAt;
}

/**
 * Keeps the beginning of requests as it was first sent, even across processes, because a vendor's cache only matches
 * identical bytes. The model learns of later changes to context files and skills through a message.
 */
export class RequestSetup {
  readonly #options: RequestSetupOptions;
  #current: Setup | undefined;
  /** The tools from which {@link #current} was made. */
  #settledFrom: readonly AgentTool[] | undefined;
  /** The requests of earlier processes. */
  #past: PastRequests | undefined;
  /** The models that have received those earlier requests, by name. */
  readonly #repeated = new SparseSet<string>();
  /** Whether this process has not sent anything yet: servers may still be starting. */
  #isResumed = false;
  /** Whether the model may already have been told about changed texts. */
  #mayBeTold = false;

  constructor(options: RequestSetupOptions) {
    this.#options = options;
  }

  /** Continues with the beginning of another log's requests. */
  restore(tree: Pick<SessionTree, "parsed">): void {
    this.#past = new PastRequests(tree);
    this.#repeated.clear();
    this.#current = this.#past.setup;
    this.#settledFrom = undefined;
    this.#isResumed = true;
    this.#mayBeTold = this.#current !== undefined;
  }

  /** The beginning of the next request; stored when it changes. */
  settle(wanted: WantedSetup): Setup {
    const known = this.#current;
    const next = known === undefined ? definitionsOf(wanted) : this.#continue(known, wanted);
    // A resumed session waits one request for the tools of its servers, so the next request looks again.
    this.#settledFrom = this.#isResumed ? undefined : wanted.tools;
    this.#isResumed = false;
    if (next !== known) {
      const { conversation } = this.#options;
      conversation().append({ type: "custom", customType: SETUP_ENTRY, data: next });
      this.#current = next;
    }
    return next;
  }

  /** Whether a beginning was kept, so that there may be changes to report. */
  get isKept(): boolean {
    return this.#current !== undefined;
  }

  /** Whether requests declare a tool; undefined before the first request. */
  declares(name: string): boolean | undefined {
    return this.#current?.tools.some((tool) => tool.name === name);
  }

  /** The requests of earlier processes; returned once for each model, with its first request. */
  takeEarlier(model: Model, messages: readonly AgentMessage[]): Context["earlier"] {
    const past = this.#past;
    const name = `${model.provider}/${model.id}`;
    if (past === undefined || this.#repeated.has(name)) return undefined;
    this.#repeated.add(name);
    return past.of(model, messages, this.#options.toLlmMessages);
  }

  /** Tells the model about context files and skills that differ from its instructions. */
  tellChanges(system: string): void {
    const known = this.#current?.system;
    if (known === undefined || (known === system && !this.#mayBeTold)) return;
    if (outlineOf(known) !== outlineOf(system)) return;
    const conversation = this.#options.conversation();
    const told = conversation.messages.findLast(isChange);
    this.#mayBeTold = told !== undefined;
    const current = changingSections(system);
    const isKnown = told === undefined && current === changingSections(known);
    const content = changeText(current);
    if (isKnown || told?.content === content) return;
    this.#mayBeTold = true;
    const timestamp = Date.now();
    conversation.add({
      ...{ role: "custom", customType: CHANGED_TEXTS, content, display: false, timestamp },
    });
  }

  #continue(known: Setup, wanted: WantedSetup): Setup {
    const isOutlineSame =
      known.system === wanted.system || outlineOf(known.system) === outlineOf(wanted.system);
    const system = isOutlineSame ? known.system : wanted.system;
    const tools =
      wanted.tools === this.#settledFrom
        ? known.tools
        : this.#continueTools(known.tools, wanted.tools);
    return system === known.system && tools === known.tools ? known : { system, tools };
  }

  #continueTools(known: Setup["tools"], wanted: readonly AgentTool[]): readonly ToolDefinition[] {
    const byName = new Map(wanted.map((tool) => [tool.name, tool]));
    const mayCome = ({ name }: ToolDefinition) => this.#isResumed && name.startsWith("mcp__");
    if (known.some((tool) => !byName.has(tool.name) && !mayCome(tool))) {
      return wanted.map(definitionOf);
    }
    const kept = known.map((tool) => {
      const now = byName.get(tool.name);
      if (now === undefined || this.#options.isFixed(now)) return tool;
      return isSameText(tool, now) ? tool : definitionOf(now);
    });
    const names = new Set(known.map(({ name }) => name));
    const added = wanted.filter(({ name }) => !names.has(name)).map(definitionOf);
    const isSame = added.length === 0 && kept.every((tool, at) => tool === known[at]);
    return isSame ? known : [...kept, ...added];
  }
}

function definitionsOf({ system, tools }: Setup): Setup {
  return { system, tools: tools.map(definitionOf) };
}

function definitionOf({ name, description, parameters, callsByName }: ToolDefinition) {
  return { name, description, parameters, ...(callsByName && { callsByName }) };
}

function isSameText(left: ToolDefinition, right: ToolDefinition): boolean {
  return JSON.stringify(definitionOf(left)) === JSON.stringify(definitionOf(right));
}

/** The parts of the instructions that depend on files and servers rather than on the user of the session. */
const changing = /\n*<(project_context|skills|mcp_servers)>\n[\s\S]*?\n<\/\1>/g;

function outlineOf(system: string): string {
  return system.replace(changing, "");
}

function changingSections(system: string): string {
  const sections = [...system.matchAll(changing)].filter(([, name]) => name !== "mcp_servers");
  return sections.map(([text]) => text.trim()).join("\n\n");
}

function changeText(sections: string): string {
  const all = "The project's instructions and skills have changed since this conversation began.";
  return sections === ""
    ? `${all} There are none any more.`
    : `${all} These replace all earlier ones:\n\n${sections}`;
}

function isChange(message: AgentMessage): message is AgentMessage & { role: "custom" } {
  return message.role === "custom" && message.customType === CHANGED_TEXTS;
}
