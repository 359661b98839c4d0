import type {
  DialogParams,
  ExtensionUiRequest,
  ExtensionUiResponse,
} from "@tau-agent/rpc-protocol";
import { asDialog, isJsonObject, isWork, resultOfDialog } from "@tau-agent/rpc-protocol/plain";
import type { Answer, HostRequests, RequestSink } from "./host-requests.ts";
import { RequestError } from "./request-error.ts";

export type DialogResult =
  | { readonly value: string }
  | { readonly confirmed: boolean }
  | { readonly cancelled: true };

export function readDialogResult(
  method: DialogParams["method"],
): (result: unknown) => Answer<DialogResult> {
  const name = method === "confirm" ? "confirmed" : "value";
  const type = method === "confirm" ? "boolean" : "string";
  return (result) => {
    if (!isJsonObject(result)) {
      return { field: "result", reason: `expected an object with ${name} or cancelled` };
    }
    if (result.cancelled === true) {
      return { result: { cancelled: true }, outcome: "cancelled" };
    }
    const value = result[name];
    if (typeof value !== type) {
      return { field: `result.${name}`, reason: `expected ${type}, or cancelled: true` };
    }
    return { result: { [name]: value } as unknown as DialogResult, outcome: "answered" };
  };
}

/** Sends dialogs, and no other requests, to an embedder as `extension_ui_request`. */
export function dialogSink(send: (request: ExtensionUiRequest) => void): RequestSink {
  return {
    answers: (method) => method === "dialog",
    open: (request) => {
      const dialog = asDialog(request, Date.now());
      if (dialog !== undefined) send(dialog);
      return dialog !== undefined;
    },
    closed: () => {},
  };
}

/**
 * Handles an `extension_ui_response`. A response to an unknown or closed request is ignored: some
 * clients also answer notices.
 */
export function answerDialog(requests: HostRequests, response: ExtensionUiResponse): void {
  const request = requests.get(response.id);
  if (request === undefined || isWork(request)) return;
  try {
    requests.answer(response.id, { result: resultOfDialog(request, response) });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  }
}
