import {
  type AgUiNames,
  agUiEncoder,
  type RunEncoder,
  uiMessageEncoder,
} from "@tau-agent/rpc-client/streams";

/** A format in which other clients read a session. */
export interface DoorFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** The text that ends a response. */
  readonly end: string;
  encoder(names: DoorNames): RunEncoder<object>;
}

/** The client's ids for thread and run; read for each run. */
export type DoorNames = AgUiNames;

export const doorFormats: Readonly<Record<string, DoorFormat>> = {
  "ai-sdk": {
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
    end: "data: [DONE]\n\n",
    encoder: uiMessageEncoder,
  },
  "ag-ui": { headers: {}, end: "", encoder: agUiEncoder },
};

export const formatNames = Object.keys(doorFormats).join(" or ");
