import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Features } from "../request/setup.ts";

/** Opus, Sonnet and Haiku 5.5, Fable and Mythos 5.1 and 5.2, in the spellings of catalogues and gateways. */
const binding = /(?:opus|sonnet|haiku)-5[.-]5|(?:fable|mythos)-5[.-][12]|claude-[a-z]+-latest/i;

const adaptive =
  /claude-(?:opus|sonnet)-4[.-][6-9]|claude-(?:opus|sonnet|haiku)-[5-9]|claude-(?:fable|mythos)/i;

/** Whether a model, identified by its name on any cloud, decides itself how much to think. */
export function thinksAdaptively(name: string): boolean {
  return adaptive.test(name.replaceAll(" ", "-"));
}

/**
 * Reads a model's features from its flags; whether thinking is bound to the model depends on the model's
 * name, wherever it runs.
 */
export function featuresOf({ id, compat = {} }: Model): Features {
  return {
    bindsThinking:
      typeof compat.bindsThinking === "boolean" ? compat.bindsThinking : binding.test(id),
    appends: {
      system: compat.supportsMidConvoSystemMessages === true,
      tools: compat.supportsMidConvoToolChanges === true,
      effort: compat.supportsMidConvoEffort === true,
    },
  };
}
