import { AsyncLocalStorage } from "node:async_hooks";
import type {
  DialogParams,
  ExtensionUiRequest,
  ExtensionUiResponse,
} from "@tau-agent/rpc-protocol";
import {
  answerDialog,
  type DialogResult,
  type HostRequests,
  isTimed,
  randomUuid,
  readDialogResult,
  Withdrawal,
} from "@tau-agent/system";
import type { ClientUi, DialogOptions, ExtensionUi } from "../api/ui.ts";
import { shownText } from "./shown-text.ts";
import { terminalUi } from "./terminal-ui.ts";

/** A request without the members common to all requests; one type per method. */
type Request = ExtensionUiRequest extends infer R
  ? R extends ExtensionUiRequest
    ? Omit<R, "type" | "id">
    : never
  : never;

interface Answer {
  readonly value?: string;
  readonly confirmed?: boolean;
  readonly cancelled?: boolean;
}

const dismissed: Answer = { cancelled: true };

/** Carries dialogs and notices of extensions to a client, and the answers back. */
export interface UiPort {
  readonly ui: ExtensionUi;
  readonly hasUi: boolean;
  readonly isAsking: boolean;
  /** Takes a client's answer; late and unknown ones are ignored. */
  answer(response: ExtensionUiResponse): void;
  /** Runs code of a tool call: dialogs that it opens name the call, including those of nested calls. */
  during<Value>(toolCallId: string, work: () => Promise<Value>): Promise<Value>;
  /** The same, and also returns whether a person answered one of its dialogs. */
  watch<Value>(
    toolCallId: string,
    work: () => Promise<Value>,
  ): Promise<{ value: Value; wasAsked: boolean }>;
  /** Dismisses all open dialogs, because the run was aborted or the session ends. */
  settleAll(by: "abort" | "end"): void;
  /** The same permanently: dialogs opened later are dismissed at once. */
  close(): void;
}

export interface UiPortOptions {
  readonly requests: HostRequests;
  readonly send: (request: ExtensionUiRequest) => void;
  /** Called when dialogs open and close. */
  readonly onDialog?: ((phase: "start" | "end", kind: string, title: string) => void) | undefined;
}

/** A port that sends frames. The host keeps the timers; a dialog settles exactly once. */
export function createUiPort(options: UiPortOptions): UiPort {
  const dialogs = new OpenDialogs(options);
  const tell = (request: Request): void => {
    options.send({ type: "extension_ui_request", id: randomUuid(), ...request });
  };
  return {
    hasUi: true,
    get isAsking() {
      return dialogs.isOpen;
    },
    ui: terminalUi(clientUi(dialogs, tell)),
    answer: (response) => answerDialog(options.requests, response),
    settleAll: (by) => dialogs.settleAll(by),
    during: async (id, work) => (await dialogs.watch(id, work)).value,
    watch: (id, work) => dialogs.watch(id, work),
    close: () => dialogs.close(),
  };
}

export type ShowNotice = (message: string, type: (typeof notifyTypes)[number]) => void;

/** A port without a client: dialogs are dismissed at once, notices go to `show`, and everything else does nothing. */
export function createHeadlessUiPort(show?: ShowNotice): UiPort {
  const nobody: ClientUi = {
    select: async () => undefined,
    confirm: async () => false,
    input: async () => undefined,
    editor: async () => undefined,
    notify: (message, type) => show?.(shownText(message), oneOf(notifyTypes, type) ?? "info"),
    setStatus: () => {},
    setWidget: () => {},
    setTitle: () => {},
    setEditorText: () => {},
  };
  return {
    hasUi: false,
    isAsking: false,
    ui: terminalUi(nobody),
    answer: () => {},
    settleAll: () => {},
    during: (_, work) => work(),
    watch: async (_, work) => ({ value: await work(), wasAsked: false }),
    close: () => {},
  };
}

interface WatchedCall {
  readonly toolCallId: string;
  wasAsked: boolean;
  isOver: boolean;
}

class OpenDialogs {
  readonly #options: UiPortOptions;
  readonly #open = new Set<AbortController>();
  /** Distinguishes a handler's dialogs from those of code that runs in parallel. */
  readonly #watched = new AsyncLocalStorage<WatchedCall>();
  #isClosed = false;

  constructor(options: UiPortOptions) {
    this.#options = options;
  }

