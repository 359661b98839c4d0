import type { ScenarioRequest } from "@tau-agent/ai/testing";

/** A tool call of the conversation with its result. */
export interface DoneCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A test that failed, as Node's test runner prints it. */
export interface Failure {
  readonly title: string;
  readonly file: string;
  readonly line: number;
  readonly actual: string | undefined;
  readonly expected: string | undefined;
}

/** One run of the tests. */
export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

/** What a host writes for a call that ended with another host. */
const isLost = (text: string) => text.startsWith("No result provided");

/** Every call that has a result, in order. */
export function doneCalls({ messages }: ScenarioRequest): DoneCall[] {
  const texts = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const text = message.content.map((block) => (block.type === "text" ? block.text : ""));
    texts.set(message.toolCallId, text.join("\n"));
  }
  const done: DoneCall[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      const text = block.type === "toolCall" ? texts.get(block.id) : undefined;
      if (block.type !== "toolCall" || text === undefined || isLost(text)) continue;
      done.push({ name: block.name, args: block.arguments, text });
    }
  }
  return done;
}

/** Reads the output of `node --test --test-reporter=spec`; undefined for other output. */
export function parseTestRun(output: string): TestRun | undefined {
  const passed = /^ℹ pass (\d+)$/m.exec(output)?.[1];
  const failed = /^ℹ fail (\d+)$/m.exec(output)?.[1];
  if (passed === undefined || failed === undefined) return undefined;
  const details = output.split(/^test at /m).slice(1);
  const failures = details.map(parseFailure).filter((failure) => failure !== undefined);
  return { passed: Number(passed), failed: Number(failed), failures };
}

function parseFailure(detail: string): Failure | undefined {
  const place = /^(.+?):(\d+):\d+\n✖ (.*?)(?: \([\d.]+ms\))?\n/.exec(detail);
  const [, file, declaredAt, title] = place ?? [];
  if (file === undefined || title === undefined) return undefined;
  // The stack names the assertion; the heading names only the test.
  const stack = [...detail.matchAll(/^\s+at .*?([^\s(]+):(\d+):\d+\)?$/gm)];
  const assertion = stack.find(([, path]) => path?.endsWith(file));
  return {
    title,
    file,
    line: Number(assertion?.[2] ?? declaredAt),
    actual: /^\s+actual: (.*?),?$/m.exec(detail)?.[1],
    expected: /^\s+expected: (.*?),?$/m.exec(detail)?.[1],
  };
}
