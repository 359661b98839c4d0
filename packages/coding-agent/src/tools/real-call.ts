import type { AgentTool, ResolveToolCall } from "@tau-agent/agent";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { type ToolAliases, toolAliases } from "./aliases.ts";

/** Namespaces that models put in front of a tool's name. */
const namespace = /^(?:functions|tools|default_api)[.:]/;

/**
 * Translates calls that use the names and arguments of other hosts' tools.
 *
 * @param loaded - every tool of the session, active or not: their names are never aliases.
 */
export function createCallResolver(loaded: () => readonly AgentTool[]): ResolveToolCall {
  return (call, active) => {
    const isCalled = ({ name }: AgentTool) => name === call.name;
    const tool = active.find(isCalled) ?? toolMeant(call.name, active, loaded());
    if (tool === undefined) return call;
    const args =
      call.argumentsError === undefined ? realArguments(call.arguments, tool) : call.arguments;
    if (tool.name === call.name && args === call.arguments) return call;
    return { ...call, name: tool.name, arguments: args };
  };
}

/** The active tool that another name refers to, if it is exactly one; never for a name that a tool has. */
function toolMeant(
  name: string,
  active: readonly AgentTool[],
  loaded: readonly AgentTool[],
): AgentTool | undefined {
  if (loaded.some((tool) => tool.name === name)) return undefined;
  const wanted = plain(name.replace(namespace, ""));
  const spelled = active.filter((tool) => plain(tool.name) === wanted);
  if (spelled.length > 0) return spelled.length === 1 ? spelled[0] : undefined;
  return active.find((tool) => aliasesOf(tool)?.names.some((alias) => plain(alias) === wanted));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

function aliasesOf({ name }: AgentTool): ToolAliases | undefined {
  return Object.hasOwn(toolAliases, name) ? toolAliases[name] : undefined;
}

function realArguments(args: Record<string, unknown>, tool: AgentTool): Record<string, unknown> {
  const aliases = aliasesOf(tool)?.arguments;
  return aliases === undefined ? args : renamed(args, tool.parameters, aliases);
}

/** Returns the same object if nothing was renamed. */
function renamed(
  args: Record<string, unknown>,
  schema: unknown,
  aliases: ToolAliases["arguments"],
): Record<string, unknown> {
  const properties =
    isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  if (!Object.entries(args).some(([key, value]) => mayBeRenamed(key, value, aliases))) return args;
  const result: Record<string, unknown> = {};
  let hasChanged = false;
  for (const [key, value] of Object.entries(args)) {
    const [real, convert] = realName(key, properties, aliases);
    // The real argument wins over aliases; of several aliases, the first wins.
    if (real !== key && (isGiven(args[real]) || isGiven(result[real]))) {
      hasChanged = true;
      continue;
    }
    const member = renamedItems(convert(value), properties[real], aliases);
    hasChanged ||= real !== key || member !== value;
    // A plain assignment to `__proto__` would set the prototype instead of a member.
    Object.defineProperty(result, real, {
      value: member,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return hasChanged ? result : args;
}

/** False for almost all arguments. */
function mayBeRenamed(key: string, value: unknown, aliases: ToolAliases["arguments"]): boolean {
  return Object.hasOwn(aliases, key) || Array.isArray(value);
}

function realName(
  key: string,
  properties: Record<string, unknown>,
  aliases: ToolAliases["arguments"],
): readonly [string, (value: unknown) => unknown] {
  const same = (value: unknown): unknown => value;
  const alias = Object.hasOwn(aliases, key) ? aliases[key] : undefined;
  if (alias === undefined || Object.hasOwn(properties, key)) return [key, same];
  const [real, convert] = typeof alias === "string" ? [alias, same] : alias;
  return Object.hasOwn(properties, real) ? [real, convert] : [key, same];
}

function renamedItems(value: unknown, schema: unknown, aliases: ToolAliases["arguments"]): unknown {
  if (!Array.isArray(value) || !isJsonObject(schema)) return value;
  const items = value.map((item: unknown) =>
    isJsonObject(item) ? renamed(item, schema.items, aliases) : item,
  );
  return items.every((item, index) => item === value[index]) ? value : items;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
