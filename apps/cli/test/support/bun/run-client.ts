/**
 * Runs a package's client under bun. Each line of stdin is a call; stdout reports its result and what the
 * client's listeners and tools receive.
 */
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

interface ToolContext {
  readonly signal: AbortSignal;
  sendUpdate(text: string): void;
}

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const [file = "", options = ""] = process.argv.slice(2);
const { RpcClient } = await import(file);
const client = new RpcClient(JSON.parse(options));
say({ methods: Object.getOwnPropertyNames(RpcClient.prototype) });

/** Values that JSON cannot express: listeners, and the functions of tools. */
function withFunctions(method: string, parameters: readonly unknown[]): readonly unknown[] {
  if (method.startsWith("on")) return [(event: unknown) => say({ listener: method, event })];
  if (method === "login") return [...parameters, { onOpenUrl }];
  if (method !== "setCustomTools") return parameters;
  return [(parameters[0] as object[]).map((tool) => ({ ...tool, execute }))];
}

function onOpenUrl(url: string, instructions: string) {
  say({ listener: "onOpenUrl", event: { url, instructions } });
}

async function execute(input: { wait?: boolean }, { signal, sendUpdate }: ToolContext) {
  sendUpdate("half of it");
  if (input.wait !== true) return `got ${JSON.stringify(input)}`;
  await setTimeout(60_000, undefined, { signal }).catch(() => {});
  say({ listener: "cancelled", event: input });
  return "cancelled";
}

async function take({ id, method, parameters }: Call): Promise<void> {
  try {
    const value = await client[method](...withFunctions(method, parameters));
    say({ id, value: typeof value === "function" ? undefined : value });
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    say({ id, error: { message, code } });
  }
}

for await (const line of createInterface({ input: process.stdin })) void take(JSON.parse(line));
await client.stop();
process.exit();
