import type { CreateElicitationResponse, ElicitationSchema } from "@agentclientprotocol/sdk";
import type { PendingRequest } from "@tau-agent/rpc-protocol";
import { asDialog, resultOfDialog } from "@tau-agent/rpc-protocol/plain";
import { dialogAnswer, dialogForm } from "./dialog-form.ts";

/** What the user is asked, without the session. */
type Elicitation =
  | {
      readonly mode: "form";
      readonly message: string;
      readonly requestedSchema: ElicitationSchema;
    }
  | {
      readonly mode: "url";
      readonly message: string;
      readonly url: string;
      readonly elicitationId: string;
    };

/** A request of the session as a form or as a page to open; undefined if it is neither. */
export function elicitationOf(request: PendingRequest): Elicitation | undefined {
  switch (request.method) {
    case "elicitation": {
      const { server, message, mode, url = "", requestedSchema = {} } = request.params;
      const said = `${server}: ${message}`;
      if (mode === "url") {
        // Two servers may use the same id.
        return { mode, message: said, url, elicitationId: request.id };
      }
      const schema: ElicitationSchema = { ...requestedSchema, type: "object" };
      return { mode, message: said, requestedSchema: schema };
    }
    case "open_url": {
      const { url, server, userCode } = request.params;
      const place = server === undefined ? "Log in" : `Log in to ${server}`;
      const message = userCode === undefined ? place : `${place} with the code ${userCode}`;
      return { mode: "url", message, url, elicitationId: request.id };
    }
    default: {
      const dialog = asDialog(request, Date.now());
      const form = dialog && dialogForm(dialog);
      return form && { mode: "form", ...form };
    }
  }
}

/**
 * The result of the request for the client's answer.
 *
 * @throws {Error} if the client did not open the login page
 */
export function elicitedResult(
  request: PendingRequest,
  answer: CreateElicitationResponse | undefined,
): unknown {
  switch (request.method) {
    case "elicitation": {
      if (answer?.action === "accept") return { action: "accept", content: answer.content ?? {} };
      return { action: answer?.action === "decline" ? "decline" : "cancel" };
    }
    case "open_url":
      if (answer?.action === "accept") return {};
      throw new Error("The page was not opened.");
    default: {
      const dialog = asDialog(request, Date.now());
      return dialog && resultOfDialog(request, dialogAnswer(dialog, answer));
    }
  }
}
