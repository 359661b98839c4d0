import type {
  FunctionDeclaration,
  GenerateContentConfig,
  GenerateContentParameters,
  ThinkingConfig,
  ThinkingLevel as VendorLevel,
} from "@google/genai";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import type { Context, StreamOptions, ToolDefinition } from "../provider.ts";
import { budgetBelow, outputLimit } from "../request/output-limit.ts";
import { outputSchemaFor } from "../request/output-schema.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { encodeContents } from "./contents.ts";

/** The request in the form that the vendor's SDK accepts. */
export type GoogleRequest = GenerateContentParameters;

/** Whether a model accepts thinking levels (Gemini 3 and later) instead of budgets. */
function takesThinkingLevels(model: Model): boolean {
  const mapped = Object.values(model.thinkingLevelMap ?? {});
  return mapped.some((value) => value !== null) || /gemini-[3-9]/.test(model.id);
}

/** Encodes our context as the vendor's request. The context has already been through the history transform. */
export function encodeRequest(
  model: Model,
  context: Context,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): GoogleRequest {
  const isVertex = model.api === "google-vertex";
  const thinkingConfig = encodeThinking(model, options);
  const config: GenerateContentConfig = {
    maxOutputTokens: outputLimit(model, options),
    ...(context.systemPrompt && { systemInstruction: context.systemPrompt }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(context.tools?.length && {
      tools: [{ functionDeclarations: context.tools.map(encodeTool) }],
    }),
    ...(thinkingConfig !== undefined && { thinkingConfig }),
    ...outputFields(options),
  };
  const isGemini3 = takesThinkingLevels(model) && /gemini/.test(model.id);
  if (isVertex && isGemini3 && config.tools !== undefined) Object.assign(config, streamedArguments);
  const rules = { isGemini3, isVertex };
  const contents = encodeContents(context.messages, rules, memory.messages(options));
  return { model: model.id, contents, config };
}

/** Streams arguments in pieces, an option that the Gemini API refuses, and keeps the SDK from calling functions. */
const streamedArguments: GenerateContentConfig = {
  toolConfig: { functionCallingConfig: { streamFunctionCallArguments: true } },
  automaticFunctionCalling: { disable: true },
};

function outputFields({ outputSchema }: StreamOptions): GenerateContentConfig {
  const schema = outputSchemaFor("google-generative-ai", outputSchema);
  if (schema === undefined) return {};
  return { responseMimeType: "application/json", responseJsonSchema: encodeSchema(schema) };
}

function encodeThinking(model: Model, options: StreamOptions): ThinkingConfig | undefined {
  const { thinkingLevel = "off", thinkingBudgets } = options;
  if (!model.reasoning) return undefined;
  const isOff = thinkingLevel === "off";
  if (takesThinkingLevels(model)) {
    const level = isOff ? lowestLevel(model) : thinkingLevel;
    const vendorLevel = (model.thinkingLevelMap?.[level] ?? level).toUpperCase();
    if (!isVendorLevel(vendorLevel)) return { includeThoughts: !isOff };
    return { includeThoughts: !isOff, thinkingLevel: vendorLevel };
  }
  if (isOff) return { includeThoughts: false, thinkingBudget: lowestBudget(model) };
  const wanted = thinkingBudgets?.[thinkingLevel] ?? budget(model, thinkingLevel);
  if (wanted < 0) return { includeThoughts: true, thinkingBudget: wanted };
  const thinkingBudget = budgetBelow(wanted, outputLimit(model, options));
  return thinkingBudget === undefined
    ? { includeThoughts: false, thinkingBudget: lowestBudget(model) }
    : { includeThoughts: true, thinkingBudget };
}

/** The substitute for `off` if a model always thinks. */
function lowestLevel(model: Model): ThinkingLevel {
  const isRefused = (level: ThinkingLevel) => model.thinkingLevelMap?.[level] === null;
  return thinkingLevels.find((level) => level !== "off" && !isRefused(level)) ?? "low";
}

// A type-only import, so that the SDK is not loaded; its enum's values are these strings.
const vendorLevels: ReadonlySet<string> = new Set(["MINIMAL", "LOW", "MEDIUM", "HIGH"]);

function isVendorLevel(value: string): value is `${VendorLevel}` & VendorLevel {
  return vendorLevels.has(value);
}

function isPro(model: Model): boolean {
  return /2\.5-pro/.test(model.id);
}

/** 2.5 Pro always thinks; its minimum is 128 tokens. */
function lowestBudget(model: Model): number {
  return isPro(model) ? 128 : 0;
}

/** The vendor's ranges; -1 lets a model whose range is unknown decide. */
function budget(model: Model, level: ThinkingLevel): number {
  const isFlash = /2\.5-flash/.test(model.id);
  if (!isPro(model) && !isFlash) return -1;
  const lite = /flash-lite/.test(model.id) ? 512 : 128;
  const most = isPro(model) ? 32_768 : 24_576;
  const budgets: Partial<Record<ThinkingLevel, number>> = {
    minimal: lite,
    low: 2048,
    medium: 8192,
  };
  return budgets[level] ?? most;
}

function encodeTool({ name, description, parameters }: ToolDefinition): FunctionDeclaration {
  return { name, description, parametersJsonSchema: encodeSchema(parameters) };
}

const schemaMaps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const schemaValues: ReadonlySet<string> = new Set([
  ...["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"],
  ...["anyOf", "oneOf", "allOf", "prefixItems"],
]);

/** Drops `$schema` and turns `const` into `enum`, but only where they are keywords, not property names. */
function encodeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(encodeSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (keyword === "$schema") return [];
      if (keyword === "const") return [["enum", [value]]];
      if (schemaValues.has(keyword)) return [[keyword, encodeSchema(value)]];
      if (!schemaMaps.has(keyword) || typeof value !== "object" || value === null) {
        return [[keyword, value]];
      }
      const named = Object.entries(value).map(([name, member]) => [name, encodeSchema(member)]);
      return [[keyword, Object.fromEntries(named)]];
    }),
  );
}
