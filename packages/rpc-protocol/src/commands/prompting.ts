import * as z from "zod/mini";
import { AttachmentInput, ImageInput, ResourceReference } from "../vocabulary/content.ts";
import { command } from "./command.ts";
import { Cancelled } from "./shared.ts";

const images = () => z.optional(z.array(ImageInput));

/** What became of an accepted prompt. */
const PromptDisposition = () =>
  z.object({
    /**
     * Whether a run was started, the message was queued, an extension handled it, or the session
     * already had a prompt of this id: then nothing starts.
     */
    disposition: z.enum(["started", "queued", "handled", "duplicate"]),
    /** The id of the prompt, which its events carry; in `pi-1` only after `initialize`. */
    promptId: z.optional(z.string()),
    /** What `cancel_queued` takes, if the message was queued. */
    itemId: z.optional(z.string()),
  });

const queued = () =>
  z.object({
    /** The user's text. */
    message: z.string(),
    /** Images for the model. */
    images: images(),
    /** Files to send along; the model reads their text, and PDFs as they are where its endpoint takes them. */
    attachments: z.optional(z.array(AttachmentInput)),
    /** Resources of MCP servers to send along; the host reads them. */
    resources: z.optional(z.array(ResourceReference)),
    /**
     * For text that a program forwards: no command, template, skill or `@file` in it is looked at, and it
     * counts as text from outside (`afterUntrusted` of permission rules).
     */
    verbatim: z.optional(z.boolean()),
  });

/** What all commands with a message share. */
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
        /** The id of the prompt; made by the host by default. One that the session has starts nothing. */
        promptId: z.optional(
          z.string().check(
            z.regex(/^[A-Za-z0-9_-]{1,128}$/, {
              error: "expected 1 to 128 letters, digits, _ and -",
            }),
          ),
        ),
        /**
         * With the `promptId` of a prompt whose run ended with its host: the run goes on where it was. If
         * it had ended before, its `prompt_result` is sent.
         */
        resume: z.optional(z.boolean()),
        /** How far the prompt goes before it pauses; counted from 0 again when it is resumed. */
        until: z.optional(
          z.object({
            /** So many replies with their tools. */
            turns: z.optional(z.int().check(z.minimum(1))),
            /** No reply and no tool begins after this time, in ms. */
            ms: z.optional(z.int().check(z.minimum(1))),
          }),
        ),
        /** A JSON Schema for the answer, which comes as `output` of the prompt's `prompt_result`. */
        outputSchema: z.optional(z.unknown()),
        /** The span that the run belongs to, as in W3C Trace Context, where spans are made; a malformed one is ignored. */
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
