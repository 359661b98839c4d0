import type { McpAccess } from "@tau-agent/mcp";
import type { CommandInfo } from "../../resources/list-commands.ts";
import type { PromptResources } from "../../resources/resources.ts";
import type { SessionInputs } from "../../session/session-inputs.ts";
import type { SessionDraft } from "./session-draft.ts";

interface TextSources {
  readonly resources: PromptResources;
  readonly mcp: McpAccess;
  readonly textCommands: () => Promise<readonly CommandInfo[]>;
}

export function sessionTexts(
  draft: SessionDraft,
  { resources, mcp, textCommands }: TextSources,
): Pick<SessionInputs, "systemPrompt" | "listCommands"> {
  const { extensions } = draft.surroundings;
  return {
    listCommands: async () => [
      ...(extensions?.opened?.hooks.commandInfos() ?? []),
      ...(await textCommands()),
      ...mcp.commands,
    ],
    systemPrompt: async (tools) => {
      const prompt = await resources.systemPrompt(tools);
      // Texts are read for the first prompt, so omitted texts are known only now.
      for (const problem of await resources.diagnostics()) draft.parts.problems.noteOnce(problem);
      return mcp.section === "" ? prompt : `${prompt}\n\n${mcp.section}`;
    },
  };
}
