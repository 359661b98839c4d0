import type {
  HarnessV1ContinueTurnState,
  HarnessV1LifecycleState,
  HarnessV1ResumeSessionState,
} from "@ai-sdk/harness";
import { HarnessError } from "@ai-sdk/harness";
import * as z from "zod";

export const HARNESS_ID = "tau";

/** Where a session is, for another process that resumes it. */
export const lifecycleData = z.object({
  /** The address of the host while it runs. */
  url: z.string(),
  /** The handle of the session in that host. */
  handle: z.string(),
  /** The id of the conversation, for starting a new host. */
  durableSessionId: z.string(),
  /** The position of the last frame that was read. */
  position: z.object({ streamId: z.string(), seq: z.number() }).optional(),
  /** The prompt of the suspended turn. */
  promptId: z.string().optional(),
  /** The calls and questions of the turn that were shown and are still open. */
  shown: z.array(z.string()),
  /** How much of its replies was shown. */
  place: z
    .object({
      turn: z.number(),
      isInTurn: z.boolean(),
      replies: z.number(),
      blocks: z
        .array(
          z.object({
            index: z.number(),
            block: z.enum(["text", "thinking"]),
            length: z.number(),
            isEnded: z.boolean(),
          }),
        )
        .readonly(),
    })
    .optional(),
});
export type LifecycleData = z.infer<typeof lifecycleData>;

export function readState(state: HarnessV1LifecycleState | undefined): LifecycleData | undefined {
  if (state === undefined) return undefined;
  if (state.harnessId !== HARNESS_ID) {
    throw new HarnessError({
      message: `This state is of the harness ${state.harnessId}, not of tau`,
    });
  }
  return lifecycleData.parse(state.data);
}

const head = { harnessId: HARNESS_ID, specificationVersion: "harness-v1" } as const;

export function resumeState(data: LifecycleData): HarnessV1ResumeSessionState {
  return { type: "resume-session", ...head, data: { ...data } as never };
}

export function continueState(data: LifecycleData): HarnessV1ContinueTurnState {
  return { type: "continue-turn", ...head, data: { ...data } as never };
}