  async watch<Value>(
    id: string,
    work: () => Promise<Value>,
  ): Promise<{ value: Value; wasAsked: boolean }> {
    // Clients know the model's call, not the nested calls of its tool.
    const { toolCallId = id } = this.#watched.getStore() ?? {};
    const seen: WatchedCall = { toolCallId, wasAsked: false, isOver: false };
    try {
      const value = await this.#watched.run(seen, work);
      return { value, wasAsked: seen.wasAsked };
    } finally {
      seen.isOver = true;
    }
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  settleAll(by: "abort" | "end"): void {
    for (const controller of [...this.#open]) controller.abort(new Withdrawal(by));
  }

  close(): void {
    this.#isClosed = true;
    this.settleAll("end");
  }

  /** Sends a dialog and waits for its answer, timeout or abort. */
  async ask(params: DialogParams, { signal, timeout }: DialogOptions): Promise<Answer> {
    if (this.#isClosed || signal?.aborted) return dismissed;
    const { requests, onDialog } = this.#options;
    const { method, title } = params;
    const controller = new AbortController();
    const withdraw = (): void => controller.abort(new Withdrawal("abort"));
    signal?.addEventListener("abort", withdraw, { once: true });
    this.#open.add(controller);
    onDialog?.("start", method, title);
    const watched = this.#watched.getStore();
    const { by, result = dismissed } = await requests.ask<DialogResult>({
      method: "dialog",
      params,
      toolCallId: watched?.isOver === false ? watched.toolCallId : undefined,
      onTimeout: "cancel",
      timeoutMs: isTimed(timeout) ? timeout : undefined,
      signal: controller.signal,
      unanswered: "cancelled",
      read: readDialogResult(method),
    });
    if (watched !== undefined && by === "client") watched.wasAsked = true;
    this.#open.delete(controller);
    signal?.removeEventListener("abort", withdraw);
    onDialog?.("end", method, title);
    return result;
  }
}

/** Some pi-compatible hosts add descriptions to options; the answer is the label. */
function shownOption(option: unknown): string {
  const { label } = Object(option) as { label?: unknown };
  return shownText(typeof label === "string" ? label : option);
}

function clientUi(dialogs: OpenDialogs, tell: (request: Request) => void): ClientUi {
  const textOf = ({ value, cancelled }: Answer): string | undefined =>
    cancelled === true ? undefined : value;
  return {
    select: async (title, options, dialog = {}) => {
      const request = {
        method: "select",
        title: shownText(title),
        options: Array.from(options, shownOption),
        ...timeoutOf(dialog),
      } as const;
      return textOf(await dialogs.ask(request, dialog));
    },
    confirm: async (title, message, dialog = {}) => {
      const said = { title: shownText(title), message: shownText(message) };
      const request = { method: "confirm", ...said, ...timeoutOf(dialog) } as const;
      const answer = await dialogs.ask(request, dialog);
      return answer.cancelled !== true && answer.confirmed === true;
    },
    input: async (title, placeholder, dialog = {}) => {
      const said = { title: shownText(title), ...textIfAny("placeholder", placeholder) };
      const request = { method: "input", ...said, ...timeoutOf(dialog) } as const;
      return textOf(await dialogs.ask(request, dialog));
    },
    editor: async (title, prefill, dialog = {}) => {
      const said = { title: shownText(title), ...textIfAny("prefill", prefill) };
      return textOf(await dialogs.ask({ method: "editor", ...said }, dialog));
    },
    notify: (message, type) => {
      const known = oneOf(notifyTypes, type);
      const kind = known === undefined ? {} : { notifyType: known };
      tell({ method: "notify", message: shownText(message), ...kind });
    },
    setStatus: (key, text) =>
      tell({ method: "setStatus", statusKey: shownText(key), ...textIfAny("statusText", text) }),
    setWidget: (key, content, options) => {
      // Anything but lines of text needs a terminal.
      if (content !== undefined && content !== null && !Array.isArray(content)) return;
      const lines = Array.isArray(content) ? { widgetLines: content.map(shownText) } : {};
      const placement = oneOf(placements, options?.placement);
      const place = placement === undefined ? {} : { widgetPlacement: placement };
      tell({ method: "setWidget", widgetKey: shownText(key), ...lines, ...place });
    },
    setTitle: (title) => tell({ method: "setTitle", title: shownText(title) }),
    setEditorText: (text) => tell({ method: "set_editor_text", text: shownText(text) }),
  };
}

const notifyTypes = ["info", "warning", "error"] as const;
const placements = ["aboveEditor", "belowEditor"] as const;

/** Passes on only values that clients know. */
function oneOf<Known>(known: readonly Known[], value: unknown): Known | undefined {
  return known.find((one) => one === value);
}

function textIfAny<Name extends string>(name: Name, value: unknown): { [N in Name]?: string } {
  if (value === undefined || value === null) return {};
  return { [name]: shownText(value) } as { [N in Name]?: string };
}

function timeoutOf({ timeout }: DialogOptions): { timeout?: number } {
  return Number.isFinite(timeout) ? { timeout: Number(timeout) } : {};
}
