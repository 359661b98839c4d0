import type { RequestDiagnostic, ToolDefinition } from "../provider.ts";
import { isSameList } from "./same-list.ts";
import { sanitizeText } from "./sanitize.ts";
import { wireName } from "./tool-name.ts";
import { toolRules } from "./tool-rules.ts";
import { UnusableSchema, wireSchema } from "./tool-schema.ts";
import { WireSchemas } from "./wire-schemas.ts";

export interface FittedTools {
  readonly tools: readonly ToolDefinition[];
  /** Maps the vendor's name of a tool to its own name, where they differ. */
  readonly ownNames: ReadonlyMap<string, string>;
  readonly leftOut: readonly RequestDiagnostic[];
}

type Fitted = ToolDefinition | RequestDiagnostic;

/** The result of the last call, and of what it was made. */
type Last = Readonly<{ api: string; given: readonly ToolDefinition[]; fitted: FittedTools }>;

/** Adapts tools to a wire format and caches the results for later requests. */
export class ToolFitter {
  readonly #known = new Map<string, WeakMap<ToolDefinition, Fitted>>();
  #last: Last | undefined;
  readonly #reported = new Set<string>();
  readonly #schemas: WireSchemas;

  constructor(schemas: WireSchemas = new WireSchemas()) {
    this.#schemas = schemas;
  }

  /** The same object for the same tools, so that what is made of them can be kept. */
  fit(api: string, tools: readonly ToolDefinition[]): FittedTools {
    const last = this.#last;
    if (last?.api === api && isSameList(last.given, tools)) return last.fitted;
    const fitted = this.#fitAll(api, tools);
    this.#last = { api, given: [...tools], fitted };
    return fitted;
  }

  #fitAll(api: string, tools: readonly ToolDefinition[]): FittedTools {
    const known = this.#known.get(api) ?? new WeakMap<ToolDefinition, Fitted>();
    this.#known.set(api, known);
    const fitted = new Map<string, ToolDefinition>();
    const ownNames = new Map<string, string>();
    const leftOut: RequestDiagnostic[] = [];
    for (const tool of tools) {
      let made = known.get(tool) ?? fitTool(tool, api, this.#schemas);
      known.set(tool, made);
      if (!("code" in made) && fitted.has(made.name)) {
        made = leaveOut(tool, "another tool has its name");
      }
      if ("code" in made) {
        leftOut.push(made);
        continue;
      }
      fitted.set(made.name, made);
      if (made.name !== tool.name) ownNames.set(made.name, tool.name);
    }
    return { tools: [...fitted.values()], ownNames, leftOut };
  }

  /** Whether this diagnostic is new. */
  isNews({ tool, message }: RequestDiagnostic): boolean {
    const text = `${tool}\n${message}`;
    const isNews = !this.#reported.has(text);
    this.#reported.add(text);
    return isNews;
  }
}

function fitTool(tool: ToolDefinition, api: string, schemas: WireSchemas): Fitted {
  const rules = toolRules(api);
  if (typeof tool.name !== "string" || tool.name.trim() === "") {
    return leaveOut(tool, "it has no name");
  }
  try {
    // A schema may be a live object; one that cannot be serialized cannot be sent.
    const json = JSON.stringify(tool.parameters) ?? "{}";
    const parameters = schemas.of(api, json, () => wireSchema(JSON.parse(json), rules));
    const { description } = tool;
    return {
      name: wireName(tool.name, rules),
      description: typeof description === "string" ? sanitizeText(description) : "",
      parameters,
      ...(tool.callsByName && { callsByName: true }),
    };
  } catch (error) {
    const why =
      error instanceof UnusableSchema ? error.message : "its schema cannot be written as JSON";
    return leaveOut(tool, why);
  }
}

function leaveOut({ name }: ToolDefinition, why: string): RequestDiagnostic {
  return {
    code: "tool_left_out",
    tool: String(name),
    message: `The tool ${JSON.stringify(name)} is not offered to this model: ${why}`,
  };
}
