import { modelOf } from "../rules/common.ts";
import { anthropicMessagesWire } from "./anthropic-messages.ts";
import { objectOf } from "./json.ts";
import type { WireFormat } from "./wire-format.ts";

/** The server side of Claude on Vertex AI: the path contains the model. */
export const anthropicVertexWire: WireFormat = {
  ...anthropicMessagesWire,
  api: "anthropic-vertex",
  parse: (body, path) =>
    anthropicMessagesWire.parse({ ...objectOf(body), model: modelOf({}, path) }, path),
};
