import type { Skill } from "../../resources/skills/skills.ts";
import { buildSystemPrompt, type SystemPromptInput } from "../../resources/system-prompt.ts";
import type { SystemPromptOptions } from "../api/context.ts";

/** A copy of the system prompt's parts, which extensions may change. */
export function systemPromptOptionsOf(input: SystemPromptInput): SystemPromptOptions {
  const { tools, cwd, customPrompt, appendPrompts = [], contextFiles = [], skills = [] } = input;
  const snippets = tools.flatMap(({ name, promptSnippet }) =>
    promptSnippet === undefined ? [] : [[name, promptSnippet] as const],
  );
  const guidelines = tools.flatMap(({ name, promptGuidelines = [] }) =>
    promptGuidelines.length === 0 ? [] : [[name, [...promptGuidelines]] as [string, string[]]],
  );
  return {
    cwd,
    ...(customPrompt === undefined ? {} : { customPrompt }),
    selectedTools: tools.map(({ name }) => name),
    hiddenTools: [],
    toolSnippets: Object.fromEntries(snippets),
    toolGuidelines: Object.fromEntries(guidelines),
    promptGuidelines: [],
    appendSystemPrompt: appendPrompts.join("\n\n"),
    contextFiles: contextFiles.map(({ path, content }) => ({ path, content })),
    skills: skills.map((skill) => ({ ...skill, disableModelInvocation: skill.isHiddenFromModel })),
    sections: {},
  };
}

export function renderSystemPromptOptions(
  options: SystemPromptOptions,
  input: SystemPromptInput,
): string {
  const hidden = new Set(options.hiddenTools);
  const selected = new Set(options.selectedTools);
  const tools = input.tools
    .filter(({ name }) => selected.has(name) && !hidden.has(name))
    .map(({ promptSnippet: _, promptGuidelines: __, ...tool }) => {
      const promptSnippet = options.toolSnippets[tool.name];
      const promptGuidelines = options.toolGuidelines[tool.name];
      return {
        ...tool,
        ...(promptSnippet === undefined ? {} : { promptSnippet }),
        ...(promptGuidelines === undefined ? {} : { promptGuidelines }),
      };
    });
  return buildSystemPrompt({
    tools,
    cwd: options.cwd,
    customPrompt: options.customPrompt,
    appendPrompts: [options.appendSystemPrompt],
    guidelines: options.promptGuidelines,
    contextFiles: options.contextFiles,
    skills: options.skills.map(({ disableModelInvocation, ...skill }): Skill => {
      return { ...skill, isHiddenFromModel: disableModelInvocation } as Skill;
    }),
    sections: Object.entries(options.sections).map(([name, text]) => ({ name, text })),
  });
}
