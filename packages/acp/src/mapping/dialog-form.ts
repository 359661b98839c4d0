import type {
  CreateElicitationResponse,
  ElicitationPropertySchema,
  ElicitationSchema,
} from "@agentclientprotocol/sdk";
import type { ExtensionUiRequest, ExtensionUiResponse } from "@tau-agent/coding-agent";

export interface DialogForm {
  readonly message: string;
  readonly requestedSchema: ElicitationSchema;
}

export function dialogForm(dialog: ExtensionUiRequest): DialogForm | undefined {
  switch (dialog.method) {
    case "select":
      return form(dialog.title, { type: "string", title: dialog.title, enum: dialog.options });
    case "confirm": {
      const message = [dialog.title, dialog.message].filter((text) => text !== "").join("\n\n");
      return form(message, { type: "boolean", title: dialog.title, default: false });
    }
    case "input": {
      const { title, placeholder } = dialog;
      return form(title, { type: "string", title, ...described(placeholder) });
    }
    case "editor": {
      const { title, prefill } = dialog;
      return form(title, { type: "string", title, ...(prefill ? { default: prefill } : {}) });
    }
    default:
      return undefined;
  }
}

/** The dialog's result for an answer to its form. A choice that was not offered is ignored. */
export function dialogAnswer(
  dialog: ExtensionUiRequest,
  answer: CreateElicitationResponse | undefined,
): Omit<ExtensionUiResponse, "type" | "id"> {
  if (answer === undefined || answer.action !== "accept") return { cancelled: true };
  const { value } = Object(answer.content) as { readonly value?: unknown };
  if (dialog.method === "confirm") return { confirmed: value === true };
  if (dialog.method === "select" && !dialog.options.some((option) => option === value)) {
    return { cancelled: true };
  }
  return typeof value === "string" ? { value } : { cancelled: true };
}

function form(message: string, value: ElicitationPropertySchema): DialogForm {
  return {
    message: message === "" ? "A question" : message,
    requestedSchema: { type: "object", properties: { value }, required: ["value"] },
  };
}

function described(description: string | undefined): { description?: string } {
  return description ? { description } : {};
}
