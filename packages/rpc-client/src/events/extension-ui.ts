import type { ExtensionUiRequest, ExtensionUiResponse } from "@tau-agent/rpc-protocol";

type Method = ExtensionUiRequest["method"];
type RequestOf<M extends Method> = Extract<ExtensionUiRequest, { method: M }> & {
  /** The session that asks, if the client has several. */
  readonly sessionId?: string | undefined;
};
type Awaitable<T> = T | Promise<T>;

/**
 * Handlers for the UI requests of extensions. A dialog returns the selected or entered text (`confirm`: a
 * boolean). Returning undefined, or having no handler, cancels the dialog.
 */
export interface ExtensionUiHandlers {
  select?(request: RequestOf<"select">): Awaitable<string | undefined>;
  confirm?(request: RequestOf<"confirm">): Awaitable<boolean | undefined>;
  input?(request: RequestOf<"input">): Awaitable<string | undefined>;
  editor?(request: RequestOf<"editor">): Awaitable<string | undefined>;
  notify?(request: RequestOf<"notify">): void;
  setStatus?(request: RequestOf<"setStatus">): void;
  setWidget?(request: RequestOf<"setWidget">): void;
  setTitle?(request: RequestOf<"setTitle">): void;
  setEditorText?(request: RequestOf<"set_editor_text">): void;
}

/** Shows a UI request of an extension; returns the answer to send, or undefined if none is expected. */
export async function answerUiRequest(
  asked: ExtensionUiRequest,
  handlers: ExtensionUiHandlers,
  sessionId: string | undefined,
): Promise<ExtensionUiResponse | undefined> {
  const request = { ...asked, sessionId };
  const { id } = request;
  switch (request.method) {
    case "select":
      return textAnswer(id, await handlers.select?.(request));
    case "input":
      return textAnswer(id, await handlers.input?.(request));
    case "editor":
      return textAnswer(id, await handlers.editor?.(request));
    case "confirm": {
      const confirmed = await handlers.confirm?.(request);
      return confirmed === undefined ? cancelled(id) : { ...answer(id), confirmed };
    }
    case "notify":
      handlers.notify?.(request);
      return undefined;
    case "setStatus":
      handlers.setStatus?.(request);
      return undefined;
    case "setWidget":
      handlers.setWidget?.(request);
      return undefined;
    case "setTitle":
      handlers.setTitle?.(request);
      return undefined;
    case "set_editor_text":
      handlers.setEditorText?.(request);
      return undefined;
  }
}

/** The answer that cancels a dialog. */
export function cancelled(id: string): ExtensionUiResponse {
  return { ...answer(id), cancelled: true };
}

function textAnswer(id: string, value: string | undefined): ExtensionUiResponse {
  return value === undefined ? cancelled(id) : { ...answer(id), value };
}

function answer(id: string): ExtensionUiResponse {
  return { type: "extension_ui_response", id };
}
