import { toolTraits } from "../approvals/tool-traits.ts";
import type { SessionInputs } from "./session-inputs.ts";

export function describeTools({ tools }: Pick<SessionInputs, "tools">) {
  return tools.active.map((tool) => {
    const source = tools.sourceOf(tool);
    const { name, description, parameters } = tool;
    const { isReadOnly: readOnly } = toolTraits(tool, source === "builtin");
    return { name, description, parameters: { ...parameters }, source, readOnly };
  });
}
