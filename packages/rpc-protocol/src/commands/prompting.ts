import * as z from "zod/mini";
import { AttachmentInput, ImageInput, ResourceReference } from "../vocabulary/content.ts";
import { command } from "./command.ts";
import { Cancelled } from "./shared.ts";

const images = () => z.optional(z.array(ImageInput));

/** The disposition of an accepted prompt. */
const PromptDisposition = () =>
  z.object({
    /**
     * Whether a run was started, the message was queued, an extension handled it, or the session already had
     * a prompt with this id, in which case nothing starts.
     */
    disposition: z.enum(["started", "queued", "handled", "duplicate"]),
    /** The id of the prompt, which is repeated in its events; in `pi-1` only after `initialize`. */
    promptId: z.optional(z.string()),
    /** The id for `cancel_queued`, if the message was queued. */
    itemId: z.optional(z.string()),
  });

const queued = () =>
  z.object({
    /** The user's text. */
    message: z.string(),
    /** Images for the model. */
    images: images(),
    /** Files to attach; the model receives their text, or PDFs as files if its endpoint accepts them. */
    attachments: z.optional(z.array(AttachmentInput)),
    /** Resources of MCP servers to attach; the host reads them. */
    resources: z.optional(z.array(ResourceReference)),
    /**
     * For text that a program forwards: commands, templates, skills and `@file` in it are not expanded, and
     * it counts as untrusted text (`afterUntrusted` of permission rules).
     */
    verbatim: z.optional(z.boolean()),
  });

/** The fields that all commands with a message share. */
const ofMessage = {
  result: PromptDisposition,
  data: "initialized",
  positional: ["message"],
  awaitsSessionChange: true,
} as const;

/** Talking to the agent. */
export const promptingCommands = {
  prompt: command({
    summary:
      "Sends a user prompt. It is answered once the prompt is accepted, before the first event of its run. During a run, `streamingBehavior` says how to queue it.",
    params: () =>
      z.extend(queued(), {
        /** The user's text. A `/name` at its beginning runs a command, a template or a skill. */
        message: z.string(),
        /** How to queue the message during a run. Without it, a prompt is refused during a run. */
        streamingBehavior: z.optional(z.enum(["steer", "followUp", "follow-up"])),
        /**
         * The id of the prompt; by default, the host creates one. If the session already has a prompt with
         * this id, nothing starts.
         */
        promptId: z.optional(
          z.string().check(
            z.regex(/^[A-Za-z0-9_-]{1,128}$/, {
              error: "expected 1 to 128 letters, digits, _ and -",
            }),
          ),
        ),
        /**
         * Together with the `promptId` of a prompt whose run ended with its host: continues the run where it
         * stopped. If the run had already ended, its `prompt_result` is sent.
         */
        resume: z.optional(z.boolean()),
        /** The limits at which the prompt pauses; counted from 0 again when it is resumed. */
        until: z.optional(
          z.object({
            /** The maximum number of replies, including their tool calls. */
            turns: z.optional(z.int().check(z.minimum(1))),
            /** The time in ms after which no reply and no tool call begins. */
            ms: z.optional(z.int().check(z.minimum(1))),
          }),
        ),
        /** A JSON Schema for the answer, which is sent as `output` of the prompt's `prompt_result`. */
        outputSchema: z.optional(z.unknown()),
        /**
         * The parent span of the run, as in W3C Trace Context, if spans are recorded; a malformed value is ignored.
         */
        traceparent: z.optional(z.string()),
      }),
    ...ofMessage,
    startsRun: true,
  }),
  steer: command({
    summary:
      "Queues a message that interrupts the run after the current tool; the remaining tool calls are skipped.",
    params: queued,
    ...ofMessage,
    startsRun: true,
  }),
  follow_up: command({
    summary: "Queues a message for when the agent has nothing left to do.",
    params: queued,
    ...ofMessage,
    startsRun: true,
  }),
  queue_message: command({
    summary:
      "Queues a message for the next turn of the current or the next run, without starting a run.",
    params: queued,
    ...ofMessage,
    beginsWork: true,
  }),
  abort_and_prompt: command({
    summary: "Stops what the agent is doing and sends a prompt, ahead of all queued messages.",
    params: queued,
    ...ofMessage,
    takesLong: true,
    startsRun: true,
  }),
  abort: command({
    summary: "Stops what the agent is doing; answered once it is idle.",
    takesLong: true,
    answersAtOnce: true,
  }),
  new_session: command({
    summary: "Starts a fresh session; `parentSession` is recorded in it.",
    params: () =>
      z.object({
        /** The file of the parent session. */
        parentSession: z.optional(z.string()),
      }),
    result: Cancelled,
    positional: ["parentSession"],
    awaitsSessionChange: true,
    takesLong: true,
  }),
};
